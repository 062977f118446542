"""Splits: what to train on, whom to ask about, and which answers are wanted.

Parts taken from data have their users and items in ascending order of id; labels, weights and times
stay with their pairs.
"""

from .given import given, given_leave_one_out
from .parts import HeldOut, Split
from .strong import strong
from .weak import last_days, last_item, leave_one_out, random

__all__ = [
    "HeldOut",
    "Split",
    "given",
    "given_leave_one_out",
    "last_days",
    "last_item",
    "leave_one_out",
    "random",
    "strong",
]
