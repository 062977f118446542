"""The two sides of a problem, the users and the items: what solvers can do with a side, wherever it is.

A solver is written against `Side`. `LocalSide` has the rows and factors in memory. On a cluster a side is
spread over machines, each of which has a `LocalSide` of some of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.csr import Csr, Floats
from ..data.features import Features
from ..data.ids import IdMap
from ..data.interactions import Interactions
from ..data.regression import FeatureRegression
from ..errors import SolveError
from ..objective import penalties_of
from ..system.log import log
from .half import HalfCopies, halved_in_place
from .shards import Bounds, bounds_of

Sums = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """The side that is held fixed while the other one is updated, as native calls read it.

    In single precision, or as a copy in half precision: then each number is `unit` times the one in `table`.
    A table too large to be copied is in halves of its own memory while a call reads it (`in_place`).
    """

    table: Any
    unit: float | None = None
    in_place: bool = False

    @property
    def suffix(self) -> str:
        """What the names of native calls that read this precision end in."""
        return "" if self.unit is None else "_in_halves" if self.in_place else "_by_half"

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments of such a call."""
        return (self.table,) if self.unit is None else (self.table, self.unit)


class Side(Protocol):
    """The users or the items during training."""

    # Of the current factors, once they were computed
    gramian: Sums | None
    penalties: Sums | None

    @property
    def ids(self) -> IdMap:
        """Who the rows are."""
        ...

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and the dimension."""
        ...

    @property
    def factors(self) -> Floats:
        """All factors, in one array."""
        ...

    def summed_gramian(self) -> Sums:
        """Compute H'H of the factors H, in double precision."""
        ...

    def summed_penalties(self) -> Sums:
        """Compute the penalty on the factors, dimension by dimension: sum_u lambda_u w_uk^2."""
        ...

    def summed_squares(self) -> Sums:
        """Compute the sum of the squared factors, dimension by dimension."""
        ...

    def use_features(self, features: Features) -> None:
        """Centre the regularisation on what the features of a row say."""
        ...

    def recentre(self) -> None:
        """Move the centres to where the features and the factors put them; nothing without features.

        A solver calls this before it updates the coordinates of a side. The centre of a coordinate depends on
        that coordinate of the factors alone, so that once an epoch is enough.
        """
        ...

    @property
    def regression(self) -> FeatureRegression | None:
        """The regression on the features, if there are any."""
        ...

    def single(self) -> Fixed:
        """Return the factors to be held fixed."""
        ...

    def half(self, unit: float) -> Fixed | None:
        """Copy the factors to half precision; None where one is beyond the range. Lasts until the next."""
        ...

    def transform(self, q: Sums) -> None:
        """Multiply the factors by a square matrix: H = H Q."""
        ...

    def transform_with(self, p: Sums, other: Any, q: Sums, unit: float | None = None) -> Fixed:
        """Multiply the factors of this side by P and those of the other by Q, both or neither.

        Returns the other side to be held fixed: with a unit in half precision, if that has room for it.
        """
        ...

    def update(self, call: str, fixed: Fixed, *arguments: Any) -> float:
        """Update every row by a native call, and return the observed part of the loss that it computes."""
        ...

    def multiply(self, fixed: Fixed, column_scales: Floats) -> None:
        """Replace the factors by the interactions, a matrix scaled by row and column, times `fixed`."""
        ...


def check_rows(ids: IdMap, failed_row: int) -> None:
    """Raise an error if an update reports a row without a finite solution."""
    if failed_row >= 0:
        raise no_finite_solution(ids.name, ids[failed_row], failed_row)


def no_finite_solution(name: str, identity: Any, row: int) -> SolveError:
    """Make the error for a row that overflows: it names the row and the remedy."""
    return SolveError(
        f"no finite solution for {name} {identity!r} ({name} row {row}): its numbers overflow single "
        "precision; scale its weights or labels down, or raise regularization"
    )


def held_fixed(side: Side, unit: float | None) -> Fixed:
    """Return a side to be held fixed: with a unit in half precision, if that has room for it."""
    return side.single() if unit is None else side.half(unit) or single_instead(side)


def single_instead(side: Side) -> Fixed:
    """Return a side that exceeds half precision."""
    log("the vectors of %ss exceed half precision; they are read in single precision", side.ids.name)
    return side.single()


class Place(Protocol):
    """Where rows are updated: on this machine, or on a cluster."""

    def sides(
        self, data: Interactions, factors: tuple[Floats, Floats], weights: tuple[Floats, Floats]
    ) -> tuple[Side, Side]:
        """Put users and items there, with their factors, and a number a row: its lambda, or its scale."""
        ...

    def absolute_row_sums(self, data: Interactions) -> tuple[Sums, Sums]:
        """Compute sum |a y| over the interactions of each user and of each item."""
        ...

    def report_to(self, listener: Callable[[str], None]) -> None:
        """Tell a function in a few words, during an epoch, what is being done, if there is much to say."""
        ...


