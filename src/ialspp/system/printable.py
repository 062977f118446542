"""Untrusted text for a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """Escape control characters in untrusted text, such as line breaks and what moves the cursor."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
