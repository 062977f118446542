"""What bench.py measured, as it is saved; and the tables printed from it."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

WITHIN = 1.001  # of the lowest loss known
COUNTERPARTS = {"ials++": "ials++", "cholesky": "ials"}  # a peer's solver: ours to compare it with
DEFAULT_SOLVER = "spectral"  # ours to compare all others with


@dataclass
class Reference:
    """L*, the lowest loss known of one objective on one data set at one dimension."""

    data: str
    dim: int
    loss_name: str
    settings: str
    epochs: int  # of our default solver, from which L* comes unless a raced system went lower
    loss: float
    found_by: str

    def is_for(self, other: Reference) -> bool:
        names = ("data", "dim", "loss_name", "settings")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def lower_to(self, loss: float, system: str) -> None:
        if loss < self.loss:
            self.loss, self.found_by = loss, system


@dataclass
class Run:
    """One system at one dimension, epoch by epoch."""

    system: str
    dim: int
    data: str
    loss_name: str
    start_seconds: float
    only_timed: bool = False  # a few epochs, not run towards L*
    seconds: list[float] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    lowest: float | None = None  # L* when the race was over
    epochs_to_loss: int | None = None  # until within 0.1 % of L*
    seconds_to_loss: float | None = None  # those of the start included
    share_of_limit: float | None = None
    peak_mb: float | None = None
    least_mb: float | None = None

    @property
    def key(self) -> tuple[str, str, int]:
        return self.system, self.data, self.dim

    @property
    def spent(self) -> float:
        return self.start_seconds + sum(self.seconds)

    def reached(self, lowest: float) -> int | None:
        """The first epoch whose loss is within 0.1 % of the lowest."""
        return next((i for i, loss in enumerate(self.loss, 1) if loss <= WITHIN * lowest), None)

    def settle(self, lowest: float) -> None:
        self.lowest = lowest
        self.epochs_to_loss = None if self.only_timed else self.reached(lowest)
        if self.epochs_to_loss is not None:
            self.seconds_to_loss = self.start_seconds + sum(self.seconds[: self.epochs_to_loss])


def print_table(runs: list[Run]) -> None:
    print(
        f"{'d':>5}  {'system':24} {'start s':>8} {'best s':>8} {'median s':>8} {'above L*':>9} {'recall':>7} "
        f"{'epochs':>7} {'to loss s':>10} {'limit':>6}"
    )
    for run in runs:
        share = f"{run.share_of_limit:6.0%}" if run.share_of_limit else f"{'':6}"
        peak = f"  {run.peak_mb:6.0f} MB of {run.least_mb:6.0f}" if run.peak_mb else ""
        print(
            f"{run.dim:5}  {run.system:24} {run.start_seconds:8.2f} {min(run.seconds):8.3f} "
            f"{statistics.median(run.seconds):8.3f} {run.loss[-1] / run.lowest - 1:9.3%} "
            f"{recall_text(run):>7} {epochs_text(run):>7} {seconds_text(run):>10} {share}{peak}",
            flush=True,
        )


def recall_text(run: Run) -> str:
    return f"{run.recall[-1]:.4f}" if run.recall else ""  # a program whose factors cannot be read has none


def epochs_text(run: Run) -> str:
    if run.only_timed:
        return ""
    return f"> {len(run.seconds)}" if run.epochs_to_loss is None else str(run.epochs_to_loss)


def seconds_text(run: Run) -> str:
    if run.only_timed:
        return ""
    return f"> {run.spent:.2f}" if run.seconds_to_loss is None else f"{run.seconds_to_loss:.2f}"


def print_ratios(runs: list[Run]) -> None:
    """Their seconds divided by ours: above 1, ours is faster."""
    pairs = [
        (run, own) for run in runs if not run.system.startswith("ours") for own in counterparts(run, runs)
    ]
    if not pairs:
        return
    print(f"{'d':>5}  {'theirs / ours':44} {'best':>8} {'median':>8} {'to loss':>10}")
    for theirs, own in pairs:
        best = min(theirs.seconds) / min(own.seconds)
        median = statistics.median(theirs.seconds) / statistics.median(own.seconds)
        names = f"{theirs.system} / {own.system}"
        to_loss = ratio_to_loss(theirs, own)
        print(f"{theirs.dim:5}  {names:44} {best:8.2f} {median:8.2f} {to_loss:>10}", flush=True)


def counterparts(run: Run, runs: list[Run]) -> list[Run]:
    """Our runs that minimise the same loss: with the same kind of solver, and with our default."""
    solver = run.system.partition("/")[2].partition(":")[0]
    wanted = {COUNTERPARTS.get(solver, DEFAULT_SOLVER), DEFAULT_SOLVER}
    return [
        other
        for other in runs
        if other.system.startswith("ours")
        and other.system.partition("/")[2] in wanted
        and (other.dim, other.data, other.loss_name) == (run.dim, run.data, run.loss_name)
    ]


def ratio_to_loss(theirs: Run, own: Run) -> str:
    if theirs.only_timed or own.only_timed:
        return ""
    if theirs.seconds_to_loss is None and own.seconds_to_loss is None:
        return "-"
    bound = ">" if theirs.seconds_to_loss is None else "<" if own.seconds_to_loss is None else ""
    ratio = (theirs.seconds_to_loss or theirs.spent) / (own.seconds_to_loss or own.spent)
    return f"{bound} {ratio:.2f}".strip()
