"""What is measured: every configuration of the paper's grid, once for its time and once for its quality."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..model.model import MAX_DIM
from ..solvers import IALS, ICD, IALSpp, Solver, SpectralCG
from ..system.checks import checked_integer

ICD_NAME, IALS_NAME, IALSPP_NAME, SPECTRAL_NAME = "iCD", "iALS", "iALS++", "SpectralCG"
DIMS = (64, 128, 256, 512, 1024, 2048)  # as in the paper
SHARES = (1.0, 0.5, 0.25)  # of the interactions, to see how times grow with them
SHARES_DIM, SHARES_BLOCK = 128, 64  # where that is measured, or as near as the grid comes


def block_sizes(dim: int) -> list[int]:
    """1, 2, 4, ... up to dim."""
    return [*(2**i for i in range((dim - 1).bit_length())), dim]


@dataclass(frozen=True, slots=True)
class Configuration:
    """A solver at a dimension: a block of 1 is iCD, one of d is iALS, None is SpectralCG, which has none."""

    dim: int
    block: int | None

    @property
    def solver(self) -> str:
        """Its name in the figures."""
        if self.block is None:
            return SPECTRAL_NAME
        return {1: ICD_NAME, self.dim: IALS_NAME}.get(self.block, IALSPP_NAME)

    def make(self, sweep: str) -> Solver:
        """The solver itself; `sweep` is the order in which iALS++ takes blocks and sides."""
        if self.block is None:
            return SpectralCG()
        if self.solver == IALSPP_NAME:
            return IALSpp(block_size=self.block, sweep="block" if sweep == "block" else "side")
        return ICD() if self.block == 1 else IALS()

    def __str__(self) -> str:
        block = f" ({self.block})" if self.solver == IALSPP_NAME else ""
        return f"{self.solver}{block}, d = {self.dim}"


@dataclass(frozen=True, slots=True)
class TimingTask:
    """One epoch of a configuration on a share of the interactions."""

    configuration: Configuration
    share: float
    round: int

    def __str__(self) -> str:
        share = f", {self.share:g} of the pairs" if self.share < 1 else ""
        return f"an epoch of {self.configuration}{share}"


@dataclass(frozen=True, slots=True)
class TrainingTask:
    """All epochs of a configuration from one seed, with its quality after each."""

    configuration: Configuration
    seed: int

    def __str__(self) -> str:
        return f"training {self.configuration}, seed {self.seed}"


Task = TimingTask | TrainingTask


@dataclass(frozen=True, slots=True)
class Grid:
    """What is to be measured.

    Parameters
    ----------
    dims
        Each d, ascending.
    blocks
        The block sizes to look at; empty: 1, 2, 4, ... and d itself. 0 stands for d, of any d.
    seeds
        How often each configuration is trained, from seeds 0, 1, ...; 0: never.
    rounds
        How often each is timed, at most; 0: never. See `schedule.LONG`.
    """

    dims: tuple[int, ...]
    blocks: tuple[int, ...] = ()
    seeds: int = 4
    rounds: int = 3

    @classmethod
    def of(cls, dims: Sequence[int], blocks: Sequence[int], seeds: int, rounds: int) -> Grid:
        """Checked."""
        for dim in dims:
            if checked_integer("dim", dim, 2) > MAX_DIM:
                raise ValueError(f"dim must be at most {MAX_DIM}, got {dim}")
        for block in blocks:
            checked_integer("block", block, 0)
        grid = cls(
            tuple(sorted(set(dims))),
            tuple(sorted(set(blocks))),
            checked_integer("seeds", seeds, 0),
            checked_integer("rounds", rounds, 0),
        )
        if grid.seeds == grid.rounds == 0:
            raise ValueError("nothing is left to measure: neither times (rounds) nor quality (seeds)")
        return grid

    def configurations(self, dim: int) -> list[Configuration]:
        """At one dimension: by block size, SpectralCG last."""
        wanted = {block or dim for block in self.blocks} or set(block_sizes(dim))
        sizes = sorted(block for block in wanted if block <= dim)
        return [*(Configuration(dim, block) for block in sizes), Configuration(dim, None)]

    @property
    def all(self) -> list[Configuration]:
        """At every dimension."""
        return [configuration for dim in self.dims for configuration in self.configurations(dim)]

    def timings(self) -> Iterator[TimingTask]:
        """All once, then the shares of the pairs, then all again: rounds are interleaved."""
        for number in range(self.rounds):
            yield from (TimingTask(each, 1.0, number) for each in self.all)
            yield from (
                TimingTask(each, share, number) for share in SHARES if share < 1 for each in self.for_shares()
            )

    def for_shares(self) -> list[Configuration]:
        """One of each solver, all at one dimension."""
        dim = min(self.dims, key=lambda d: abs(d - SHARES_DIM))
        near: dict[str, Configuration] = {}
        for each in sorted(self.configurations(dim), key=lambda c: abs((c.block or 0) - SHARES_BLOCK)):
            near.setdefault(each.solver, each)
        return list(near.values())

    def trainings(self) -> Iterator[TrainingTask]:
        """All from one seed, then from the next."""
        for seed in range(self.seeds):
            yield from (TrainingTask(each, seed) for each in self.all)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)
