"""iCD, Algorithm 2: one coordinate at a time, predictions cached."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _core
from ..objective import in_single_precision
from .base import Problem


@dataclass(frozen=True, slots=True)
class ICD:
    """Coordinate descent, dimension outermost: O(d |S| + d^2 (|U| + |I|)) an epoch, all scalar.

    Examples
    --------
    >>> ImplicitMF(dim=8, solver=ICD()).fit(data).recommend("cyd", k=1)
    ['milk']
    """

    def epoch(self, problem: Problem) -> float:
        """Update each coordinate in turn: of all users, then of all items."""
        cached = problem.in_memory()
        problem.recentre()
        for f in range(problem.dim):
            for side, other in cached.both_ways:
                column = in_single_precision(other.gramian_columns(f, f + 1)[:, 0])
                failed_row = _core.update_coordinate(
                    *side.to_update(),
                    other.factors,
                    column,
                    problem.unobserved_weight,
                    f,
                    cached.residuals,
                    side.threads,
                    side.centres,
                )
                side.check(failed_row)
        return cached.observed()
