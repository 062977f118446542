"""Choose the next task, and whether it still fits into a budget of time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich import progress as rich_progress
from rich.console import Console
from rich.text import Text

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

    def carry_out(self, progress: bool | None = None) -> list[tuple[Task, Exception]]:
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
        with schedule_bar(total, progress) as report:
            for number, phase in enumerate(self._phases):
                is_reserved = number == 0 and any(self._phases[1:])
                limit = start + TIMING_SHARE * self._budget if is_reserved else end
                for task in self._cheapest_first(phase):
                    seconds, now = self._estimates.seconds(task), time.monotonic()
                    if now + seconds <= limit:
                        done = total - 1 - sum(map(len, self._phases))
                        report(done, str(task), min(now + seconds + self.expected(), end))
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


class _TimeLeft(rich_progress.ProgressColumn):
    def render(self, task: rich_progress.Task) -> Text:
        left = task.fields["end"] - time.monotonic()
        return Text(f"left {timedelta(seconds=max(0, round(left)))}")


@contextmanager
def schedule_bar(tasks: int, show: bool | None) -> Iterator[Callable[[int, str, float], None]]:
    """Yield a function to call with the number of finished tasks, the next task and the expected end.

    The end is a time of `time.monotonic`. show: True always draws, False never, None only on a terminal.
    """
    console = Console(stderr=True)
    is_hidden = show is False or (show is None and not console.is_terminal)
    with rich_progress.Progress(
        rich_progress.MofNCompleteColumn(),
        rich_progress.BarColumn(bar_width=20),
        rich_progress.TimeElapsedColumn(),
        _TimeLeft(),
        rich_progress.TextColumn("{task.description}", markup=False),
        console=console,
        transient=console.is_terminal,
        disable=is_hidden,
    ) as bar:
        task = bar.add_task("", total=tasks, end=0.0)
        yield lambda done, what, end: bar.update(task, completed=done, description=what, end=end)
