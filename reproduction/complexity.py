"""The cost of an epoch by the formulas of the paper's Table 1, and how measured times grow beside it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from statistics import linear_regression

from ialspp.solvers.spectral import DEFAULT_STEPS

from .grid import IALS, IALSPP, ICD, SPECTRAL, Configuration
from .run import Data, Run

DIM, INTERACTIONS, BLOCK = "d", "|S|", "block"  # the variables that times grow with
PAPER_BLOCKS = (32, 64, 128)  # of iALS++ in the paper's plot over d


@dataclass(frozen=True, slots=True)
class Formula:
    """A solver's row in the complexity table, and the operations of an epoch as a function.

    The function takes d, the block size b, S = |S| and N = |U| + |I|.
    """

    runtime: str
    memory: str
    vector_instructions: bool
    work: Callable[[float, float, float, float], float]


FORMULAS: Mapping[str, Formula] = {
    IALS: Formula("d²|S| + d³(|U|+|I|)", "d(|U|+|I|)", True, lambda d, _, S, N: d**2 * S + d**3 * N),
    ICD: Formula("d|S| + d²(|U|+|I|)", "d(|U|+|I|) + |S|", False, lambda d, _, S, N: d * S + d**2 * N),
    IALSPP: Formula("d|π||S| + (d² + d|π|²)(|U|+|I|)", "d(|U|+|I|) + |S|", True,
                    lambda d, b, S, N: d * b * S + (d**2 + d * b**2) * N),
    SPECTRAL: Formula(f"{DEFAULT_STEPS}d|S| + d²(|U|+|I|) + d³", "d(|U|+|I|) + d max(|U|,|I|)/2", True,
                      lambda d, _, S, N: DEFAULT_STEPS * d * S + d**2 * N + d**3),
}  # fmt: skip


def work(configuration: Configuration, interactions: float, rows: float) -> float:
    """Count the operations of an epoch by the solver's formula; `rows` is |U| + |I|."""
    formula = FORMULAS[configuration.solver]
    return formula.work(configuration.dim, configuration.block or 0, interactions, rows)


def work_on(data: Data, configuration: Configuration, share: float = 1.0) -> float:
    """Count them for the training data; a share of the pairs keeps all users and items."""
    return work(configuration, share * data.train_interactions, data.train_users + data.train_items)


@dataclass(frozen=True, slots=True)
class Exponent:
    """The power of a variable with which the seconds of an epoch grow."""

    solver: str
    block: int | None  # None where the solver has none or it is the variable
    dim: int | None  # None where it is the variable
    variable: str
    points: tuple[tuple[float, float], ...]  # (x, seconds), ascending
    measured: float  # slope of least squares through the logarithms
    formula: float  # the slope of the formula's work at the same x


def exponents(run: Run) -> list[Exponent]:
    """Fit all exponents for which at least two points were timed: over d, over |S|, over block size."""
    return [*_over_dims(run), *_over_interactions(run), *_over_blocks(run)]


def over_dims(run: Run, solver: str, block: int | None = None) -> Exponent | None:
    """Fit the exponent of d for one solver; None where it was timed at fewer than two d."""
    own = run.timed_with(solver, block)
    if len(own) < 2:
        return None
    points = [(c.dim, run.known_seconds(c)) for c in own]
    return _fitted(own[0], DIM, points, [work_on(run.data, c) for c in own])


def _over_dims(run: Run) -> Iterator[Exponent]:
    blocks = sorted({c.block for c in run.timed() if c.solver == IALSPP and c.block is not None})
    timed = [block for block in blocks if over_dims(run, IALSPP, block) is not None]
    drawn = [block for block in timed if block in PAPER_BLOCKS] or timed
    lines = [(ICD, None), (IALS, None), *((IALSPP, block) for block in drawn), (SPECTRAL, None)]
    yield from filter(None, (over_dims(run, *line) for line in lines))


def _over_interactions(run: Run) -> Iterator[Exponent]:
    timed = {t.task.configuration for t in run.timings}
    for each in sorted(timed, key=lambda c: (c.dim, c.block or c.dim + 1)):
        shares = run.over_shares(each)
        if len(shares) > 1:
            points = [(share * run.data.train_interactions, seconds) for share, seconds in shares.items()]
            yield _fitted(each, INTERACTIONS, points, [work_on(run.data, each, share) for share in shares])


def _over_blocks(run: Run) -> Iterator[Exponent]:
    """Fit only the rising branch: below the fastest block, vector instructions decide, not the formula."""
    for dim in run.timed_dims():
        best = run.fastest_block(dim) or dim
        points = [(b, seconds) for b, seconds in run.over_blocks(dim).items() if best <= b <= dim / 2]
        if len(points) > 1:
            own = [Configuration(dim, block) for block, _ in points]
            yield _fitted(own[0], BLOCK, points, [work_on(run.data, c) for c in own])


def _fitted(
    of: Configuration, variable: str, points: Sequence[tuple[float, float]], costs: Sequence[float]
) -> Exponent:
    x, seconds = zip(*points, strict=True)
    block = of.block if of.solver == IALSPP and variable != BLOCK else None
    dim = None if variable == DIM else of.dim
    return Exponent(of.solver, block, dim, variable, tuple(points), slope(x, seconds), slope(x, costs))


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Fit the power of x with which y grows, by least squares through the logarithms."""
    return linear_regression([log(each) for each in x], [log(each) for each in y]).slope
