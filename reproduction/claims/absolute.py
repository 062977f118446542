"""Claims in seconds and in sizes, which need all of the data that the paper measured."""

from ..grid import Configuration
from ..published import PAPER_COUNTS
from ..run import Data, Run
from .dims import Dims
from .findings import Finding, Judge, decided, duration, needs, times
from .leads import PAPER_DIM, timed_at, told_rate
from .thresholds import EQUAL, FULL, TWICE

ML20M, MSD = "ml-20m", "msd"
ML20M_HOLDOUT, MORE_HOLDOUT = 10_000, 5  # test users of the strong split, and how many times as many MSD has
EARLIER_PAIRS, EARLIER_ROWS = (9_617_414, 5_020_705), (289_493, 192_565)  # in the studies the paper quotes


def on_all_of(judge: Judge, *names: str) -> Judge:
    """Judge only on all of one of these data sets, or on generated data of its shape."""
    options = ", ".join(f"{name}, synthetic:{name.replace('-', '')}" for name in names)
    missing = needs(f"all of the data (one of {options}, --scale 1)")
    return lambda run: judge(run) if any(_is_all_of(run.data, name) for name in names) else missing


def _is_all_of(data: Data, name: str) -> bool:
    known = data.name in (name, f"synthetic:{name.replace('-', '')}")
    return known and data.scale == 1 and data.interactions >= FULL * PAPER_COUNTS[name][2]


def takes_at_most(most: float, epochs: int, solver: str, dims: Dims, *names: str) -> Judge:
    """Judge whether so many epochs take at most so many seconds; iALS++ with its fastest block."""

    def judge(run: Run) -> Finding:
        own = [timed_at(run, solver, dim) for dim in dims.among(run.timed_dims())]
        if not own or own[0] is None:
            return needs(f"{solver} timed {dims.words}")
        timed = own[0]
        seconds = epochs * run.known_seconds(timed)
        return decided(f"{duration(seconds)}, {timed}", seconds <= most, _speed(run, timed))

    return on_all_of(judge, *names)


def compares_with_earlier(solver: str, earlier: tuple[float, ...], low: float, high: float) -> Judge:
    """Judge whether an epoch is from `low` to `high` times as fast as in earlier studies."""

    def judge(run: Run) -> Finding:
        own = timed_at(run, solver, PAPER_DIM)
        if own is None:
            return needs(f"{solver} timed at d = {PAPER_DIM}")
        seconds = run.known_seconds(own)
        factors = [other / seconds for other in earlier]
        told = f"{duration(seconds)}: {' and '.join(map(times, factors))} as fast"
        holds = all(low <= factor <= high for factor in factors)
        return decided(told, holds, _speed(run, own))

    return on_all_of(judge, ML20M)


def _speed(run: Run, configuration: Configuration) -> str:
    return f"{told_rate(run, configuration)}, on {run.machine.threads} threads of {run.machine.cpu}"


def has_more_holdout_users(run: Run) -> Finding:
    factor = run.data.test_users / ML20M_HOLDOUT
    told = f"{run.data.test_users:,} beside {ML20M_HOLDOUT:,}: {times(factor)}"
    holds = 1 / EQUAL <= factor / MORE_HOLDOUT <= EQUAL
    return decided(told, holds, f"{run.data.test_users:,} here")


def has_sizes_of_earlier(run: Run) -> Finding:
    """Judge whether earlier studies have half the pairs of ML20M or more, and at most twice the rows."""
    rows = run.data.users + run.data.items
    pairs, more_rows = run.data.interactions / min(EARLIER_PAIRS), max(EARLIER_ROWS) / rows
    told = f"{times(pairs)} their pairs; theirs are {times(more_rows)} the users and items"
    sizes = f"|S| = {run.data.interactions:,} and |U|+|I| = {rows:,} here"
    return decided(told, max(pairs, more_rows) <= TWICE, sizes)


def is_larger_than_earlier(run: Run) -> Finding:
    rows = run.data.users + run.data.items
    told = f"|S| = {run.data.interactions:,}, |U|+|I| = {rows:,}"
    holds = run.data.interactions > max(EARLIER_PAIRS) and rows > max(EARLIER_ROWS)
    return decided(told, holds, f"the earlier: up to {max(EARLIER_PAIRS):,}, {max(EARLIER_ROWS):,}")
