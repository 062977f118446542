"""Split data into what a model is trained on and what it has to predict.

The users and items of a part are in ascending order of id; pairs keep their labels, weights and times.
"""

from .given import given, given_leave_one_out
from .parts import HeldOut, Split
from .strong import strong
from .weak import last_days, last_item, last_share, leave_one_out, random

__all__ = [
    "HeldOut",
    "Split",
    "given",
    "given_leave_one_out",
    "last_days",
    "last_item",
    "last_share",
    "leave_one_out",
    "random",
    "strong",
]
