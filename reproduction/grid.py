"""What to measure: each configuration of the paper's grid, timed for an epoch and trained for its quality."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import ialspp
from ialspp.errors import InvalidValueError
from ialspp.solvers import Solver
from ialspp.system.checks import checked_integer

ICD, IALS, IALSPP, SPECTRAL = "iCD", "iALS", "iALS++", "SpectralCG"
PAPER_SOLVERS = (ICD, IALS, IALSPP)
DIMS = (64, 128, 256, 512, 1024, 2048)  # the paper's
SHARES = (1.0, 0.5, 0.25)  # of the interactions, to measure how times grow with them
SHARES_DIM, SHARES_BLOCK = 128, 64  # where shares are timed, or as near as the grid comes


@dataclass(frozen=True, slots=True)
class Configuration:
    """A solver at a dimension. Block 1 is iCD, block d is iALS, None is SpectralCG, which has no blocks."""

    dim: int
    block: int | None

    @property
    def solver(self) -> str:
        if self.block is None:
            return SPECTRAL
        return {1: ICD, self.dim: IALS}.get(self.block, IALSPP)

    @property
    def block_name(self) -> str:
        """Name the configuration where its d is known: the block size of iALS++, else the solver."""
        return str(self.block) if self.solver == IALSPP else self.solver

    def make_solver(self, sweep: str) -> Solver:
        """Make the solver; `sweep` is the order in which iALS++ updates blocks and sides."""
        if self.block is None:
            return ialspp.SpectralCG()
        if self.solver == IALSPP:
            return ialspp.IALSpp(block_size=self.block, sweep="block" if sweep == "block" else "side")
        return ialspp.ICD() if self.block == 1 else ialspp.IALS()

    def __str__(self) -> str:
        block = f" ({self.block})" if self.solver == IALSPP else ""
        return f"{self.solver}{block}, d = {self.dim}"


@dataclass(frozen=True, slots=True)
class TimingTask:
    """Time one epoch of a configuration on a share of the interactions."""

    configuration: Configuration
    share: float
    round: int

    def __str__(self) -> str:
        share = f", {self.share:g} of the pairs" if self.share < 1 else ""
        return f"an epoch of {self.configuration}{share}"


@dataclass(frozen=True, slots=True)
class TrainingTask:
    """Train a configuration from one seed, and evaluate it after each epoch."""

    configuration: Configuration
    seed: int

    def __str__(self) -> str:
        return f"training {self.configuration}, seed {self.seed}"


Task = TimingTask | TrainingTask


def block_sizes(dim: int) -> list[int]:
    """List 1, 2, 4, ... and `dim`."""
    return [*(2**i for i in range((dim - 1).bit_length())), dim]


@dataclass(frozen=True, slots=True)
class Grid:
    """All configurations to measure."""

    dims: tuple[int, ...]  # ascending
    blocks: tuple[int, ...] = ()  # empty: 1, 2, 4, ... and d; 0 stands for d itself
    seeds: int = 4  # how often each configuration is trained, from seeds 0, 1, ...
    rounds: int = 3  # how often each is timed, at most: see `schedule.LONG`

    @classmethod
    def of(cls, dims: Sequence[int], blocks: Sequence[int], seeds: int, rounds: int) -> Grid:
        for dim in dims:
            ialspp.ImplicitMF(checked_integer("dim", dim, 2))  # raises where d is too large
        grid = cls(
            tuple(sorted(set(dims))),
            tuple(sorted({checked_integer("block", block, 0) for block in blocks})),
            checked_integer("seeds", seeds, 0),
            checked_integer("rounds", rounds, 0),
        )
        if grid.seeds == grid.rounds == 0:
            raise InvalidValueError("nothing is left to measure: neither times (rounds) nor quality (seeds)")
        return grid

    def configurations(self, dim: int) -> list[Configuration]:
        """List those of one dimension by block size, SpectralCG last."""
        wanted = {block or dim for block in self.blocks} or set(block_sizes(dim))
        sizes = sorted(block for block in wanted if block <= dim)
        return [*(Configuration(dim, block) for block in sizes), Configuration(dim, None)]

    @property
    def all(self) -> list[Configuration]:
        return [configuration for dim in self.dims for configuration in self.configurations(dim)]

    def timings(self) -> Iterator[TimingTask]:
        """Interleave the rounds: everything once, with its shares, then everything again."""
        for number in range(self.rounds):
            yield from (TimingTask(each, 1.0, number) for each in self.all)
            for share in SHARES[1:]:
                yield from (TimingTask(each, share, number) for each in self.timed_on_shares())

    def timed_on_shares(self) -> list[Configuration]:
        """Choose one configuration of each solver, all at one dimension."""
        dim = min(self.dims, key=lambda d: abs(d - SHARES_DIM))
        near: dict[str, Configuration] = {}
        for each in sorted(self.configurations(dim), key=lambda c: abs((c.block or 0) - SHARES_BLOCK)):
            near.setdefault(each.solver, each)
        return list(near.values())

    def trainings(self) -> Iterator[TrainingTask]:
        for seed in range(self.seeds):
            yield from (TrainingTask(each, seed) for each in self.all)
