"""Which lines a figure has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..complexity import PAPER_BLOCKS
from ..grid import IALS, IALSPP, ICD, SPECTRAL, Configuration
from .axes import Entry
from .styles import GREENS, INK, Look, looks, solver_label, solver_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENDS = {ICD: "iCD (block size 1)", IALS: "iALS (block size d)"}


@dataclass(frozen=True, slots=True)
class SolverLine:
    """A line that follows a solver; iALS++ has one for each block size."""

    solver: str
    block: int | None
    look: Look

    @property
    def label(self) -> str:
        return solver_label(self.solver, self.block)

    def follows(self, configuration: Configuration) -> bool:
        has_block = self.solver != IALSPP or self.block == configuration.block
        return self.solver == configuration.solver and has_block


def solver_lines(measured: Sequence[Configuration], blocks: Sequence[int]) -> list[SolverLine]:
    """List the measured ones of iCD, iALS, iALS++ with each of the blocks, and SpectralCG."""
    first, last = (
        [SolverLine(name, None, solver_look(name)) for name in names if name in solvers_of(measured)]
        for names in ((ICD, IALS), (SPECTRAL,))
    )
    return [*first, *(SolverLine(IALSPP, *each) for each in looks(GREENS, blocks).items()), *last]


def plot_over_blocks(axes: Axes, dim: int, values: Mapping[int, float], look: Look) -> None:
    """Plot a line over block sizes, with the markers of iCD and iALS at its ends."""
    within = [i for i, block in enumerate(values) if 1 < block < dim]
    axes.plot(list(values), list(values.values()), label=f"d = {dim}", markevery=within, **look.line)
    for block, value in values.items():
        solver = Configuration(dim, block).solver
        if solver in ENDS:
            axes.plot([block], [value], label=f"{solver}, d = {dim}", **_end(solver, look.colour))


def entries_over_blocks(by_dim: Mapping[int, Look], measured: Sequence[Configuration]) -> list[Entry]:
    """List the legend's entries: each d, and the ends of the lines."""
    dims = [(f"d = {dim}", look.line) for dim, look in by_dim.items()]
    return [*dims, *((ENDS[each], _end(each, INK)) for each in ENDS if each in solvers_of(measured))]


def _end(solver: str, colour: str) -> dict[str, Any]:
    return {**Look(colour, solver_look(solver).marker).line, "linestyle": "none", "markersize": 5}


def solvers_of(measured: Iterable[Configuration]) -> set[str]:
    return {each.solver for each in measured}


def blocks_of(measured: Iterable[Configuration]) -> list[int]:
    """List the block sizes of iALS++, ascending."""
    return sorted({each.block for each in measured if each.block and each.solver == IALSPP})


def prefer_paper(sizes: list[int], paper: Sequence[int]) -> list[int]:
    """Keep those that the paper has too; all where it has none of them."""
    return [size for size in sizes if size in paper] or sizes


def few(sizes: list[int]) -> list[int]:
    """Keep three at most: the smallest, the middle and the largest."""
    return sizes if len(sizes) <= 3 else [sizes[0], sizes[len(sizes) // 2], sizes[-1]]


def few_blocks(measured: Sequence[Configuration], dims: Sequence[int]) -> list[int]:
    """Choose a few of the paper's blocks, and for a d with none of them a few of its own; ascending."""
    blocks = few(prefer_paper(blocks_of(measured), PAPER_BLOCKS))
    for dim in dims:
        own = blocks_of(each for each in measured if each.dim == dim)
        if set(own).isdisjoint(blocks):
            blocks = [*blocks, *few(own)]
    return sorted(blocks)
