"""A side that is spread over workers: solvers use it as they use one in memory, and get the same bits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.csr import Floats, aligned
from ..data.features import Features
from ..data.ids import IdMap
from ..errors import InvalidValueError
from ..solvers.half import halved_in_place
from ..solvers.sides import Fixed, Sums, check_rows, single_instead
from .jobs import Operation, Piece, added_up
from .mapping import Mapper
from .tasks import Done, Held, Task, arrays_of
from .traffic import Part


@dataclass(eq=False)
class RemoteSide:
    """The users or the items. Their factors are pieces in the object store."""

    ids: IdMap
    mapper: Mapper
    pieces: list[Piece]
    parts: list[Part]  # the factors of each piece
    weights: list[Part]
    gramian: Sums | None = None
    penalties: Sums | None = None
    _turn: Sums | None = None  # a matrix that the factors are still to be multiplied by
    _collected: Floats | None = None

    @classmethod
    def of(
        cls, ids: IdMap, mapper: Mapper, pieces: list[Piece], factors: Floats, weights: Floats
    ) -> RemoteSide:
        """Put factors and weights into the object store."""
        return cls(ids, mapper, pieces, mapper.spread(pieces, factors), mapper.put(pieces, weights))

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and the dimension."""
        return self.pieces[-1].end, int(self.parts[0].stored.array.shape[1])

    @property
    def factors(self) -> Floats:
        """All factors in a new array, made once until they change."""
        self._settle()
        if self._collected is None:
            whole = aligned(self.shape)
            np.concatenate([part.array for part in self.parts], out=whole)
            self._collected = whole
        return self._collected

    def summed_gramian(self) -> Sums:
        """Compute H'H of the factors H, in double precision."""
        return self._sum("gramian")

    def summed_penalties(self) -> Sums:
        """Compute the penalty on the factors, dimension by dimension."""
        return self._sum("penalties")

    def summed_squares(self) -> Sums:
        """Compute the sum of the squared factors, dimension by dimension."""
        return self._sum("squares")

    def _sum(self, operation: Operation) -> Sums:
        total: Sums = self._added_up(one.report.total for one in self._map(operation))
        return total

    regression = None  # features train on one machine only

    def use_features(self, features: Features) -> None:
        """Refuse features: their regression is not spread over workers."""
        raise InvalidValueError(
            f"features of {self.ids.name}s need a fit on one machine, got {features!r}; leave out cluster= "
            "(--ray), or the features"
        )

    def recentre(self) -> None:
        """Do nothing: without features the regularisation pulls to zero."""

    def single(self) -> Fixed:
        """Return the factors to be held fixed."""
        self._settle()
        return Fixed(Held(self.parts))

    def half(self, unit: float) -> Fixed | None:
        """Copy the factors to half precision, each piece where it is; None where one is beyond the range."""
        if not halved_in_place(*self.shape):
            return _halved(self._map("half", unit), unit)
        gramian = self.gramian
        done = self._fix(None, unit)
        self.gramian = gramian  # as on one machine
        return _halved(done, unit)

    def transform(self, q: Sums) -> None:
        """Multiply the factors by a square matrix."""
        self._replace(self._map("transform", q))

    def _settle(self) -> None:
        """Multiply the factors by the matrix that no update has used."""
        if self._turn is not None:
            turn, self._turn = self._turn, None
            self.transform(turn)

    def transform_with(self, p: Sums, other: RemoteSide, q: Sums, unit: float | None = None) -> Fixed:
        """Multiply the factors of the other side, and copy it, in one step; an update multiplies this one."""
        self._settle()
        done = other._fix(q, unit)
        self._turn, self.gramian, self.penalties = p, None, None
        return other.single() if unit is None else _halved(done, unit) or single_instead(other)

    def _fix(self, q: Sums | None, unit: float | None) -> list[Done]:
        """Get the factors ready to be held fixed: multiplied by a matrix, and copied to half precision.

        On one machine, factors too large to be copied lose their last bit. So they do here.
        """
        done = self._map("fix", q, unit, halved_in_place(*self.shape))
        self._replace(done)
        self.penalties = self._added_up(one.report.penalties for one in done)
        return done

    def update(self, call: str, fixed: Fixed, *arguments: Any) -> float:
        """Update every row by a native call, and return the observed part of the loss that it computes."""
        tasks = self._tasks("update")
        done = self.mapper.map(tasks, {self.ids.name: (self._turn, call, *arguments)}, fixed.table)
        reports = [one.report for one in done]
        check_rows(self.ids, next((one.failed_row for one in reports if one.failed_row >= 0), -1))
        self._replace(done)
        self.gramian = self._added_up(report.gramian for report in reports)
        self.penalties = self._added_up(report.penalties for report in reports)
        return float(self._added_up(report.total for report in reports))

    def multiply(self, fixed: Fixed, column_scales: Floats) -> None:
        """Replace the factors by the interactions times `fixed`."""
        self._replace(self._map("multiply", column_scales, held=fixed.table))

    def _map(self, operation: Operation, *arguments: Any, held: Held | None = None) -> list[Done]:
        self._settle()
        return self.mapper.map(self._tasks(operation), {self.ids.name: arguments}, held)

    def _tasks(self, operation: Operation) -> list[Task]:
        """Make a task for each piece."""
        return [
            Task(piece, operation, factors, weights)
            for piece, factors, weights in zip(self.pieces, self.parts, self.weights, strict=True)
        ]

    def _replace(self, done: list[Done]) -> None:
        self.parts = arrays_of(done)
        self.gramian = self.penalties = self._turn = self._collected = None

    def _added_up(self, totals: Iterable[Any]) -> Any:
        """Add up a sum of each piece, in the order in which one machine adds up its shards."""
        by_node = {piece.node: total for piece, total in zip(self.pieces, totals, strict=True)}
        return added_up(by_node, (0, self.pieces[-1].node[1]))


def _halved(done: list[Done], unit: float) -> Fixed | None:
    """Return copies in half precision to be held fixed, if there is one of every piece."""
    if not all(one.report.fits for one in done):
        return None
    return Fixed(Held([one.half for one in done if one.half is not None], unit), unit)
