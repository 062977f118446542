"""The progress bar of a plan of tasks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from ..system.progress import _console, _started


@contextmanager
def plan_bar(tasks: int, show: bool | None) -> Iterator[Callable[[int, str, float], None]]:
    """A function to call with the tasks that are done, the one that begins, and when all will be done.

    The last is a time of `time.monotonic`, as far as anyone knows.
    """
    console = _console(always=bool(show)) if show is not False else None
    if console is None:
        yield lambda _done, _what, _left: None
        return
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

    class Left(ProgressColumn):
        def render(self, task: Task) -> Text:
            left = task.fields["end"] - time.monotonic()
            return Text(f"left {timedelta(seconds=max(0, round(left)))}")

    columns = (
        MofNCompleteColumn(),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        Left(),
        TextColumn("{task.description}", markup=False),
    )
    with _started(Progress(*columns, console=console, transient=console.is_terminal)) as drawn:
        task = drawn.add_task("", total=tasks, end=0.0)
        yield lambda done, what, end: drawn.update(task, completed=done, description=what, end=end)
