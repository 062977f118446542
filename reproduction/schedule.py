"""Choose the next task, and whether it still fits into a budget of time."""

import math
import time
from collections.abc import Iterator
from datetime import timedelta

from ialspp.system.progress import Progress, reporting

from .estimates import Estimates
from .grid import Grid, Task, TimingTask
from .journal import Journal
from .measure import Workbench
from .run import Run

LONG = 60.0  # seconds: a longer epoch is timed only once, since noise averages out over it
TIMING_SHARE = 0.5  # of the budget, which the first round of times may take if trainings are to follow


class Schedule:
    """Carry out what a run lacks of a grid, cheapest first, so that a budget buys as much as possible.

    budget: seconds, approximately; None: no limit. A task that is expected to take longer than what remains
    is left out.
    """

    def __init__(self, journal: Journal, workbench: Workbench, grid: Grid, budget: float | None) -> None:
        run = journal.run()
        self._journal, self._workbench = journal, workbench
        self._phases = outstanding(run, grid)
        self._budget = math.inf if budget is None else budget
        self._estimates = Estimates(run.data, run.settings.epochs)
        for measured in run.measurements:
            self._estimates.learn(measured)

    def expected(self) -> float:
        """Estimate the seconds that all remaining tasks will take."""
        tasks = [task for phase in self._phases for task in phase if self._is_worth_it(task)]
        return sum(map(self._estimates.seconds, tasks))

    def carry_out(self, progress: Progress = None) -> list[tuple[Task, Exception]]:
        """Measure until everything is done or nothing more fits; `progress` as for `ImplicitMF.fit`.

        Tasks over budget are postponed and retried last, when estimates are better. A task that runs out of
        memory or overflows does not stop the others: it is returned with its error.
        """
        total = sum(map(len, self._phases))
        start = time.monotonic()
        end = start + self._budget
        postponed: list[Task] = []
        failed: list[tuple[Task, Exception]] = []
        self._phases.append(postponed)
        with reporting("measuring", total, progress) as report:
            for number, phase in enumerate(self._phases):
                is_reserved = number == 0 and any(self._phases[1:])
                limit = start + TIMING_SHARE * self._budget if is_reserved else end
                for task in self._cheapest_first(phase):
                    seconds, now = self._estimates.seconds(task), time.monotonic()
                    if now + seconds <= limit:
                        done = total - 1 - sum(map(len, self._phases))
                        left = min(seconds + self.expected(), end - now)
                        report(done, note=f"{task}; about {timedelta(seconds=round(left))} left")
                        try:
                            self._measure(task)
                        except (MemoryError, ArithmeticError) as error:
                            failed.append((task, error))
                    elif phase is not postponed:
                        postponed.append(task)
        return failed

    def _cheapest_first(self, phase: list[Task]) -> Iterator[Task]:
        """Take tasks out of the phase, by the estimates of the moment."""
        while phase:
            task = min(phase, key=self._estimates.seconds)
            phase.remove(task)
            if self._is_worth_it(task):
                yield task

    def _is_worth_it(self, task: Task) -> bool:
        is_repeated = isinstance(task, TimingTask) and task.round > 0
        return not (is_repeated and self._estimates.seconds(task) > LONG)

    def _measure(self, task: Task) -> None:
        measured = self._workbench.carry_out(task)
        self._journal.add(measured)
        self._estimates.learn(measured)


def outstanding(run: Run, grid: Grid) -> list[list[Task]]:
    """List what the run lacks in four phases: times, trainings, more rounds of times, more seeds."""
    done = {measured.task for measured in run.measurements}
    timings = [task for task in grid.timings() if task not in done]
    trainings = [task for task in grid.trainings() if task not in done]
    return [
        [task for task in timings if task.round == 0],
        [task for task in trainings if task.seed == 0],
        [task for task in timings if task.round > 0],
        [task for task in trainings if task.seed > 0],
    ]
