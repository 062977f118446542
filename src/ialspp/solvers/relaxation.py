"""Over-relaxation: every row goes on past the minimum that its solver found.

A row moves from x to x + relaxation (minimum - x). Along that line the loss is a parabola with its minimum
at 1, so the loss falls with any relaxation between 0 and 2. Alternating least squares is block Gauss-Seidel
with two blocks, and this is successive over-relaxation (SOR): a relaxation above 1 takes fewer epochs.
docs/spectral.md has the derivation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

from ..errors import InvalidValueError
from ..system.checks import checked_number

RAMP = (1.1, 1.3, 1.5)  # of the first epochs, where the loss is far from quadratic
LARGEST = 1.8  # of what "auto" chooses
LARGEST_RISE = 0.05  # from one epoch to the next: an estimate may be far off


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
    """Choose the relaxation of the next epoch: a ramp, then what suits the rate at which the loss falls."""
    if len(past) < len(RAMP):
        return RAMP[len(past)]
    before = past[-1].relaxation
    return max(before, min(best_relaxation(past), before + LARGEST_RISE, LARGEST))


def best_relaxation(past: Sequence[PastEpoch]) -> float:
    """Estimate the best relaxation from the last three losses, or return the last one where they do not tell.

    Let rho be the factor by which the error shrinks in an epoch with relaxation 1. With relaxation w it is s,
    where (s + w - 1)^2 = s w^2 rho, and s is smallest at w = 2 / (1 + sqrt(1 - rho)). The loss is quadratic
    in the error, so s^2 is the ratio of two falls of the loss. No rho makes s less than w - 1.
    """
    w = past[-1].relaxation
    first, second, third = (epoch.loss for epoch in past[-3:])
    if not first > second > third:
        return w
    s = math.sqrt(min((second - third) / (first - second), 1.0))
    if s <= max(w - 1, 0):
        return w
    rho = min((s + w - 1) ** 2 / (s * w**2), 1.0)
    return 2 / (1 + math.sqrt(1 - rho))
