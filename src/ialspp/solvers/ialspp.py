"""iALS++, Algorithm 3: one block of coordinates at a time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from .. import _core
from ..errors import InvalidTypeError, InvalidValueError
from ..system.checks import checked_integer
from .base import HalfEpoch, Problem, by_halves
from .relaxation import checked_relaxation
from .sides import Side

# Sixteen columns are one panel of the kernels: the narrowest block that fills their registers, and a system
# that is solved a row a lane. Work grows with the block size, so that a side at a time nothing is faster.
# Block by block, each costs two visits to the prediction cache, at random: there fewer blocks are faster.
AUTO_BLOCK_SIZE = {"side": 16, "block": 32}


@dataclass(frozen=True, slots=True, kw_only=True)
class IALSpp:
    """Subspace optimisation: O(d b |S| + (d^2 + d b^2) (|U| + |I|)) an epoch with blocks of b.

    Parameters
    ----------
    block_size
        Coordinates solved together, from 1 to the model's dim; it changes the speed, hardly the
        result. "auto" picks one.
    sweep
        "side": for each side, all blocks of a row while its neighbours are at hand. "block", the
        paper's order: for each block, users then items, with a cache of one prediction per interaction.
        The loss falls alike; "side" is faster and needs no cache.
    relaxation
        How far a block moves on its way to its minimum, between 0 and 2. 1, right to it, is the paper's.

    Examples
    --------
    >>> ImplicitMF(dim=8, solver=IALSpp(block_size=4)).fit(data).recommend("cyd", k=1)
    ['milk']
    """

    block_size: int | Literal["auto"] = field(
        default="auto", metadata={"help": "coordinates solved together. Default: chosen automatically."}
    )
    sweep: Literal["side", "block"] = field(
        default="side", metadata={"help": "side (the default), or block as in the paper."}
    )
    relaxation: float = field(
        default=1.0, metadata={"help": "how far each block moves, between 0 and 2. Default: 1."}
    )

    def __post_init__(self) -> None:
        if self.block_size != "auto":
            try:
                size = checked_integer("block_size", self.block_size, 1)
            except TypeError:
                raise InvalidTypeError(
                    f'block_size must be an integer or "auto", got {self.block_size!r}'
                ) from None
            object.__setattr__(self, "block_size", size)
        if self.sweep not in AUTO_BLOCK_SIZE:
            raise InvalidValueError(f'sweep must be "side" or "block", got {self.sweep!r}')
        object.__setattr__(self, "relaxation", checked_relaxation(self.relaxation))

    def block_size_for(self, dim: int) -> int:
        """Return the block size used at this dimension."""
        if self.block_size == "auto":
            return min(AUTO_BLOCK_SIZE[self.sweep], dim)
        if self.block_size > dim:
            raise InvalidValueError(f"block_size must be at most dim ({dim}), got {self.block_size}")
        return self.block_size

    def pinned(self, dim: int) -> IALSpp:
        """Return the same solver with its block size as a number."""
        return replace(self, block_size=self.block_size_for(dim))

    def epoch(self, problem: Problem) -> float:
        """Update every block of every user and item once."""
        size = self.block_size_for(problem.dim)
        if self.sweep == "side":
            return by_halves(problem, self._update_side)
        return self._sweep_by_block(problem, size)

    @property
    def half_epoch(self) -> HalfEpoch | None:
        """The update of one side; None by block, where an epoch goes to and fro between the sides."""
        return self._update_side if self.sweep == "side" else None

    def _sweep_by_block(self, problem: Problem, size: int) -> float:
        cached = problem.in_memory()
        problem.recentre()
        for begin in range(0, problem.dim, size):
            end = min(begin + size, problem.dim)
            for side, other in cached.both_ways:
                failed_row = _core.update_block(
                    *side.to_update(),
                    other.factors,
                    other.gramian_columns(begin, end),
                    problem.unobserved_weight,
                    begin,
                    cached.residuals,
                    self.relaxation,
                    side.threads,
                    side.centres,
                )
                side.check(failed_row)
        return cached.observed()

    def _update_side(self, problem: Problem, side: Side, other: Side) -> float:
        side.recentre()
        return side.update(
            "update_side",
            other.single(),
            problem.gramian(other),
            problem.unobserved_weight,
            self.block_size_for(problem.dim),
            self.relaxation,
        )
