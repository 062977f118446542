"""What a worker does in a fit: it has the prepared data open, and does jobs on pieces of it.

It remembers nothing but rows that it has read. Factors come with the job and go back to the driver, so
that any other worker can do the job as well, with the same bits.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.csr import Csr, RowNumbers
from ..solvers import sides
from ..solvers.half import HalfCopies, round_to_halves
from ..solvers.shards import Bounds, bounds_of
from ..solvers.sides import LocalSide, absolute_row_sums
from .copies import DataFile
from .fetching import NeededRows, Store, whole_side
from .jobs import RESULTS, Doing, Fixed, Job, Piece, Report, ResultName
from .needs import Fetch
from .tables import Memory, Results


@dataclass(frozen=True, slots=True, eq=False)
class PieceRows:
    """The interactions of a piece, for native calls."""

    rows: Any
    bounds: Bounds
    needed: RowNumbers | None  # the rows of the other side that columns are numbers of; None: all of them

    @classmethod
    def of(cls, rows: Csr, bounds: Bounds, fetch: Fetch) -> PieceRows:
        """Hand rows over to the compiled core. A row's columns stay in order, and so do its sums."""
        if fetch == "side":
            return cls(rows.native(bounds), bounds, None)
        needed, columns = np.unique(rows.columns, return_inverse=True)
        if len(needed) == 0:  # a native call takes no table without rows
            needed = np.zeros(1, dtype=np.int32)
        compact = replace(rows, columns=columns.astype(np.int32), n_columns=len(needed))
        return cls(compact.native(bounds), bounds, needed)

    @property
    def required(self) -> RowNumbers:
        """The rows of the other side to fetch."""
        assert self.needed is not None
        return self.needed


class Trainer:
    """A worker's part in one fit."""

    def __init__(self, file: DataFile, threads: int, fetch: Fetch) -> None:
        """Open the data."""
        self._data = file.opened()
        self._threads = threads
        self._fetch = fetch
        self._bounds: dict[str, Bounds] = {}
        self._rows: dict[Piece, PieceRows] = {}
        self._halves = HalfCopies()
        self._memory = Memory()
        self._results: dict[ResultName, Memory] = {name: Memory() for name in RESULTS}
        self._begun, self._doing = 0.0, Doing(0, 0)

    def tell(self) -> Doing:
        """Say how far the jobs are, to another thread."""
        return replace(self._doing, seconds=time.perf_counter() - self._begun)

    def work(self, jobs: Sequence[Job], arguments: dict[str, Any], fixed: Fixed | None) -> list[Any]:
        """Do jobs; return their arrays, joined, and then the list of their reports."""
        store = Store()
        self._begun, self._doing = time.perf_counter(), Doing(0, len(jobs))
        results, reports = Results(self._results, jobs), []
        for job, (held, received) in zip(jobs, self._held(jobs, fixed, store), strict=True):
            given = store.get(job.factors), store.get(job.weights), arguments.get(job.piece.side, ())
            report = self._do(job, *given, held, results)
            before, self._doing = self._doing, self._after(job)
            seconds = self._doing.seconds - before.seconds
            reports.append(replace(report, received=received, seconds=seconds))
        return [*results.arrays, reports]

    def _after(self, job: Job) -> Doing:
        """Say how far the jobs are after one more."""
        rows = self._doing.rows + job.rows
        seconds = time.perf_counter() - self._begun
        return Doing(self._doing.pieces + 1, self._doing.of, rows, seconds)

    def _held(
        self, jobs: Sequence[Job], fixed: Fixed | None, store: Store
    ) -> Iterator[tuple[sides.Fixed | None, int]]:
        """Return what each job reads of the side that is held fixed, and the bytes fetched for it alone."""
        if fixed is None:
            yield from ((None, 0) for _ in jobs)
        elif self._fetch == "side":
            held = sides.Fixed(whole_side(fixed, self._memory, store), fixed.unit)
            yield from ((held, 0) for _ in jobs)
        else:
            rows, before = NeededRows(fixed, self._memory), 0
            for table in rows.of([self._rows_of(job.piece).required for job in jobs]):
                yield sides.Fixed(table, fixed.unit), rows.received - before
                before = rows.received

    def _do(
        self,
        job: Job,
        factors: Any,
        weights: Any,
        arguments: tuple[Any, ...],
        held: sides.Fixed | None,
        results: Results,
    ) -> Report:
        """Do one job. What it returns is added to the results; the rest is in the report."""
        if job.operation == "keep":
            results.add(job, factors)
            return Report()
        piece = self._rows_of(job.piece)
        if job.operation == "absolute":
            return Report(absolute_row_sums(piece.rows, self._threads))
        ids = self._data.users if job.piece.side == "user" else self._data.items
        side = LocalSide(ids, piece.rows, piece.bounds, factors, weights, self._halves, self._threads)
        if job.operation in SUMS:
            return Report(SUMS[job.operation](side))
        if job.operation == "half":
            (unit,) = arguments
            return Report(fits=self._halve(job, side, unit, results))
        side.factors = results.add(job, factors)  # what is in the object store cannot be changed
        if job.operation == "fix":
            q, unit, in_place = arguments
            if q is not None:
                side.transform(q)
            fits = None if unit is None else self._halve(job, side, unit, results)
            if unit is not None and in_place:
                fits = round_to_halves(side.factors, unit, self._threads) and fits
            return Report(penalties=side.summed_penalties(), fits=fits)
        return _change(side, job, arguments, held, piece.needed)

    def _halve(self, job: Job, side: LocalSide, unit: float, results: Results) -> bool:
        """Add a copy in half precision to the results, if half precision has room for it."""
        copy = self._halves.copy(side.factors, unit, self._threads)
        if copy is not None:
            results.add_half(job, copy)
        return copy is not None

    def _rows_of(self, piece: Piece) -> PieceRows:
        """Return the rows of a piece, which are read from the file when they are first used."""
        if piece not in self._rows:
            bounds = self._bounds_of(piece)[piece.node[0] : piece.node[1] + 1] - piece.begin
            rows = self._side(piece).between(piece.begin, piece.end)
            self._rows[piece] = PieceRows.of(rows, bounds, self._fetch)
        return self._rows[piece]

    def _bounds_of(self, piece: Piece) -> Bounds:
        if piece.side not in self._bounds:
            self._bounds[piece.side] = bounds_of(self._side(piece).offsets)
        return self._bounds[piece.side]

    def _side(self, piece: Piece) -> Csr:
        return self._data.by_user if piece.side == "user" else self._data.by_item


SUMS = {
    "gramian": LocalSide.summed_gramian,
    "penalties": LocalSide.summed_penalties,
    "squares": LocalSide.summed_squares,
}


def _change(
    side: LocalSide,
    job: Job,
    arguments: tuple[Any, ...],
    held: sides.Fixed | None,
    needed: RowNumbers | None,
) -> Report:
    """Change the factors of a piece in place."""
    if job.operation == "transform":
        side.transform(*arguments)
        return Report()
    assert held is not None
    if job.operation == "multiply":
        (scales,) = arguments
        side.multiply(held, scales if needed is None else scales[needed])
        return Report()
    turn, call, *rest = arguments
    if turn is not None:
        side.transform(turn)
    observed, failed_row = side.run(call, held, *rest)
    if failed_row >= 0:
        return Report(failed_row=job.piece.begin + failed_row)
    return Report(observed, side.summed_gramian(), side.summed_penalties())
