"""Untrusted text for a terminal."""

from __future__ import annotations

JOINERS = "\u200c\u200d"  # between letters of Persian and Hindi and the parts of emoji; they move no cursor


def printable(text: str) -> str:
    """Escape control characters in untrusted text, such as line breaks and what moves the cursor."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in JOINERS else c.encode("unicode_escape").decode() for c in text
    )
