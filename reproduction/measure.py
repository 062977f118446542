"""Carry out one task: time an epoch, or train and evaluate after each epoch."""

import platform
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

from ialspp import EpochRecord, ImplicitMF, Interactions, Objective, SolveError, _core, evaluate
from ialspp.data.axis import Axis
from ialspp.solvers import Problem
from ialspp.split import Split

from .grid import Configuration, Task, TimingTask, TrainingTask
from .run import Machine, Measurement, Settings, Timing, Training


class Workbench:
    """The data and settings that all tasks share. The time of an epoch includes its exact loss."""

    def __init__(self, split: Split, settings: Settings, threads: int) -> None:
        self._split, self._settings, self._threads = split, settings, threads
        self._problem: tuple[tuple[int, float], Problem] | None = None  # only the last: they are large

    def carry_out(self, task: Task) -> Measurement:
        return self._time(task) if isinstance(task, TimingTask) else self._train(task)

    def _time(self, task: TimingTask) -> Timing:
        """Time one epoch from the current factors: no solver's time depends on their values."""
        model = self._model(task.configuration, seed=0)
        record = model.run_epoch(self._shared_problem(model, task.configuration.dim, task.share))
        return Timing(task, record.checked().seconds)

    def _train(self, task: TrainingTask) -> Training:
        self._problem = None  # frees memory for this training
        names = self._settings.metrics
        found: dict[str, list[float]] = {name: [] for name in names}
        evaluating = 0.0

        def evaluate_epoch(model: ImplicitMF, _: EpochRecord) -> None:
            nonlocal evaluating
            start = time.perf_counter()
            scores = evaluate(model, self._split, metrics=names, progress=False).scores
            for name, values in found.items():
                values.append(scores[name].mean)
            evaluating += time.perf_counter() - start

        model = self._model(task.configuration, task.seed)
        model.fit(self._split.train, callbacks=[evaluate_epoch], progress=False)
        losses = [record.loss for record in model.history]
        if not np.isfinite([losses, *found.values()]).all():
            raise SolveError(f"{task}: a loss or a metric is not finite")
        seconds = tuple(record.seconds for record in model.history)
        metrics = {name: tuple(values) for name, values in found.items()}
        return Training(task, seconds, tuple(losses), metrics, evaluating)

    def _model(self, configuration: Configuration, seed: int) -> ImplicitMF:
        settings = self._settings
        return ImplicitMF(
            configuration.dim,
            solver=configuration.make_solver(settings.sweep),
            objective=Objective(
                unobserved_weight=settings.unobserved_weight,
                regularization=settings.regularization,
                exponent=settings.exponent,
            ),
            epochs=settings.epochs,
            init="random",
            init_stddev=settings.init_stddev,
            seed=seed,
            threads=self._threads,
        )

    def _shared_problem(self, model: ImplicitMF, dim: int, share: float) -> Problem:
        """Prepare the data once for all solvers at a dimension: that takes longer than some epochs."""
        if self._problem is None or self._problem[0] != (dim, share):
            self._problem = None
            data = sample(self._split.train, share)
            problem = Problem.of(data, model.objective, *model.initial_factors(data), self._threads)
            self._problem = (dim, share), problem
        return self._problem[1]


def sample(data: Interactions, share: float) -> Interactions:
    """Draw a share of the interactions at random; all users and items stay."""
    if share == 1:
        return data
    kept = np.random.default_rng(0).random(len(data)) < share
    return data.select(kept, Axis.whole(data.users), Axis.whole(data.items))


def this_machine(threads: int) -> Machine:
    """Describe the processor, and which instruction set and version of ialspp are used."""
    return Machine(_processor(), threads, _core.isa(), version("ialspp"))


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), "") or platform.processor() or platform.machine()
