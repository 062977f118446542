"""Numbers: train with hostile numbers, over all solvers, relaxations and starts, and query the models.

Allowed is a finite model whose loss never rises beyond rounding (torture/rounding.py) and is what the
history says, or an `IalsppError`. Anything else is a fault: a numpy warning, another error, NaN in an answer,
a crash, a try without an end.
"""

from __future__ import annotations

from pathlib import Path

from torture.children import in_children
from torture.tally import Tally

FULL = 10_000


def attack(tries: int, seed: int, folder: Path) -> Tally:  # noqa: ARG001  # nothing is written
    """Train this many models and query them."""
    return in_children("torture.numbers", tries, seed)
