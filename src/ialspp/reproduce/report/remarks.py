"""What a report says about a run as a whole: which claims hold, what was left out, how it was measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from ..claims import Verdict
from ..grid import Configuration, TimingTask, TrainingTask
from ..run import Run
from ..schedule import LONG
from .document import Cell, Table
from .results import block_name

HOLDS = {
    True: Cell("✓ holds", "holds"),
    False: Cell("✗ does not hold", "fails"),
    None: Cell("— not measured", "unmeasured"),
}

# Claims


def claims_table(verdicts: Sequence[Verdict]) -> Table:
    """Every claim beside what was measured."""
    rows = tuple(
        (
            str(each.claim.number),
            each.claim.where,
            each.claim.sentence,
            each.claim.paper,
            each.ours,
            HOLDS[each.holds],
            each.why,
        )
        for each in verdicts
    )
    columns = ("no.", "where", "what the paper says", "paper", "here", "verdict", "why")
    return Table("The paper's claims, and what was measured here", columns, rows, words=columns)


def claims_summary(verdicts: Sequence[Verdict]) -> str:
    """How many hold, of how many."""
    measured = [each for each in verdicts if each.holds is not None]
    if not measured:
        return f"None of the paper's {len(verdicts)} claims could be measured here."
    holding = sum(each.holds is True for each in measured)
    rest = len(verdicts) - len(measured)
    unmeasured = f" Not measured: {rest}." if rest else ""
    return f"{holding} of {len(measured)} claims measured here hold.{unmeasured}"


# What was left out


def left_out(run: Run) -> tuple[str, ...]:
    """What the grid has and nobody measured, in few lines."""
    missing = run.left_out()
    timings = [task for task in missing if isinstance(task, TimingTask)]
    trainings = [task for task in missing if isinstance(task, TrainingTask)]
    return (
        *_grouped(run, [(task.configuration, task.share) for task in timings], _timing_words),
        *_grouped(run, [(task.configuration, float(task.seed)) for task in trainings], _training_words),
    )


def _grouped(
    run: Run, missing: Sequence[tuple[Configuration, float]], words: Callable[[list[float]], str]
) -> list[str]:
    """A line for all configurations of one d that lack the same: shares of the pairs, or seeds."""
    lacking: dict[Configuration, list[float]] = defaultdict(list)
    for configuration, what in missing:
        lacking[configuration].append(what)
    groups: dict[tuple[int, tuple[float, ...]], list[Configuration]] = defaultdict(list)
    for configuration, lacks in lacking.items():
        groups[configuration.dim, tuple(sorted(lacks))].append(configuration)
    return [
        f"{words(list(lacks))}, d = {dim}: {_named(own, run.asked(dim))}"
        for (dim, lacks), own in sorted(groups.items())
    ]


def _timing_words(shares: list[float]) -> str:
    if shares == [1.0]:
        return "timing"
    parts = ["all" if share == 1 else f"{share:g}" for share in shares]
    return f"timing on {' and '.join(parts)} of the pairs"


def _training_words(seeds: list[float]) -> str:
    return f"training from seed{'s' if len(seeds) > 1 else ''} {', '.join(f'{seed:g}' for seed in seeds)}"


def _named(own: Sequence[Configuration], grid: Sequence[Configuration]) -> str:
    if len(own) == len(grid):
        return "everything"
    names = [block_name(each) for each in own]
    sizes = [place for place, name in enumerate(names) if name.isdigit()]
    if sizes:
        names[sizes[0]] = f"block{'s' if len(sizes) > 1 else ''} {names[sizes[0]]}"
    return ", ".join(names)


# How it was measured


def machine_table(run: Run) -> Table:
    """Where, with what, and when."""
    columns = ("", "here")
    rows = (*machine_facts(run).items(), ("begun", run.date))
    return Table("Where and when", columns, rows, words=columns)


def machine_facts(run: Run) -> dict[str, str]:
    """By name."""
    machine = run.machine
    return {
        "processor": machine.cpu,
        "threads": str(machine.threads),
        "instruction set": machine.isa,
        "version of ialspp": machine.version,
    }


def what_a_second_counts(runs: Sequence[Run]) -> str:
    """In words."""
    rounds = 1 + max((timing.task.round for run in runs for timing in run.timings), default=0)
    often = "once"
    if rounds > 1:
        often = f"in up to {rounds} rounds, interleaved, and the fastest counts; beyond {LONG:g} s only once"
    return (
        "The seconds of an epoch are those of its updates of users and items and of its exact loss, on all "
        f"threads. Neither reading the data nor evaluation counts. Each configuration was timed {often}. "
        "Convergence over wall time adds up the epochs of the trainings themselves."
    )
