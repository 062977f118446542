"""Which task is next, and whether it still fits: the way through a grid within a budget of time."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

from .estimates import Estimates
from .grid import Grid, Task, TimingTask
from .journal import Journal
from .measure import Workbench
from .plan_bar import plan_bar
from .run import Measurement, Run

LONG = 60.0  # seconds: a longer epoch is timed in the first round only, since noise evens out
TIMING_SHARE = 0.5  # of the budget that the first round of times may take, if more is to come


class Schedule:
    """Carries out what a run lacks: cheapest first, so that a budget buys as much as it can.

    Parameters
    ----------
    journal
        What was measured, and where more is kept.
    workbench
        What carries out a task.
    grid
        What is wanted.
    budget
        Seconds, about; None: as long as it takes. A task that is expected to take longer than is left of
        them is left out.
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
        """Seconds that everything would take, as far as can be said before it is measured."""
        tasks = [task for phase in self._phases for task in phase if self._is_worth_it(task)]
        return sum(map(self._estimates.seconds, tasks))

    def carry_out(self, progress: bool | None = None) -> list[tuple[Task, Exception]]:
        """Measure until all is done or nothing more fits; `progress` as for `ImplicitMF.fit`.

        What does not fit at its turn is tried again in the end, when more is known. A task for which there is
        not enough memory, or whose numbers overflow, does not stop the others: it is returned with its error.
        """
        total = sum(map(len, self._phases))
        start = time.monotonic()
        end = start + self._budget
        late: list[Task] = []
        failed: list[tuple[Task, Exception]] = []
        self._phases.append(late)
        with plan_bar(total, progress) as report:
            for number, phase in enumerate(self._phases):
                reserved = number == 0 and any(self._phases[1:])
                limit = start + TIMING_SHARE * self._budget if reserved else end
                for task in self._cheapest_first(phase):
                    seconds, now = self._estimates.seconds(task), time.monotonic()
                    if now + seconds <= limit:
                        done = total - 1 - sum(map(len, self._phases))
                        report(done, str(task), min(now + seconds + self.expected(), end))
                        try:
                            self._keep(self._workbench.carry_out(task))
                        except (MemoryError, ArithmeticError) as error:
                            failed.append((task, error))
                    elif phase is not late:
                        late.append(task)
        return failed

    def _cheapest_first(self, phase: list[Task]) -> Iterator[Task]:
        """Takes tasks out of the phase; what is learned on the way counts."""
        while phase:
            task = min(phase, key=self._estimates.seconds)
            phase.remove(task)
            if self._is_worth_it(task):
                yield task

    def _is_worth_it(self, task: Task) -> bool:
        again = isinstance(task, TimingTask) and task.round > 0
        return not (again and self._estimates.seconds(task) > LONG)

    def _keep(self, measured: Measurement) -> None:
        self._journal.add(measured)
        self._estimates.learn(measured)


def outstanding(run: Run, grid: Grid) -> list[list[Task]]:
    """What the grid has and the run lacks, in four phases: times, trainings, and both again for certainty."""
    done = {measured.task for measured in run.measurements}
    timings = [task for task in grid.timings() if task not in done]
    trainings = [task for task in grid.trainings() if task not in done]
    return [
        [task for task in timings if task.round == 0],
        [task for task in trainings if task.seed == 0],
        [task for task in timings if task.round > 0],
        [task for task in trainings if task.seed > 0],
    ]
