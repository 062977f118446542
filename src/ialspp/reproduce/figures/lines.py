"""The lines of the figures: which there are, and the pieces that several figures have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from ..complexity import PAPER_BLOCKS
from ..grid import IALS_NAME, IALSPP_NAME, ICD_NAME, SPECTRAL_NAME, Configuration
from .axes import Entry
from .styles import INK, Look, block_looks, solver_label, solver_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAPER_DIMS = (128, 512, 2048)  # where quality is drawn after each epoch
ENDS = {ICD_NAME: "iCD (block size 1)", IALS_NAME: "iALS (block size d)"}


@dataclass(frozen=True, slots=True)
class SolverLine:
    """A line that follows a solver; iALS++ has one for each block size."""

    solver: str
    block: int | None
    look: Look

    @property
    def label(self) -> str:
        """In the legend."""
        return solver_label(self.solver, self.block)

    def follows(self, configuration: Configuration) -> bool:
        """Whether this configuration is a point of the line."""
        same_block = self.solver != IALSPP_NAME or self.block == configuration.block
        return self.solver == configuration.solver and same_block


def solver_lines(measured: Sequence[Configuration], blocks: Sequence[int]) -> list[SolverLine]:
    """iCD, iALS, iALS++ for each of the blocks, SpectralCG: those that were measured."""

    def line(solver: str) -> list[SolverLine]:
        there = solver in solvers_of(measured)
        return [SolverLine(solver, None, solver_look(solver))] if there else []

    between = [SolverLine(IALSPP_NAME, *each) for each in block_looks(blocks).items()]
    return [*line(ICD_NAME), *line(IALS_NAME), *between, *line(SPECTRAL_NAME)]


def through_blocks(axes: Axes, dim: int, values: Mapping[int, float], look: Look, run: int) -> None:
    """A line over block sizes, with the markers of iCD and iALS at its ends."""
    within = [i for i, block in enumerate(values) if 1 < block < dim]
    axes.plot(*points(values), label=f"d = {dim}", markevery=within, **look.line(run))
    for block, value in values.items():
        solver = Configuration(dim, block).solver
        if solver in ENDS:
            axes.plot([block], [value], label=f"{solver}, d = {dim}", **_end(solver, look.colour, run))


def staggered(length: int, place: int) -> list[int]:
    """Which points of a line get a marker: the first and some others, of the next line's the next ones.

    So lines that lie on each other can all be seen.
    """
    step = ceil(length / 6)
    return sorted({0, *range(place % step, length, step)})


def entries_over_blocks(looks: Mapping[int, Look], measured: Sequence[Configuration]) -> list[Entry]:
    """Of a legend: each d, and what the ends of the lines are."""
    dims = [(f"d = {dim}", look.line()) for dim, look in looks.items()]
    return [*dims, *((ENDS[each], _end(each, INK)) for each in ENDS if each in solvers_of(measured))]


def _end(solver: str, colour: str, run: int = 0) -> dict[str, Any]:
    marker = solver_look(solver).marker
    return {**Look(colour, marker).line(run), "linestyle": "none", "markersize": 5}


# What was measured


def solvers_of(measured: Iterable[Configuration]) -> set[str]:
    """By name."""
    return {each.solver for each in measured}


def dims_of(measured: Iterable[Configuration]) -> list[int]:
    """Ascending."""
    return sorted({each.dim for each in measured})


def blocks_of(measured: Iterable[Configuration]) -> list[int]:
    """Those of iALS++ proper, ascending."""
    return sorted({each.block for each in measured if each.block and each.solver == IALSPP_NAME})


def of_paper(sizes: list[int], paper: Sequence[int]) -> list[int]:
    """Those the paper has too; all where it has none of them."""
    return [size for size in sizes if size in paper] or sizes


def few(sizes: list[int]) -> list[int]:
    """Three at most: the smallest, the middle and the largest."""
    return sizes if len(sizes) <= 3 else [sizes[0], sizes[len(sizes) // 2], sizes[-1]]


def few_blocks(measured: Sequence[Configuration]) -> list[int]:
    """A few of the paper's blocks, and of a d that has none of them a few of its own; ascending."""
    blocks = few(of_paper(blocks_of(measured), PAPER_BLOCKS))
    for dim in dims_of(measured):
        own = blocks_of(each for each in measured if each.dim == dim)
        if set(own).isdisjoint(blocks):
            blocks = [*blocks, *few(own)]
    return sorted(blocks)


def points(values: Mapping[int, float]) -> tuple[list[int], list[float]]:
    """What is on x, and what on y."""
    return list(values), list(values.values())
