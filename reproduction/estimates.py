"""Estimate how long a task will take from what was measured before."""

import math

from .complexity import work_on
from .grid import IALS, IALSPP, ICD, SPECTRAL, Configuration, Task, TimingTask
from .run import Data, Measurement, Timing

# Seconds for one operation of the formulas before anything is measured: two cores of 2021, AVX2.
FIRST_GUESS = {IALS: 1e-11, ICD: 4e-9, IALSPP: 3e-9, SPECTRAL: 2e-10}


class Estimates:
    """Seconds per operation of the complexity formulas, as measured at the nearest configuration."""

    def __init__(self, data: Data, epochs: int) -> None:
        self._data, self._epochs = data, epochs
        self._rates: dict[Configuration, float] = {}
        self._evaluating: dict[int, float] = {}  # seconds of one evaluation, by d

    def learn(self, measured: Measurement) -> None:
        """Take a measurement into account; a timing on all pairs replaces any other."""
        configuration = measured.task.configuration
        if isinstance(measured, Timing):
            share, seconds = measured.task.share, measured.seconds
        else:
            share, seconds = 1.0, sum(measured.seconds) / len(measured.seconds)
            self._evaluating[configuration.dim] = measured.evaluating / len(measured.seconds)
        rate = seconds / work_on(self._data, configuration, share)
        if isinstance(measured, Timing) and share == 1:
            self._rates[configuration] = rate
        else:
            self._rates.setdefault(configuration, rate)

    def seconds(self, task: Task) -> float:
        if isinstance(task, TimingTask):
            return self._epoch(task.configuration, task.share)
        epoch = self._epoch(task.configuration, 1.0)
        return self._epochs * (epoch + self._evaluation(task.configuration.dim))

    def _epoch(self, wanted: Configuration, share: float) -> float:
        known = [each for each in self._rates if each.solver == wanted.solver]
        if known:
            rate = self._rates[min(known, key=lambda each: _distance(each, wanted))]
        elif wanted.solver == IALSPP:  # vector instructions do more at once in larger blocks
            rate = FIRST_GUESS[IALSPP] / (wanted.block or 1)
        else:
            rate = FIRST_GUESS[wanted.solver]
        return rate * work_on(self._data, wanted, share)

    def _evaluation(self, dim: int) -> float:
        if not self._evaluating:
            return FIRST_GUESS[IALS] * self._evaluation_work(dim)
        near = min(self._evaluating, key=lambda known: abs(math.log2(known / dim)))
        return self._evaluating[near] * self._evaluation_work(dim) / self._evaluation_work(near)

    def _evaluation_work(self, dim: int) -> float:
        """Count the operations: the vectors of unseen users are solved for, then all items are scored."""
        solving = dim**3 / 3 if self._data.protocol == "strong" else 0.0
        return self._data.test_users * (solving + dim * self._data.train_items)


def _distance(known: Configuration, wanted: Configuration) -> float:
    """Count the doublings of d and of the block size between two configurations of one solver."""
    return abs(math.log2(known.dim / wanted.dim)) + abs(math.log2((known.block or 1) / (wanted.block or 1)))
