"""A run: everything measured on one data set with one set of settings, and the questions reports ask it."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean

from .grid import IALSPP, Configuration, Grid, Task, TimingTask, TrainingTask


@dataclass(frozen=True, slots=True)
class Timing:
    """How long one epoch took."""

    task: TimingTask
    seconds: float


@dataclass(frozen=True, slots=True)
class Training:
    """The seconds, the loss and the quality of every epoch of a training."""

    task: TrainingTask
    seconds: tuple[float, ...]  # without evaluation
    loss: tuple[float, ...]
    metrics: dict[str, tuple[float, ...]]  # "ndcg@100" to its value after each epoch
    evaluating: float  # seconds of all evaluations


Measurement = Timing | Training


@dataclass(frozen=True, slots=True)
class Data:
    """The counts of the data and of its split."""

    name: str  # "ml-20m", "synthetic:ml20m", or the name of a file
    protocol: str  # "strong", "weak" or "leave-one-out"
    scale: float
    users: int
    items: int
    interactions: int
    train_users: int
    train_items: int
    train_interactions: int
    test_users: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Settings:
    """What all configurations of a run share."""

    regularization: float
    unobserved_weight: float
    exponent: float
    init_stddev: float
    epochs: int
    sweep: str  # the order of iALS++
    metrics: tuple[str, ...]  # the last one is drawn over epochs and time
    chosen_by: str  # where the hyperparameters come from, in words


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine and the version of ialspp."""

    cpu: str
    threads: int
    isa: str
    version: str


@dataclass(frozen=True, slots=True)
class Run:
    """The content of a file of measurements."""

    data: Data
    settings: Settings
    machine: Machine
    date: str  # when it began
    commands: tuple[str, ...]
    grids: tuple[Grid, ...]  # what was requested
    timings: tuple[Timing, ...]
    trainings: tuple[Training, ...]

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        return (*self.timings, *self.trainings)

    # Times

    def seconds(self, configuration: Configuration, share: float = 1.0) -> float | None:
        """Return the fastest timed epoch, None where none was timed."""
        wanted = configuration, share
        own = (t.seconds for t in self.timings if (t.task.configuration, t.task.share) == wanted)
        return min(own, default=None)

    def timed(self) -> list[Configuration]:
        """List what was timed on all pairs, ordered as by `ordered`."""
        return ordered(t.task.configuration for t in self.timings if t.task.share == 1)

    def timed_dims(self) -> list[int]:
        return sorted({each.dim for each in self.timed()})

    def timed_with(self, solver: str, block: int | None = None) -> list[Configuration]:
        """List those of one solver by d; `block` is only for "iALS++"."""
        return [c for c in self.timed() if c.solver == solver and (solver != IALSPP or c.block == block)]

    def over_blocks(self, dim: int) -> dict[int, float]:
        """Map the block size to the seconds of an epoch at one d: 1 is iCD, d is iALS."""
        return {c.block: self.known_seconds(c) for c in self.timed() if c.dim == dim and c.block is not None}

    def over_shares(self, configuration: Configuration) -> dict[float, float]:
        """Map the share of the interactions to the seconds of an epoch, ascending."""
        shares = sorted({t.task.share for t in self.timings if t.task.configuration == configuration})
        return {share: self.known_seconds(configuration, share) for share in shares}

    def fastest_block(self, dim: int) -> int | None:
        """Return the block size of iALS++ (neither 1 nor d) with the fastest epoch at this d."""
        own = {block: seconds for block, seconds in self.over_blocks(dim).items() if 1 < block < dim}
        return min(own, key=own.__getitem__) if own else None

    def known_seconds(self, configuration: Configuration, share: float = 1.0) -> float:
        """Return the fastest epoch of what is known to have been timed."""
        seconds = self.seconds(configuration, share)
        assert seconds is not None
        return seconds

    # Quality

    @property
    def main_metric(self) -> str:
        return self.settings.metrics[-1]

    def trained(self) -> list[Configuration]:
        """List what was trained, ordered as by `ordered`."""
        return ordered(t.task.configuration for t in self.trainings)

    def trained_dims(self) -> list[int]:
        return sorted({each.dim for each in self.trained()})

    def trainings_of(self, configuration: Configuration) -> list[Training]:
        own = [t for t in self.trainings if t.task.configuration == configuration]
        return sorted(own, key=lambda t: t.task.seed)

    def final(self, metric: str, configuration: Configuration) -> list[float]:
        """List the quality after the last epoch for each seed."""
        return [t.metrics[metric][-1] for t in self.trainings_of(configuration)]

    def quality_by_epoch(self, metric: str, configuration: Configuration) -> list[float]:
        """List the mean over seeds after each epoch."""
        trainings = self.trainings_of(configuration)
        return [fmean(values) for values in zip(*(t.metrics[metric] for t in trainings), strict=True)]

    def elapsed(self, configuration: Configuration) -> list[float]:
        """List the seconds of training until the end of each epoch, the mean over seeds."""
        epochs = zip(*(t.seconds for t in self.trainings_of(configuration)), strict=True)
        return list(accumulate(map(fmean, epochs)))

    # What is missing

    def requested(self, dim: int) -> list[Configuration]:
        """List what was requested at this d, ordered as by `ordered`."""
        return ordered(c for grid in self.grids if dim in grid.dims for c in grid.configurations(dim))

    def left_out(self) -> list[Task]:
        """List what was requested and not measured; further rounds of a timing do not count."""
        timed = {(t.task.configuration, t.task.share) for t in self.timings}
        trained = {t.task for t in self.trainings}
        timings = [task for grid in self.grids for task in grid.timings() if task.round == 0]
        trainings = [task for grid in self.grids for task in grid.trainings() if task not in trained]
        untimed = [task for task in timings if (task.configuration, task.share) not in timed]
        return list(dict.fromkeys([*untimed, *trainings]))


def metric_label(metric: str) -> str:
    """Write a metric as the paper does: "capped_recall@20" is Recall@20."""
    names = {"capped_recall": "Recall", "recall": "Recall", "ndcg": "NDCG", "hit_rate": "HR"}
    name, at, cutoff = metric.partition("@")
    return names.get(name, name) + at + cutoff


def ordered(configurations: Iterable[Configuration]) -> list[Configuration]:
    """Sort by dimension and block, SpectralCG last at each dimension, without repetitions."""
    return sorted(set(configurations), key=lambda c: (c.dim, c.block is None, c.block or 0))
