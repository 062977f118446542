"""Small data with ids of every kind: what sound files are made of, and what they are asked about."""

from __future__ import annotations

from typing import Any

from ialspp import Interactions

IDS: dict[str, list[Any]] = {
    "strings": ["z", "", "a\0", "😀", "é", "b\ud800"],
    "ascending": ["a", "ab", "b", "c", "d", "e"],
    "int64": [5, 3, -4, 1, 2, 2**63 - 1],
    "uint64": [2**64 - 1, 7, 2**63, 9, 1, 0],
    "digits": [10**30, -(10**30), 2**64, 1, 2, 3],
}
NAMES = [
    "",
    "Heat (1995)",
    "Amélie 😀",
    "two\nlines",
    "שלום",
    "\x1b[31m\u202e",
]  # of users and items with these ids
NAMED = ("strings", "int64", "digits")
USERS, ITEMS = [0, 0, 0, 1, 1, 2, 3, 3, 4], [0, 2, 5, 1, 2, 3, 0, 4, 1]
NUMBERS = [1.0, 2.0, 0.5, 3.0, 1.0, 0.0, 4.0, 1.0, 2.0]


def data_of(kind: str, *, labels: bool = False, weights: bool = False) -> Interactions:
    """Make six users and six items with ids of one kind, some of which have names."""
    ids = IDS[kind]
    data = Interactions.from_arrays(
        user=[ids[row] for row in USERS],
        item=[ids[row] for row in ITEMS],
        label=NUMBERS if labels else None,
        weight=NUMBERS[::-1] if weights else None,
        users=ids,
        items=ids,
    )
    return data.with_names(items=NAMES, users=NAMES[::-1]) if kind in NAMED else data
