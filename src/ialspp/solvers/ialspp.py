"""iALS++, Algorithm 3: one block of coordinates at a time, predictions cached."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from .. import _core
from ..settings import checked_integer
from .base import Problem

AUTO_BLOCK_SIZE = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class IALSpp:
    """Subspace optimisation: O(d b |S| + (d^2 + d b^2) (|U| + |I|)) an epoch with blocks of b.

    Parameters
    ----------
    block_size
        Coordinates solved together, from 1 to the model's dim; it changes the speed, hardly the
        result. "auto" picks one.
    sweep
        "block", the paper's order: for each block, users then items, with a cache of one prediction
        per interaction. "side": for each side, all blocks of a row at once; needs no such cache.
    """

    block_size: int | Literal["auto"] = "auto"
    sweep: Literal["block", "side"] = "block"

    def __post_init__(self) -> None:
        if self.block_size != "auto":
            try:
                size = checked_integer("block_size", self.block_size, 1)
            except TypeError:
                raise TypeError(f'block_size must be an integer or "auto", got {self.block_size!r}') from None
            object.__setattr__(self, "block_size", size)
        if self.sweep not in ("block", "side"):
            raise ValueError(f'sweep must be "block" or "side", got {self.sweep!r}')

    def block_size_for(self, dim: int) -> int:
        """The block size used at this dimension."""
        if self.block_size == "auto":
            return min(AUTO_BLOCK_SIZE, dim)
        if self.block_size > dim:
            raise ValueError(f"block_size must be at most dim ({dim}), got {self.block_size}")
        return self.block_size

    def pinned(self, dim: int) -> IALSpp:
        """The same with the block size as a number."""
        return replace(self, block_size=self.block_size_for(dim))

    def epoch(self, problem: Problem) -> float:
        """Update every block of every user and item once."""
        size = self.block_size_for(problem.dim)
        if self.sweep == "side":
            return self._sides_outermost(problem, size)
        return self._blocks_outermost(problem, size)

    def _blocks_outermost(self, problem: Problem, size: int) -> float:
        residuals = problem.residuals()
        for begin in range(0, problem.dim, size):
            end = min(begin + size, problem.dim)
            for side, other in problem.both_ways:
                failed_row = _core.update_block(
                    *side.to_update(),
                    other.factors,
                    problem.gramian_columns(other, begin, end),
                    problem.unobserved_weight,
                    begin,
                    residuals,
                    problem.threads,
                )
                side.check(failed_row)
        return _core.squared_sum(residuals, problem.threads)

    def _sides_outermost(self, problem: Problem, size: int) -> float:
        observed = 0.0
        for side, other in problem.both_ways:
            observed, failed_row = _core.update_side(
                *side.to_update(),
                other.factors,
                problem.gramian(other),
                problem.unobserved_weight,
                size,
                problem.threads,
            )
            side.check(failed_row)
        return observed
