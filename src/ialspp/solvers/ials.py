"""iALS, Algorithm 1: every row solved exactly, one side after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.csr import Csr, Floats
from ..objective import Objective
from .base import Problem, Side


@dataclass(frozen=True, slots=True)
class IALS:
    """Alternating least squares by Cholesky: O(d^2 |S| + d^3 (|U| + |I|)) an epoch."""

    def epoch(self, problem: Problem) -> float:
        """Solve all users, then all items."""
        self._solve(problem, problem.users, problem.items, want_loss=False)
        return self._solve(problem, problem.items, problem.users, want_loss=True)

    def _solve(self, problem: Problem, side: Side, other: Side, *, want_loss: bool) -> float:
        observed, failed_row = _core.solve_rows(
            *side.to_update(),
            other.factors,
            problem.gramian(other),
            problem.unobserved_weight,
            want_loss,
            problem.threads,
        )
        side.check(failed_row)
        return observed


def solve_exactly(
    rows: Csr, other: Floats, gramian: NDArray[np.float64], objective: Objective, threads: int
) -> tuple[Floats, int]:
    """Solve each of some rows exactly, given the other side's factors and their Gramian: iALS's row update.

    Returns the vectors, and the first row that has no finite solution, or -1.
    """
    vectors = np.zeros((len(rows), other.shape[1]), dtype=np.float32)
    if len(rows) == 0:
        return vectors, -1
    regularization = objective.row_regularization(rows.counts, rows.n_columns)
    _, failed_row = _core.solve_rows(
        rows.native(),
        vectors,
        regularization,
        other,
        gramian,
        objective.unobserved_weight,
        False,
        threads,
    )
    return vectors, failed_row
