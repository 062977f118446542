"""The settings to search in: ranges, which are widened at their edges, and choices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .settings import Settings

EDGE = 0.1  # share of a range: a best value this near to an end says that better ones may lie beyond
GOLDEN = 1.618033988749895


@dataclass(frozen=True, slots=True)
class Range:
    """The values of one setting, on a log or a linear scale, and how far the range may be widened."""

    low: float
    high: float
    least: float
    most: float
    log: bool = True

    def share(self, value: float) -> float:
        """Return how far a value is from the low end (0) to the high one (1)."""
        low, high, at = (self._scaled(x) for x in (self.low, self.high, value))
        return (at - low) / (high - low)

    def at(self, share: float) -> float:
        """Return the value at a share of the way from the low to the high end."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        return self._limited(self._value(low + share * (high - low)))

    def at_each(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values at some shares."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        scaled = low + shares * (high - low)
        return np.clip(np.exp(scaled) if self.log else scaled, self.least, self.most)

    def holding(self, *values: float) -> Range:
        """Widen the range, beyond its limits if need be, so that it holds some values."""
        return replace(self, low=min(self.low, *values), high=max(self.high, *values))

    def widened(self, value: float) -> Range:
        """Widen the range until the value is not at an edge, as far as the limits allow."""
        wider = self
        while wider.low > wider.least and wider.share(value) < EDGE:
            wider = replace(wider, low=wider.at(-0.5))
        while wider.high < wider.most and wider.share(value) > 1 - EDGE:
            wider = replace(wider, high=wider.at(1.5))
        return wider

    def around(self, value: float, factor: float) -> Range:
        """Return the range within a factor of the value; on a linear scale, a quarter of it to each side."""
        width = math.log(factor) if self.log else (self.high - self.low) / 4
        centre = self._scaled(value)
        low, high = (self._limited(self._value(centre + sign * width)) for sign in (-1, 1))
        return replace(self, low=low, high=high)

    def _scaled(self, value: float) -> float:
        return math.log(value) if self.log else value

    def _value(self, scaled: float) -> float:
        return math.exp(scaled) if self.log else scaled

    def _limited(self, value: float) -> float:
        return min(max(value, self.least), self.most)


@dataclass(frozen=True, slots=True)
class Space:
    """Ranges and choices by the names of settings."""

    ranges: dict[str, Range]
    choices: dict[str, tuple[str, ...]]

    def widened(self, best: Settings) -> Space:
        """Widen each range in which the best settings lie at an edge."""
        ranges = {name: part.widened(getattr(best, name)) for name, part in self.ranges.items()}
        return replace(self, ranges=ranges)

    def around(self, best: Settings, factor: float) -> Space:
        """Keep what is near the best settings, and their choices."""
        ranges = {name: part.around(getattr(best, name), factor) for name, part in self.ranges.items()}
        return Space(ranges, {name: (getattr(best, name),) for name in self.choices})

    def opened(self, whole: Space, names: Sequence[str]) -> Space:
        """Take the ranges of these names from another space."""
        return replace(self, ranges={**self.ranges, **{name: whole.ranges[name] for name in names}})

    def spread(self, number: int, shift: float) -> dict[str, Any]:
        """Return the point of this number in a sequence that fills the space evenly, each choice in turn."""
        ratio = _ratio(len(self.ranges))
        values = {
            name: rounded(part.at((shift + number * ratio ** -(place + 1)) % 1))
            for place, (name, part) in enumerate(self.ranges.items())
        }
        return {**values, **{name: words[number % len(words)] for name, words in self.choices.items()}}


def _ratio(dimensions: int) -> float:
    """Solve x^(n + 1) = x + 1, which spreads points evenly (M. Roberts' sequence R_n)."""
    x = GOLDEN
    for _ in range(64):
        x = (1 + x) ** (1 / (dimensions + 1))
    return x


def rounded(value: float) -> float:
    """Round to three digits: the fourth makes no difference, and people read these numbers."""
    return float(f"{value:.3g}")


def space_of(*, exponent: bool, weights: tuple[str, ...], popularity: bool) -> Space:
    """Make the space of a search.

    Parameters
    ----------
    exponent
        Whether to search nu, too.
    weights
        The kinds of weighting to choose from; none: weights stay as they are.
    popularity
        Whether to search the powers of popularity by which weights are divided.
    """
    ranges = {  # what Rendle et al. (2022) search
        "unobserved_weight": Range(0.003, 1.0, 1e-6, 100.0),
        "regularization": Range(0.0003, 0.1, 1e-7, 10.0),
    }
    if exponent:
        ranges["exponent"] = Range(0.25, 1.0, 0.0, 1.5, log=False)
    if popularity:
        ranges |= {name: Range(0.0, 0.5, -0.5, 1.0, log=False) for name in ("item_power", "user_power")}
    return Space(ranges, {"weights": weights} if weights else {})
