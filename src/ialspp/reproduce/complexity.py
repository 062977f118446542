"""What an epoch costs by the formulas of the paper's Table 1, and how measured times grow beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from statistics import linear_regression

from ..solvers.spectral import DEFAULT_STEPS
from .grid import IALS_NAME, IALSPP_NAME, ICD_NAME, SPECTRAL_NAME, Configuration
from .run import Data, Run

DIM, INTERACTIONS, BLOCK = "d", "|S|", "block"  # what an exponent can belong to
PAPER_BLOCKS = (32, 64, 128)  # of iALS++ over d, as the paper draws it


@dataclass(frozen=True, slots=True)
class Formula:
    """A solver's row in the complexity table."""

    runtime: str  # of an epoch
    memory: str
    vector_instructions: bool
    in_paper: bool = True


FORMULAS: Mapping[str, Formula] = {
    IALS_NAME: Formula("d²|S| + d³(|U|+|I|)", "d(|U|+|I|)", True),
    ICD_NAME: Formula("d|S| + d²(|U|+|I|)", "d(|U|+|I|) + |S|", False),
    IALSPP_NAME: Formula("d|π||S| + (d² + d|π|²)(|U|+|I|)", "d(|U|+|I|) + |S|", True),
    SPECTRAL_NAME: Formula(f"{DEFAULT_STEPS}d|S| + d²(|U|+|I|)", "d(|U|+|I|)", True, in_paper=False),
}

# Operations of an epoch, from d, the block size b, S = |S| and N = |U| + |I|.
WORK: Mapping[str, Callable[[float, float, float, float], float]] = {
    IALS_NAME: lambda d, _, S, N: d**2 * S + d**3 * N,
    ICD_NAME: lambda d, _, S, N: d * S + d**2 * N,
    IALSPP_NAME: lambda d, b, S, N: d * b * S + (d**2 + d * b**2) * N,
    SPECTRAL_NAME: lambda d, _, S, N: DEFAULT_STEPS * d * S + d**2 * N,
}


def work(configuration: Configuration, interactions: float, rows: float) -> float:
    """Operations of an epoch by the solver's formula; `rows` is |U| + |I|."""
    return WORK[configuration.solver](configuration.dim, configuration.block or 0, interactions, rows)


def work_on(data: Data, configuration: Configuration, share: float = 1.0) -> float:
    """The same for what is trained on; a share of the pairs keeps all users and items."""
    return work(configuration, share * data.train_interactions, data.train_users + data.train_items)


@dataclass(frozen=True, slots=True)
class Exponent:
    """With which power of a variable the seconds of an epoch grow.

    Parameters
    ----------
    solver, block, dim
        What was timed; block and dim are None where the solver has none or it is the variable itself.
    variable
        "d", "|S|" or "block".
    points
        (x, seconds), ascending.
    measured, formula
        Slopes of least squares through log seconds, and through the log of the formula's work at the same x.
    """

    solver: str
    block: int | None
    dim: int | None
    variable: str
    points: tuple[tuple[float, float], ...]
    measured: float
    formula: float


def exponents(run: Run) -> list[Exponent]:
    """All for which at least two points were timed: over d, over |S|, over block size."""
    return [*_over_dims(run), *_over_interactions(run), *_over_blocks(run)]


def over_dims(run: Run, solver: str, block: int | None = None) -> Exponent | None:
    """Of one solver over d; None where it was timed at fewer than two."""
    own = [c for c in run.timed() if c.solver == solver and (solver != IALSPP_NAME or c.block == block)]
    if len(own) < 2:
        return None
    points = [(c.dim, run.over_dims(solver, block)[c.dim]) for c in own]
    return _fitted(own[0], DIM, points, [work_on(run.data, c) for c in own])


def _over_dims(run: Run) -> Iterator[Exponent]:
    blocks = sorted({c.block for c in run.timed() if c.solver == IALSPP_NAME and c.block is not None})
    timed = [block for block in blocks if over_dims(run, IALSPP_NAME, block) is not None]
    drawn = [block for block in timed if block in PAPER_BLOCKS] or timed
    lines = [(ICD_NAME, None), (IALS_NAME, None), *((IALSPP_NAME, b) for b in drawn), (SPECTRAL_NAME, None)]
    yield from filter(None, (over_dims(run, *line) for line in lines))


def _over_interactions(run: Run) -> Iterator[Exponent]:
    for each in sorted(
        {t.task.configuration for t in run.timings}, key=lambda c: (c.dim, c.block or c.dim + 1)
    ):
        shares = run.over_shares(each)
        if len(shares) > 1:
            points = [(share * run.data.train_interactions, seconds) for share, seconds in shares.items()]
            yield _fitted(each, INTERACTIONS, points, [work_on(run.data, each, share) for share in shares])


def _over_blocks(run: Run) -> Iterator[Exponent]:
    """The rising branch alone: below the fastest block, vector instructions decide and not the formula."""
    for dim in run.timed_dims():
        best = run.fastest_block(dim)
        points = [
            (b, s) for b, s in run.over_blocks(dim).items() if best is not None and best <= b <= dim / 2
        ]
        if len(points) > 1:
            own = [Configuration(dim, block) for block, _ in points]
            yield _fitted(own[0], BLOCK, points, [work_on(run.data, c) for c in own])


def _fitted(
    of: Configuration, variable: str, points: Sequence[tuple[float, float]], costs: Sequence[float]
) -> Exponent:
    x, seconds = zip(*points, strict=True)
    return Exponent(
        solver=of.solver,
        block=of.block if of.solver == IALSPP_NAME and variable != BLOCK else None,
        dim=None if variable == DIM else of.dim,
        variable=variable,
        points=tuple(points),
        measured=slope(x, seconds),
        formula=slope(x, costs),
    )


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Of least squares through the logarithms: the power of x with which y grows."""
    return linear_regression([log(each) for each in x], [log(each) for each in y]).slope
