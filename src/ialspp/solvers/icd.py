"""iCD, Algorithm 2: one coordinate at a time, predictions cached."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _core
from ..objective import in_single_precision
from .base import Problem


@dataclass(frozen=True, slots=True)
class ICD:
    """Coordinate descent, dimension outermost: O(d |S| + d^2 (|U| + |I|)) an epoch, all scalar."""

    def epoch(self, problem: Problem) -> float:
        """Update each coordinate in turn: of all users, then of all items."""
        residuals = problem.residuals()
        problem.recentre(problem.users)
        problem.recentre(problem.items)
        for f in range(problem.dim):
            for side, other in problem.both_ways:
                column = in_single_precision(problem.gramian_columns(other, f, f + 1)[:, 0])
                failed_row = _core.update_coordinate(
                    *side.to_update(),
                    other.factors,
                    column,
                    problem.unobserved_weight,
                    f,
                    residuals,
                    problem.threads,
                    side.centres,
                )
                side.check(failed_row)
        return _core.squared_sum(residuals, problem.threads)
