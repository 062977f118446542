"""A run: all that was measured on one data set with one set of settings, and the questions one asks of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from .grid import IALSPP_NAME, Configuration, Grid, Task, TimingTask, TrainingTask


@dataclass(frozen=True, slots=True)
class Timing:
    """How long one epoch took."""

    task: TimingTask
    seconds: float


@dataclass(frozen=True, slots=True)
class Training:
    """What every epoch of a training left: its seconds, the loss, and the quality by metric."""

    task: TrainingTask
    seconds: tuple[float, ...]  # of the epochs alone
    loss: tuple[float, ...]
    metrics: dict[str, tuple[float, ...]]  # "ndcg@100" to its value after each epoch
    evaluating: float  # seconds that all evaluations took


Measurement = Timing | Training


@dataclass(frozen=True, slots=True)
class Data:
    """What was trained on and asked for."""

    name: str  # "ml-20m", "synthetic:ml20m", or of a file its name
    protocol: str  # "strong", "weak" or "leave-one-out"
    scale: float
    users: int
    items: int
    interactions: int
    train_users: int  # of the part that is trained on; its items are `train_items`
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
    metrics: tuple[str, ...]  # the last is the one drawn over epochs and time
    chosen_by: str  # where the hyperparameters come from, in words


@dataclass(frozen=True, slots=True)
class Machine:
    """Where it was measured, and with what."""

    cpu: str
    threads: int
    isa: str
    version: str  # of ialspp


@dataclass(frozen=True, slots=True)
class Run:
    """Everything that is in a file of measurements."""

    name: str  # in the legends of a comparison
    data: Data
    settings: Settings
    machine: Machine
    date: str  # the day it began
    commands: tuple[str, ...]  # as typed, each once
    grids: tuple[Grid, ...]  # what was asked for, each once
    timings: tuple[Timing, ...]
    trainings: tuple[Training, ...]

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """All of them."""
        return (*self.timings, *self.trainings)

    # Times

    def seconds(self, dim: int, block: int | None, share: float = 1.0) -> float | None:
        """Of an epoch: the best of its rounds; None where it was not timed."""
        wanted = Configuration(dim, block), share
        return min(
            (t.seconds for t in self.timings if (t.task.configuration, t.task.share) == wanted), default=None
        )

    def timed(self) -> list[Configuration]:
        """What was timed on all of the pairs, by dimension and block, SpectralCG last at each dimension."""
        return ordered(t.task.configuration for t in self.timings if t.task.share == 1)

    def timed_dims(self) -> list[int]:
        """Ascending."""
        return sorted({each.dim for each in self.timed()})

    def over_dims(self, solver: str, block: int | None = None) -> dict[int, float]:
        """Seconds of an epoch for each d; `block` is for "iALS++" alone, whose blocks are less than d."""
        own = [c for c in self.timed() if c.solver == solver and (solver != IALSPP_NAME or c.block == block)]
        return {c.dim: self._known(c) for c in own}

    def over_blocks(self, dim: int) -> dict[int, float]:
        """Seconds of an epoch for each block size at one d, iCD and iALS at its ends where timed."""
        return {c.block: self._known(c) for c in self.timed() if c.dim == dim and c.block is not None}

    def over_shares(self, configuration: Configuration) -> dict[float, float]:
        """Seconds of an epoch for each share of the interactions, ascending."""
        shares = sorted({t.task.share for t in self.timings if t.task.configuration == configuration})
        return {share: self._known(configuration, share) for share in shares}

    def fastest_block(self, dim: int) -> int | None:
        """The block size of iALS++ proper (neither 1 nor d) with the fastest epoch at this d."""
        own = {block: s for block, s in self.over_blocks(dim).items() if 1 < block < dim}
        return min(own, key=own.__getitem__) if own else None

    def _known(self, configuration: Configuration, share: float = 1.0) -> float:
        seconds = self.seconds(configuration.dim, configuration.block, share)
        assert seconds is not None
        return seconds

    # Quality

    @property
    def main_metric(self) -> str:
        """The one drawn over epochs and time."""
        return self.settings.metrics[-1]

    def trained(self) -> list[Configuration]:
        """What was trained, ordered as `timed`."""
        return ordered(t.task.configuration for t in self.trainings)

    def trained_dims(self) -> list[int]:
        """Ascending."""
        return sorted({each.dim for each in self.trained()})

    def trainings_of(self, configuration: Configuration) -> list[Training]:
        """By seed."""
        own = [t for t in self.trainings if t.task.configuration == configuration]
        return sorted(own, key=lambda t: t.task.seed)

    def final(self, metric: str, configuration: Configuration) -> list[float]:
        """After the last epoch, for each seed."""
        return [t.metrics[metric][-1] for t in self.trainings_of(configuration)]

    def curve(self, metric: str, configuration: Configuration) -> list[float]:
        """After each epoch, the mean over seeds."""
        trainings = self.trainings_of(configuration)
        return [fmean(values) for values in zip(*(t.metrics[metric] for t in trainings), strict=True)]

    def elapsed(self, configuration: Configuration) -> list[float]:
        """Seconds of training until the end of each epoch, the mean over seeds."""
        seconds = [fmean(s) for s in zip(*(t.seconds for t in self.trainings_of(configuration)), strict=True)]
        return [sum(seconds[: i + 1]) for i in range(len(seconds))]

    # What is missing

    def asked(self, dim: int) -> list[Configuration]:
        """What was asked for at this d, ordered as `timed`."""
        return ordered(c for grid in self.grids if dim in grid.dims for c in grid.configurations(dim))

    def left_out(self) -> list[Task]:
        """What was asked for and nobody measured; further rounds of a timing do not count."""
        timed = {(t.task.configuration, t.task.share) for t in self.timings}
        trained = {t.task for t in self.trainings}
        timings = [task for grid in self.grids for task in grid.timings() if task.round == 0]
        trainings = [task for grid in self.grids for task in grid.trainings()]
        return list(
            dict.fromkeys(
                [
                    *(task for task in timings if (task.configuration, task.share) not in timed),
                    *(task for task in trainings if task not in trained),
                ]
            )
        )


def metric_label(metric: str) -> str:
    """As the paper writes it: "capped_recall@20" is Recall@20."""
    names = {"capped_recall": "Recall", "recall": "Recall", "ndcg": "NDCG", "hit_rate": "HR"}
    name, at, cutoff = metric.partition("@")
    return names.get(name, name) + at + cutoff


def ordered(configurations: Iterable[Configuration]) -> list[Configuration]:
    """Each once, by dimension and block, SpectralCG last at each dimension."""
    return sorted(set(configurations), key=lambda c: (c.dim, c.block is None, c.block or 0))
