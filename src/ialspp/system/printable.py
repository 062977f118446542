"""Text of anyone's for places that can hold a line of it."""

from __future__ import annotations


def printable(text: str) -> str:
    """Text without line breaks and what else would move a terminal's cursor: those are shown escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
