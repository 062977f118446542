"""Carrying out one task: an epoch against the clock, or a whole training with its quality."""

from __future__ import annotations

import time

import numpy as np

from ..data.axis import Axis
from ..data.interactions import Interactions
from ..errors import SolveError
from ..evaluation import evaluate
from ..model.history import EpochRecord
from ..model.model import ImplicitMF
from ..objective import Objective
from ..solvers import Problem
from ..split import Split
from .grid import Configuration, Task, TimingTask, TrainingTask
from .run import Measurement, Settings, Timing, Training


class Workbench:
    """The data and what all tasks share. Epochs are timed with their exact loss, evaluation is not.

    Parameters
    ----------
    split
        What is trained on, and asked for.
    settings
        The same for all configurations.
    threads
        As `ImplicitMF` takes them.
    """

    def __init__(self, split: Split, settings: Settings, threads: int) -> None:
        self._split, self._settings, self._threads = split, settings, threads
        self._problem: tuple[tuple[int, float], Problem] | None = None  # the last one: they are large

    def carry_out(self, task: Task) -> Measurement:
        """Measure."""
        return self._time(task) if isinstance(task, TimingTask) else self._train(task)

    def _time(self, task: TimingTask) -> Timing:
        """One epoch from wherever the factors are: no solver's time depends on them."""
        configuration = task.configuration
        model = self._model(configuration, seed=0)
        record = model.run_epoch(self._shared_problem(model, configuration.dim, task.share))
        return Timing(task, record.checked().seconds)

    def _train(self, task: TrainingTask) -> Training:
        """From the seed to the last epoch."""
        self._problem = None  # room for the factors of this one
        names = self._settings.metrics
        found: dict[str, list[float]] = {name: [] for name in names}
        evaluating = 0.0

        def ask(model: ImplicitMF, _: EpochRecord) -> None:
            nonlocal evaluating
            start = time.perf_counter()
            scores = evaluate(model, self._split, metrics=names, progress=False).scores
            for name, values in found.items():
                values.append(scores[name].mean)
            evaluating += time.perf_counter() - start

        model = self._model(task.configuration, task.seed)
        model.fit(self._split.train, callbacks=[ask], progress=False)
        losses = [record.loss for record in model.history]
        if not np.isfinite([losses, *found.values()]).all():
            raise SolveError(f"{task}: a loss or a metric is not finite")
        return Training(
            task,
            tuple(record.seconds for record in model.history),
            tuple(losses),
            {name: tuple(values) for name, values in found.items()},
            evaluating,
        )

    def _model(self, configuration: Configuration, seed: int) -> ImplicitMF:
        settings = self._settings
        return ImplicitMF(
            configuration.dim,
            solver=configuration.make(settings.sweep),
            objective=Objective(
                unobserved_weight=settings.unobserved_weight,
                regularization=settings.regularization,
                exponent=settings.exponent,
            ),
            epochs=settings.epochs,
            init_stddev=settings.init_stddev,
            seed=seed,
            threads=self._threads,
        )

    def _shared_problem(self, model: ImplicitMF, dim: int, share: float) -> Problem:
        """One for all solvers at a dimension: what they start from costs more than an epoch of some."""
        if self._problem is None or self._problem[0] != (dim, share):
            self._problem = None
            data = sample(self._split.train, share)
            problem = Problem.of(data, model.objective, *model.initial_factors(data), self._threads)
            self._problem = (dim, share), problem
        return self._problem[1]


def sample(data: Interactions, share: float) -> Interactions:
    """A share of the interactions, drawn at random, of all users and items."""
    if share == 1:
        return data
    kept = np.random.default_rng(0).random(len(data)) < share
    return data.select(kept, Axis.whole(data.users), Axis.whole(data.items))
