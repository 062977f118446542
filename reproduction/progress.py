"""The progress bar of a schedule, on stderr."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

Report = Callable[[int, str, float], None]


class TimeLeft(ProgressColumn):
    """The time until the expected end, in hours, minutes and seconds."""

    def render(self, task: Task) -> Text:
        """Count from now."""
        left = task.fields["end"] - time.monotonic()
        return Text(f"left {timedelta(seconds=max(0, round(left)))}")


@contextmanager
def schedule_bar(tasks: int, show: bool | None) -> Iterator[Report]:
    """Yield a function to call with the number of finished tasks, the next task and the expected end.

    The end is a time of `time.monotonic`. show: True always draws, False never, None only on a terminal.
    """
    console = Console(stderr=True)
    description = TextColumn("{task.description}", markup=False)
    columns = (MofNCompleteColumn(), BarColumn(bar_width=20), TimeElapsedColumn(), TimeLeft(), description)
    hidden = show is False or (show is None and not console.is_terminal)
    with Progress(*columns, console=console, transient=console.is_terminal, disable=hidden) as bar:
        task = bar.add_task("", total=tasks, end=0.0)
        yield lambda done, what, end: bar.update(task, completed=done, description=what, end=end)