@dataclass(slots=True, eq=False)
class LocalSide:
    """A side whose rows and factors are in memory. Updates change `factors` in place."""

    ids: IdMap
    rows: _core.Rows
    shards: Bounds
    factors: Floats
    regularization: Floats  # of each row; its scale, where the rows are a matrix to `multiply`
    halves: HalfCopies
    threads: int
    regression: FeatureRegression | None = None
    centres: Floats | None = None  # that the regularisation pulls to; None: zero
    gramian: Sums | None = None
    penalties: Sums | None = None

    def use_features(self, features: Features) -> None:
        """Centre the regularisation on what the features of a row say."""
        self.regression = FeatureRegression.of(features, self.ids, self.regularization, self.threads)

    def recentre(self) -> None:
        """Move the centres to where the features and the factors put them."""
        if self.regression is not None:
            self.centres = self.regression.centres(self.factors, self.centres)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and the dimension."""
        return len(self.factors), int(self.factors.shape[1])

    def to_update(self) -> tuple[_core.Rows, Floats, Floats]:
        """Return the arguments of a native call that changes the factors, and forget what depends on them."""
        self.gramian = self.penalties = None
        return self.rows, self.factors, self.regularization

    def check(self, failed_row: int) -> None:
        """Raise an error if an update reports a row without a finite solution."""
        check_rows(self.ids, failed_row)

    def summed_gramian(self) -> Sums:
        """Compute H'H of the factors H, in double precision."""
        return self.gramian_columns(0, self.shape[1])

    def gramian_columns(self, begin: int, end: int) -> Sums:
        """Compute H' H[:, begin:end] of the factors H."""
        return _core.gramian(self.factors, begin, end, self.threads, self.shards)

    def summed_penalties(self) -> Sums:
        """Compute the penalty on the factors, dimension by dimension."""
        return penalties_of(self.factors, self.regularization, self.threads, self.regression, self.shards)

    def summed_squares(self) -> Sums:
        """Compute the sum of the squared factors, dimension by dimension."""
        ones = np.ones(len(self.factors), dtype=np.float32)
        return _core.weighted_column_squares(self.factors, ones, self.threads, self.shards)

    def single(self) -> Fixed:
        """Return the factors to be held fixed."""
        return Fixed(self.factors)

    def half(self, unit: float) -> Fixed | None:
        """Copy the factors to half precision; None where one is beyond the range. Lasts until the next."""
        if halved_in_place(*self.shape):
            self.penalties = None  # the last bits of the factors change
            return Fixed(self.factors, unit, in_place=True)
        numbers = self.halves.copy(self.factors, unit, self.threads)
        return None if numbers is None else Fixed(numbers, unit)

    def transform(self, q: Sums) -> None:
        """Multiply the factors by a square matrix."""
        _core.transform(self.to_update()[1], q, self.threads)

    def transform_with(self, p: Sums, other: LocalSide, q: Sums, unit: float | None = None) -> Fixed:
        """Multiply the factors of both sides, each by its matrix. No signal comes between the two."""
        _core.transform_both(self.to_update()[1], p, other.to_update()[1], q, self.threads)
        return held_fixed(other, unit)

    def update(self, call: str, fixed: Fixed, *arguments: Any) -> float:
        """Update every row by a native call, and return the observed part of the loss that it computes."""
        observed, failed_row = self.run(call, fixed, *arguments)
        self.check(failed_row)
        return float(observed)

    def multiply(self, fixed: Fixed, column_scales: Floats) -> None:
        """Replace the factors by the interactions times `fixed`."""
        self.run("multiply_rows", fixed, column_scales)

    def run(self, call: str, fixed: Fixed, *arguments: Any) -> Any:
        """Call a native function that changes every row, and return what it returns."""
        native = getattr(_core, call + fixed.suffix)
        centres = () if self.centres is None else (self.centres,)
        done = native(*self.to_update(), *fixed.arguments, *arguments, self.threads, *centres)
        if fixed.in_place and not done:  # this side is as it was, and the fixed one is rounded where it fits
            log("vectors exceed half precision; they are read in single precision")
            return self.run(call, Fixed(fixed.table), *arguments)
        return done


def absolute_row_sums(rows: _core.Rows, threads: int) -> Sums:
    """Compute sum |a y| over the interactions of each row."""
    return _core.absolute_row_sums(rows, threads)


class ThisMachine:
    """The memory and the threads of this process."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._known: tuple[Interactions, list[tuple[_core.Rows, Bounds]]] | None = None  # of the last data

    def sides(
        self, data: Interactions, factors: tuple[Floats, Floats], weights: tuple[Floats, Floats]
    ) -> tuple[LocalSide, LocalSide]:
        """Use the factors where they are: updates change them in place."""
        halves = HalfCopies()
        users, items = (
            LocalSide(ids, rows, bounds, vectors, numbers, halves, self._threads)
            for ids, (rows, bounds), vectors, numbers in zip(
                (data.users, data.items), self._rows(data), factors, weights, strict=True
            )
        )
        return users, items

    def absolute_row_sums(self, data: Interactions) -> tuple[Sums, Sums]:
        """Compute sum |a y| over the interactions of each user and of each item."""
        users, items = (absolute_row_sums(rows, self._threads) for rows, _ in self._rows(data))
        return users, items

    def report_to(self, listener: Callable[[str], None]) -> None:
        """Tell nothing: all threads do the same."""

    def _rows(self, data: Interactions) -> list[tuple[_core.Rows, Bounds]]:
        """Return the rows of both sides; handing them over takes a look at each pair, so it is done once."""
        if self._known is None or self._known[0] is not data:
            self._known = data, [local_rows(rows) for rows in (data.by_user, data.by_item)]
        return self._known[1]


def local_rows(rows: Csr) -> tuple[_core.Rows, Bounds]:
    """Cut rows into shards, and hand them over to the compiled core."""
    bounds = bounds_of(rows.offsets)
    return rows.native(bounds), bounds
