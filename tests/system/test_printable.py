"""Untrusted text for a terminal and for pages."""

import pytest

from ialspp.system.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Amélie", "Amélie"),
        ("a\nb\x1b[2J", "a\\nb\\x1b[2J"),
        ("\u202eevil", "\\u202eevil"),  # turns the direction of what follows
        ("\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"),  # Persian
        ("\U0001f469\u200d\U0001f467", "\U0001f469\u200d\U0001f467"),  # one picture of two
    ],
)
def test_what_moves_the_cursor_is_escaped_and_what_joins_letters_is_not(text, shown):
    assert printable(text) == shown
