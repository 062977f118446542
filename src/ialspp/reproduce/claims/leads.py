"""By how much one solver is faster than another, in an epoch or until it has converged, at each d."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from itertools import pairwise

from ..complexity import work, work_on
from ..grid import IALS_NAME, IALSPP_NAME, ICD_NAME, Configuration
from ..published import PAPER_COUNTS
from ..run import Run
from .findings import Finding, at_dims, duration, needs, number, times
from .reached import epochs_to_converge, learned, seconds_to_converge
from .thresholds import EQUAL, LARGE, NEAR_100, SMALL

PAPER_DIM, PAPER_SECONDS = 128, {ICD_NAME: 24.0, IALS_NAME: 2.0}  # of an epoch on ML20M
AT_ALL = f"at a d below {SMALL} and one of at least {LARGE}"


@dataclass(frozen=True, slots=True)
class Step:
    """Both solvers at one d: how many times as long the first takes, and where that comes from."""

    slow: Configuration
    fast: Configuration
    factor: float
    reason: str


@dataclass(frozen=True, slots=True)
class Lead:
    """How many times as long `slow` takes as `fast`, at each d where both were measured, ascending."""

    slow: str
    fast: str
    how: str  # "timed" or "trained"
    steps: dict[int, Step]

    def among(self, wanted: Callable[[int], bool]) -> Lead:
        """At those d alone."""
        return replace(self, steps={dim: step for dim, step in self.steps.items() if wanted(dim)})

    def nearest(self, dim: int, low: int, high: int) -> Lead:
        """At the d nearest to `dim`, if there is one from `low` to `high`."""
        near = sorted((d for d in self.steps if low <= d <= high), key=lambda d: abs(d - dim))
        return self.among(lambda d: d in near[:1])

    @property
    def factors(self) -> dict[int, float]:
        """By d."""
        return {dim: step.factor for dim, step in self.steps.items()}

    @property
    def told(self) -> str:
        """In words, with the block sizes of iALS++, which is never the slow one."""
        if not self.steps:
            return ""
        factors = {dim: times(factor) for dim, factor in self.factors.items()}
        told = f"{self.fast} {at_dims(factors, f'as fast as {self.slow}')}"
        return told + (self._blocks() if self.fast == IALSPP_NAME else "")

    def _blocks(self) -> str:
        blocks = [str(step.fast.block) for step in self.steps.values()]
        return f" (block {blocks[0]})" if len(set(blocks)) == 1 else f" (blocks {', '.join(blocks)})"

    def needed(self, where: str) -> Finding:
        """Not enough was measured."""
        return needs(f"{self.slow} and {self.fast} {self.how} {where}", self.told)

    def at_least(
        self, factor: float, where: str, enough: Callable[[Collection[int]], bool] = bool
    ) -> Finding:
        """Whether it is so large at each d; to hold, it needs `enough` d, which `where` says in words."""
        short = {dim: f for dim, f in self.factors.items() if f < factor}
        if short:
            worst = min(short, key=short.__getitem__)
            return Finding(self.told, False, f"less than {times(factor)}: {self.steps[worst].reason}")
        return Finding(self.told, True) if enough(self.steps) else self.needed(where)

    def grows(self, where: str, enough: Callable[[Collection[int]], bool]) -> Finding:
        """Whether it grows with d; unless it falls, that needs `enough` d, which `where` says in words."""
        dims = list(self.steps)
        falls = [
            (low, high) for low, high in pairwise(dims) if self.factors[high] * EQUAL < self.factors[low]
        ]
        if not falls and not enough(dims):
            return self.needed(where)
        if not falls and self.factors[dims[-1]] > EQUAL * self.factors[dims[0]]:
            return Finding(self.told, True)
        low, high = falls[0] if falls else (dims[0], dims[-1])
        return Finding(
            self.told,
            False,
            f"no larger at d = {high} than at d = {low}: {self.steps[low].reason}; {self.steps[high].reason}",
        )


def is_small(dim: int) -> bool:
    """As the paper calls it."""
    return dim < SMALL


def is_large(dim: int) -> bool:
    """The same."""
    return dim >= LARGE


def beyond_100(dim: int) -> bool:
    """Larger than the d about 100 at which the paper calls iALS as good as iALS++."""
    return dim > NEAR_100[1]


def spans(dims: Collection[int]) -> bool:
    """Whether both small and large d are among them."""
    return any(map(is_small, dims)) and reaches_large(dims)


def reaches_large(dims: Collection[int]) -> bool:
    """Whether large d are among them."""
    return any(map(is_large, dims))


def larger(first: Lead, second: Lead, slow: str, fast: str) -> Lead:
    """The larger of two leads, at each d that has both; `slow` and `fast` say whose it is."""
    shared = [dim for dim in first.steps if dim in second.steps]
    steps = {dim: max(first.steps[dim], second.steps[dim], key=lambda step: step.factor) for dim in shared}
    return Lead(slow, fast, first.how, steps)


def epoch_lead(run: Run, slow: str, fast: str, block: int | None = None) -> Lead:
    """Of an epoch; `block` is that of iALS++, else its fastest at each d."""
    steps = {}
    for dim in run.timed_dims():
        first, second = (timed(run, solver, dim, block) for solver in (slow, fast))
        if first is not None and second is not None:
            factor = seconds_of(run, first) / seconds_of(run, second)
            steps[dim] = Step(first, second, factor, rates(run, first, second))
    return Lead(slow, fast, "timed" if block is None else f"(block {block}) timed", steps)


def wall_lead(run: Run, slow: str, fast: str) -> Lead:
    """Of the time until a training has converged, evaluation not counted; iALS++ with its fastest block."""
    steps = {}
    for dim in run.trained_dims():
        first, second = (trained(run, solver, dim) for solver in (slow, fast))
        if first is not None and second is not None:
            factor = seconds_to_converge(run, first) / seconds_to_converge(run, second)
            reason = f"{_pace(run, first)}, {_pace(run, second)}, d = {dim}"
            steps[dim] = Step(first, second, factor, reason)
    return Lead(slow, fast, "trained", steps)


def timed(run: Run, solver: str, dim: int, block: int | None = None) -> Configuration | None:
    """The solver as it was timed at this d."""
    if solver == IALSPP_NAME and block is None:
        block = run.fastest_block(dim)
    own = Configuration(dim, {ICD_NAME: 1, IALS_NAME: dim}.get(solver, block))
    return own if own.solver == solver and run.seconds(own.dim, own.block) is not None else None


def trained(run: Run, solver: str, dim: int) -> Configuration | None:
    """The solver as it was trained at this d: the block that converged first."""
    own = [c for c in run.trained() if c.dim == dim and c.solver == solver and learned(run, c)]
    return min(own, key=lambda c: seconds_to_converge(run, c)) if own else None


def seconds_of(run: Run, configuration: Configuration) -> float:
    """Of an epoch that was timed."""
    seconds = run.seconds(configuration.dim, configuration.block)
    assert seconds is not None
    return seconds


def rate(run: Run, configuration: Configuration) -> float:
    """Operations of its formula that a solver does in a second."""
    return work_on(run.data, configuration) / seconds_of(run, configuration)


def paper_rate(solver: str) -> float | None:
    """The same in the paper, at d = 128 on ML20M; None for what it gives no seconds of."""
    if solver not in PAPER_SECONDS:
        return None
    users, items, interactions = PAPER_COUNTS["ml-20m"]
    block = {ICD_NAME: 1, IALS_NAME: PAPER_DIM}[solver]
    return work(Configuration(PAPER_DIM, block), interactions, users + items) / PAPER_SECONDS[solver]


def rates(run: Run, slow: Configuration, fast: Configuration) -> str:
    """Where the ratio of two epochs comes from: how much work, and how much of it in a second."""
    ratio = rate(run, fast) / rate(run, slow)
    more = work_on(run.data, fast) / work_on(run.data, slow)
    told = f"{told_rate(run, slow)}; {told_rate(run, fast)}: {number(ratio)} times as many"
    paper = ""
    if {slow.solver, fast.solver} == set(PAPER_SECONDS):
        factor = PAPER_SECONDS[ICD_NAME] / PAPER_SECONDS[IALS_NAME]
        paper = f" (the paper at d = {PAPER_DIM}: {number(factor * PAPER_DIM)}, which is {times(factor)})"
    return f"{told}, for {number(more)} times the work{paper}"


def told_rate(run: Run, configuration: Configuration) -> str:
    """Seconds of an epoch and operations in a second, beside the paper's where it has them."""
    own, paper = rate(run, configuration), paper_rate(configuration.solver)
    beside = "" if paper is None else f", {times(own / paper)} the paper's at d = {PAPER_DIM}"
    return f"{configuration}: {duration(seconds_of(run, configuration))}, {number(own / 1e9)} Gop/s{beside}"


def _pace(run: Run, configuration: Configuration) -> str:
    epochs = epochs_to_converge(run, configuration)
    seconds = seconds_to_converge(run, configuration)
    return f"{configuration.solver} takes {epochs:.1f} epochs of {duration(seconds / epochs)}"
