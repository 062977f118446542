"""A worker: it has the prepared data open, and does jobs on pieces of it with all threads of its share.

A worker remembers nothing but rows that it has read. Factors come with the job and go back to the driver, so
that any other worker can do the job as well, with the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, aligned
from ..data.interactions import Interactions
from ..errors import InvalidStateError
from ..solvers import sides
from ..solvers.half import HalfCopies
from ..solvers.shards import Bounds, bounds_of
from ..solvers.sides import LocalSide, absolute_row_sums
from ..system.machine import select_isa
from .jobs import SIDES, Fixed, Job, Piece, Report
from .traffic import Slice

Done = tuple[NDArray[Any] | None, Report]
"""What a job returns: an array that stays in the object store, and a report that goes to the driver."""


class Worker:
    """What the process of a worker runs: an actor of Ray's."""

    def __init__(self, path: str, checksum: str, isa: str, threads: int) -> None:
        """Open the data. Its file must be the driver's, and the kernels must be the same: so are the bits."""
        select_isa(isa, f"the driver trains with {isa}")
        self._data = Interactions.open(path, verify=False)
        if self._data.file is None or self._data.file.checksum != checksum:
            raise InvalidStateError(f"{path} on this machine is another file than on the driver's")
        self._threads = threads
        self._bounds: dict[str, Bounds] = {}
        self._rows: dict[Piece, tuple[Any, Bounds]] = {}
        self._halves = HalfCopies()
        self._memory = aligned((0,))

    def ready(self) -> None:
        """Return once the data is open."""

    def work(self, jobs: Sequence[Job], arguments: dict[str, Any], fixed: Fixed | None) -> list[Any]:
        """Do jobs; return their arrays, joined for each side, and then the list of their reports."""
        store = Store()
        held = None
        if fixed is not None:
            held = sides.Fixed(self._joined([store.get(slice) for slice in fixed.slices]), fixed.unit)
        arrays: dict[str, list[NDArray[Any]]] = {side: [] for side in SIDES}
        reports = []
        for job in jobs:
            given = store.get(job.factors), store.get(job.weights), arguments.get(job.piece.side, ())
            array, report = self._do(job, *given, held)
            reports.append(report)
            if array is not None:
                arrays[job.piece.side].append(array)
        return [*(np.concatenate(some) if some else None for some in arrays.values()), reports]

    def _do(
        self, job: Job, factors: Any, weights: Any, arguments: tuple[Any, ...], held: sides.Fixed | None
    ) -> Done:
        rows, bounds = self._rows_of(job.piece)
        if job.operation == "absolute":
            return None, Report(absolute_row_sums(rows, self._threads))
        side = LocalSide(self._ids(job.piece), rows, bounds, factors, weights, self._halves, self._threads)
        if job.operation in SUMS:
            return None, Report(SUMS[job.operation](side))
        if job.operation == "half":
            copy = side.half(*arguments)
            return (None, Report(fits=False)) if copy is None else (copy.table.copy(), Report())
        side.factors = aligned(factors.shape)  # what is in the object store cannot be changed
        side.factors[:] = factors
        return side.factors, _change(side, job, arguments, held)

    def _joined(self, pieces: list[NDArray[Any]]) -> NDArray[Any]:
        """Join the pieces of the fixed side, since native calls read its rows at random."""
        size = sum(piece.nbytes for piece in pieces) // 4
        if len(self._memory) < size:
            self._memory = aligned((size,))
        joined = self._memory[:size].view(pieces[0].dtype).reshape(-1, pieces[0].shape[1])
        return np.concatenate(pieces, out=joined)

    def _rows_of(self, piece: Piece) -> tuple[Any, Bounds]:
        """Return the rows of a piece, which are read from the file when they are first used."""
        if piece not in self._rows:
            bounds = self._bounds_of(piece)[piece.node[0] : piece.node[1] + 1] - piece.begin
            self._rows[piece] = self._side(piece).between(piece.begin, piece.end).native(bounds), bounds
        return self._rows[piece]

    def _bounds_of(self, piece: Piece) -> Bounds:
        if piece.side not in self._bounds:
            self._bounds[piece.side] = bounds_of(self._side(piece).offsets)
        return self._bounds[piece.side]

    def _side(self, piece: Piece) -> Csr:
        return self._data.by_user if piece.side == "user" else self._data.by_item

    def _ids(self, piece: Piece) -> Any:
        return self._data.users if piece.side == "user" else self._data.items


SUMS = {
    "gramian": LocalSide.summed_gramian,
    "penalties": LocalSide.summed_penalties,
    "squares": LocalSide.summed_squares,
}


def _change(side: LocalSide, job: Job, arguments: tuple[Any, ...], held: sides.Fixed | None) -> Report:
    """Change the factors of a piece in place."""
    if job.operation == "transform":
        side.transform(*arguments)
        return Report()
    assert held is not None
    if job.operation == "multiply":
        side.multiply(held, *arguments)
        return Report()
    call, *rest = arguments
    observed, failed_row = side.run(call, held, *rest)
    if failed_row >= 0:
        return Report(failed_row=job.piece.begin + failed_row)
    return Report(observed, side.summed_gramian(), side.summed_penalties())


class Store:
    """The object store: each array is fetched once a call. It is shared memory, which nobody may change."""

    def __init__(self) -> None:
        self._fetched: dict[Any, NDArray[Any]] = {}

    def get(self, rows: Slice | None) -> Any:
        """Return rows of an array."""
        import ray

        if rows is None:
            return None
        reference, begin, end = rows
        if reference not in self._fetched:
            self._fetched[reference] = np.asarray(ray.get(reference))
        return self._fetched[reference][begin:end]
