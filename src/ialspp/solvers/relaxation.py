"""Over-relaxation: every row goes on past the minimum that its solver found.

A row moves from x to x + relaxation (minimum - x). Along that line the loss is a parabola with its minimum at 1,
so the loss falls with any relaxation between 0 and 2. Alternating least squares is block Gauss-Seidel with two
blocks, and this is successive over-relaxation (SOR): a relaxation above 1 takes fewer epochs. docs/spectral.md
has the derivation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

from ..errors import InvalidValueError
from ..system.checks import checked_number

RAMP = (1.0, 1.2, 1.4)  # of the first epochs, where the loss is far from quadratic


class PastEpoch(Protocol):
    """What the choice of a relaxation needs to know of an epoch."""

    @property
    def loss(self) -> float:
        """The exact loss after the epoch."""
        ...

    @property
    def relaxation(self) -> float:
        """The relaxation of the epoch."""
        ...


def checked_relaxation(value: Any) -> float:
    """Return a relaxation as a float that lets the loss fall."""
    number = checked_number("relaxation", value)
    if not 0 < number < 2:
        raise InvalidValueError(f"relaxation must be > 0 and < 2, got {value}")
    return number


def next_relaxation(past: Sequence[PastEpoch]) -> float:
    """Choose the relaxation of the next epoch from the losses of those before."""
    return RAMP[min(len(past), len(RAMP) - 1)]
