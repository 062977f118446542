"""iALS, Algorithm 1: every row solved exactly, one side after the other."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _core
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
