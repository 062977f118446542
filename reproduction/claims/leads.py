"""How many times as fast one solver is as another at each d, for an epoch or until it has converged."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..complexity import work, work_on
from ..grid import IALS, IALSPP, ICD, Configuration
from ..published import PAPER_COUNTS
from ..run import Run
from .dims import Dims
from .findings import Finding, at_dims, duration, needs, number, times
from .reached import epochs_to_converge, seconds_to_converge, trained_with

PAPER_DIM, PAPER_SECONDS = 128, {ICD: 24.0, IALS: 2.0}  # of an epoch on ML20M


@dataclass(frozen=True, slots=True)
class Step:
    """Both solvers at one d: how many times as long the slow one takes, and the reason."""

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

    def among(self, dims: Dims) -> Lead:
        return replace(self, steps={dim: self.steps[dim] for dim in dims.among(self.steps)})

    @property
    def factors(self) -> dict[int, float]:
        return {dim: step.factor for dim, step in self.steps.items()}

    @property
    def told(self) -> str:
        """Our value in words, with the block sizes of iALS++, which is never the slow one."""
        if not self.steps:
            return ""
        factors = {dim: times(factor) for dim, factor in self.factors.items()}
        told = f"{self.fast} {at_dims(factors, f'as fast as {self.slow}')}"
        return told + (self._blocks() if self.fast == IALSPP else "")

    def _blocks(self) -> str:
        blocks = [str(step.fast.block) for step in self.steps.values()]
        return f" (block {blocks[0]})" if len(set(blocks)) == 1 else f" (blocks {', '.join(blocks)})"

    def needed(self, words: str) -> Finding:
        """Leave the claim open: not enough was measured."""
        return needs(f"{self.slow} and {self.fast} {self.how} {words}", self.told)

    def at_least(self, factor: float, dims: Dims) -> Finding:
        """Judge whether the factor is so large at each of these d."""
        own = self.among(dims)
        short = {dim: f for dim, f in own.factors.items() if f < factor}
        if short:
            worst = min(short, key=short.__getitem__)
            reason = f"{times(short[worst])} at d = {worst} is less than {times(factor)}"
            return Finding(own.told, False, f"{reason}. {own.steps[worst].reason}")
        return Finding(own.told, True) if dims.enough(own.steps) else own.needed(dims.words)


def larger(first: Lead, second: Lead, slow: str, fast: str) -> Lead:
    """Take the larger of two leads at each d that has both; `slow` and `fast` name it."""
    shared = [dim for dim in first.steps if dim in second.steps]
    steps = {dim: max(first.steps[dim], second.steps[dim], key=lambda step: step.factor) for dim in shared}
    return Lead(slow, fast, first.how, steps)


def epoch_lead(run: Run, slow: str, fast: str, block: int | None = None) -> Lead:
    """Compare epochs; `block` is that of iALS++, else its fastest at each d."""
    steps = {}
    for dim in run.timed_dims():
        first, second = (timed_at(run, solver, dim, block) for solver in (slow, fast))
        if first is not None and second is not None:
            factor = run.known_seconds(first) / run.known_seconds(second)
            steps[dim] = Step(first, second, factor, _rates(run, first, second))
    return Lead(slow, fast, "timed" if block is None else f"(block {block}) timed", steps)


def timed_at(run: Run, solver: str, dim: int, block: int | None = None) -> Configuration | None:
    """Find the solver as it was timed at this d, iALS++ with its fastest block unless one is given."""
    if solver == IALSPP and block is None:
        block = run.fastest_block(dim)
    own = Configuration(dim, {ICD: 1, IALS: dim}.get(solver, block))
    return own if own.solver == solver and run.seconds(own) is not None else None


def convergence_lead(run: Run, slow: str, fast: str) -> Lead:
    """Compare the seconds of training until convergence; iALS++ with the block that converged first."""
    steps = {}
    for dim, own in trained_with(run, slow, fast).items():
        seconds = {each: seconds_to_converge(run, each) for each in own}
        first, second = (
            min((each for each in own if each.solver == solver), key=seconds.__getitem__)
            for solver in (slow, fast)
        )
        reason = f"At d = {dim}, {_pace(run, first)}, {_pace(run, second)}"
        steps[dim] = Step(first, second, seconds[first] / seconds[second], reason)
    return Lead(slow, fast, "trained", steps)


def _pace(run: Run, configuration: Configuration) -> str:
    epochs = epochs_to_converge(run, configuration)
    seconds = seconds_to_converge(run, configuration)
    return f"{configuration.solver} takes {epochs:.1f} epochs of {duration(seconds / epochs)}"


def _rates(run: Run, slow: Configuration, fast: Configuration) -> str:
    """Explain the ratio of two epochs by the work of each and its operations per second."""
    ratio = _rate(run, fast) / _rate(run, slow)
    more = work_on(run.data, fast) / work_on(run.data, slow)
    paper = ""
    if (slow.solver, fast.solver) == (ICD, IALS):
        factor = PAPER_SECONDS[ICD] / PAPER_SECONDS[IALS]
        paper = f"; in the paper {number(factor * PAPER_DIM)} times at d = {PAPER_DIM}, hence {times(factor)}"
    return (
        f"{told_rate(run, slow)}; {told_rate(run, fast)}. {fast.solver} does {number(ratio)} times as many "
        f"operations per second, for {number(more)} times the work{paper}"
    )


def told_rate(run: Run, configuration: Configuration) -> str:
    """Tell the seconds of an epoch and its operations per second, relative to the paper's where known."""
    own, paper = _rate(run, configuration), _paper_rate(configuration.solver)
    beside = "" if paper is None else f" ({times(own / paper)} the paper's rate at d = {PAPER_DIM})"
    seconds = duration(run.known_seconds(configuration))
    return f"{configuration} takes {seconds} at {number(own / 1e9)} Gop/s{beside}"


def _rate(run: Run, configuration: Configuration) -> float:
    return work_on(run.data, configuration) / run.known_seconds(configuration)


def _paper_rate(solver: str) -> float | None:
    """Return the operations per second in the paper, at d = 128 on ML20M; None where it gives no time."""
    if solver not in PAPER_SECONDS:
        return None
    users, items, interactions = PAPER_COUNTS["ml-20m"]
    block = {ICD: 1, IALS: PAPER_DIM}[solver]
    return work(Configuration(PAPER_DIM, block), interactions, users + items) / PAPER_SECONDS[solver]
