"""Which of the measured d a claim is about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from .thresholds import AROUND_100, AROUND_1000, LARGE, SMALL, VERY_LARGE


def _always(_: int) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Dims:
    """A choice of d, in words too; a claim about them can only hold if `enough` of them were measured."""

    words: str
    includes: Callable[[int], bool] = _always
    enough: Callable[[Collection[int]], bool] = bool
    nearest_to: int | None = None  # only the one nearest to this d

    def among(self, measured: Iterable[int]) -> list[int]:
        """Choose from what was measured, in the same order."""
        own = [dim for dim in measured if self.includes(dim)]
        wanted = self.nearest_to
        return own if wanted is None else sorted(own, key=lambda dim: abs(dim - wanted))[:1]


def is_small(dim: int) -> bool:
    """Tell whether the paper would call d small."""
    return dim < SMALL


def is_large(dim: int) -> bool:
    """Tell whether the paper would call d large."""
    return dim >= LARGE


def reaches_large(dims: Collection[int]) -> bool:
    """Tell whether a large d is among them."""
    return any(map(is_large, dims))


def spans(dims: Collection[int]) -> bool:
    """Tell whether both small and large d are among them."""
    return any(map(is_small, dims)) and reaches_large(dims)


def around(dim: int, low: int, high: int) -> Dims:
    """Choose the d nearest to `dim` from `low` to `high`."""
    return Dims(f"at a d from {low} to {high}", lambda d: low <= d <= high, nearest_to=dim)


def at(*dims: int) -> Dims:
    """Choose these d, all of which are needed."""
    words = f"at d = {' and '.join(map(str, dims))}"
    return Dims(words, dims.__contains__, lambda found: len(found) == len(dims))


def _above_100(dim: int) -> bool:
    return dim > AROUND_100[1]


ANY = Dims("at one d")
TWO_OR_MORE = Dims("at two d or more", enough=lambda dims: len(dims) > 1)
ALL = Dims(f"at a d below {SMALL} and one of at least {LARGE}", enough=spans)
AT_SMALL = Dims(f"at a d below {SMALL}", is_small)
AT_LARGE = Dims(f"at a d of at least {LARGE}", enough=reaches_large)
AT_VERY_LARGE = Dims(f"at a d of at least {VERY_LARGE}", lambda dim: dim >= VERY_LARGE)
NEAR_100, NEAR_1000 = around(100, *AROUND_100), around(1000, *AROUND_1000)
ABOVE_100 = Dims(f"at a d above {AROUND_100[1]}", _above_100)
ABOVE_100_TO_LARGE = Dims(f"at a d of at least {LARGE}", _above_100, reaches_large)
