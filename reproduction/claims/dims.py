"""Which of the measured d a claim is about."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from .thresholds import AROUND_100, AROUND_1000, LARGE, SMALL, VERY_LARGE


@dataclass(frozen=True, slots=True)
class Dims:
    """A range of d; a claim about it can only hold if `enough` of them were measured."""

    words: str
    low: float = 0
    high: float = float("inf")
    enough: Callable[[Collection[int]], bool] = bool
    nearest_to: int | None = None  # only the one nearest to this d

    def among(self, measured: Iterable[int]) -> list[int]:
        """Choose from what was measured, in the same order."""
        own = [dim for dim in measured if self.low <= dim <= self.high]
        wanted = self.nearest_to
        return own if wanted is None else sorted(own, key=lambda dim: abs(dim - wanted))[:1]


def is_small(dim: int) -> bool:
    return dim < SMALL


def is_large(dim: int) -> bool:
    return dim >= LARGE


def reaches_large(dims: Collection[int]) -> bool:
    return any(map(is_large, dims))


def spans(dims: Collection[int]) -> bool:
    """Tell whether both small and large d are among them."""
    return any(map(is_small, dims)) and reaches_large(dims)


def around(dim: int, low: int, high: int) -> Dims:
    """Choose the d nearest to `dim` from `low` to `high`."""
    return Dims(f"at a d from {low} to {high}", low, high, nearest_to=dim)


def at(dim: int) -> Dims:
    return Dims(f"at d = {dim}", dim, dim)


ANY = Dims("at one d")
TWO_OR_MORE = Dims("at two d or more", enough=lambda dims: len(dims) > 1)
ALL = Dims(f"at a d below {SMALL} and one of at least {LARGE}", enough=spans)
AT_SMALL = Dims(f"at a d below {SMALL}", high=SMALL - 1)
AT_LARGEST = Dims(f"at a d of at least {LARGE}", LARGE, nearest_to=2**30)
AT_VERY_LARGE = Dims(f"at a d of at least {VERY_LARGE}", VERY_LARGE)
NEAR_100, NEAR_1000 = around(100, *AROUND_100), around(1000, *AROUND_1000)
ABOVE_100 = Dims(f"at a d above {AROUND_100[1]}", AROUND_100[1] + 1)
ABOVE_100_TO_LARGE = Dims(f"at a d of at least {LARGE}", AROUND_100[1] + 1, enough=reaches_large)
