"""iALS, Algorithm 1: every row solved exactly, one side after the other."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.csr import Csr, Floats
from ..objective import Objective
from .base import Problem, by_halves
from .relaxation import checked_relaxation
from .sides import Side


@dataclass(frozen=True, slots=True, kw_only=True)
class IALS:
    """Alternating least squares by Cholesky: O(d^2 |S| + d^3 (|U| + |I|)) an epoch.

    Parameters
    ----------
    relaxation
        How far a row moves on its way to its minimum, between 0 and 2. 1, right to it, is the paper's iALS.

    Examples
    --------
    >>> ImplicitMF(dim=8, solver=IALS()).fit(data).recommend("cyd", k=1)
    ['milk']
    """

    relaxation: float = field(
        default=1.0, metadata={"help": "how far each row moves, between 0 and 2. Default: 1."}
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "relaxation", checked_relaxation(self.relaxation))

    def epoch(self, problem: Problem) -> float:
        """Solve all users, then all items."""
        return by_halves(problem, self.half_epoch)

    def half_epoch(self, problem: Problem, side: Side, other: Side) -> float:
        """Solve every row of one side."""
        side.recentre()
        want_loss = side is problem.items
        return side.update(
            "solve_rows",
            other.single(),
            problem.gramian(other),
            problem.unobserved_weight,
            want_loss,
            self.relaxation,
        )


def solve_exactly(
    rows: Csr,
    other: Floats,
    gramian: NDArray[np.float64],
    objective: Objective,
    threads: int,
    centres: Floats | None = None,
) -> tuple[Floats, int]:
    """Solve each of some rows exactly, given the other side's factors and their Gramian: iALS's row update.

    centres: what the features of each row make of its vector; None: zero.

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
        1.0,
        threads,
        centres,
    )
    return vectors, failed_row
