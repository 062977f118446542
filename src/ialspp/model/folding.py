"""Vectors for many unseen rows, batch by batch, here or on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, Floats
from ..errors import SolveError
from ..objective import Objective
from ..solvers import solve_exactly
from .batches import BatchCluster, ranges, worked_on

ROWS_AT_ONCE = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Folding:
    """What vectors of unseen rows depend on beside their interactions."""

    others: Floats  # the vectors of the other side
    gramian: NDArray[np.float64]
    objective: Objective


def solved_rows(shared: Folding, batch: tuple[Csr, Floats | None], threads: int) -> tuple[Floats, int]:
    """Solve a batch of rows, with what features make of them; return the first row that failed, or -1."""
    rows, centres = batch
    return solve_exactly(rows, shared.others, shared.gramian, shared.objective, threads, centres)


def solved_on(
    cluster: BatchCluster,
    shared: Folding,
    rows: Csr,
    centres: Floats | None,
    unsolved: Callable[[int], SolveError],
) -> Floats:
    """Solve rows on a cluster; `unsolved` makes the error for a row without a finite solution."""
    vectors = np.zeros((len(rows), shared.others.shape[1]), dtype=np.float32)
    bounds = ranges(0, len(rows), ROWS_AT_ONCE)
    batches = (
        (rows.between(begin, end), None if centres is None else centres[begin:end]) for begin, end in bounds
    )
    found = worked_on(solved_rows, shared, batches, 1, cluster)
    for (begin, end), (part, failed_row) in zip(bounds, found, strict=True):
        if failed_row >= 0:
            raise unsolved(begin + failed_row)
        vectors[begin:end] = part
    return vectors
