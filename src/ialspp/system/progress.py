"""Progress of long work. The library reports to a callback; the default one draws a bar.

In a notebook the bar is HTML below the cell. Elsewhere it is text on stderr.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import InvalidTypeError
from .html import progress_bar

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichProgress


@dataclass(frozen=True, slots=True)
class ProgressEvent:
    """How far one piece of work has come.

    Attributes
    ----------
    task
        What is being done, such as "fitting" or "reading".
    done, total
        The work done and all of it, in units of the task: epochs, rows, bytes. A total of None is unknown.
    note
        What else there is to say, such as the loss; often empty.
    """

    task: str
    done: float
    total: float | None
    note: str = ""


Progress = bool | None | Callable[[ProgressEvent], None]
"""What callers pass as `progress=`: a function of their own, True for a bar, False for nothing, or None for
a bar on a terminal or in a notebook only."""

SECONDS_BETWEEN = 0.1  # updates of a notebook's bar: each is a message to the browser


class Report(Protocol):
    """What the library calls while it works."""

    def __call__(self, done: float, *, note: str = "", total: float | None = None) -> None:
        """Say how much is done. `total` corrects the total given at the start."""


@contextmanager
def reporting(
    task: str, total: float | None = None, progress: Progress = None, *, keep: bool = False
) -> Iterator[Report]:
    """Give a function that reports the progress of a task to whatever `progress` names.

    keep: leave the finished bar where it is, because its note is worth reading.
    """
    if callable(progress):
        yield _calling(progress, task, total)
        return
    if progress not in (True, False, None):
        raise InvalidTypeError(f"progress must be True, False, None or a function, got {progress!r}")
    if progress is not False and in_notebook():
        with _notebook_bar(task, total, keep) as report:
            yield report
        return
    console = None if progress is False else _console(always=bool(progress))
    if console is None:
        yield _ignored
        return
    with _bar(console, task, total, keep) as report:
        yield report


def _calling(callback: Callable[[ProgressEvent], None], task: str, total: float | None) -> Report:
    def report(done: float, *, note: str = "", total: float | None = total) -> None:
        callback(ProgressEvent(task, done, total, note))

    return report


def _ignored(done: float, *, note: str = "", total: float | None = None) -> None:
    pass


def in_notebook() -> bool:
    """Tell whether this process is the kernel of a notebook, which shows HTML."""
    if "IPython" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    return hasattr(get_ipython(), "kernel")


@contextmanager
def _notebook_bar(task: str, total: float | None, keep: bool) -> Iterator[Report]:
    """Draw one piece of HTML, and draw it anew as the work goes on. It needs no widgets."""
    shown: Any = import_module("IPython.display")  # its functions have no types
    latest = progress_bar(task, 0, total, "")
    handle, drawn_at = shown.display(shown.HTML(latest), display_id=True), time.monotonic()

    def report(done: float, *, note: str = "", total: float | None = total) -> None:
        nonlocal drawn_at, latest
        latest = progress_bar(task, done, total, note)
        if time.monotonic() - drawn_at >= SECONDS_BETWEEN:
            handle.update(shown.HTML(latest))
            drawn_at = time.monotonic()

    try:
        yield report
    finally:
        handle.update(shown.HTML(latest if keep else ""))


def _console(*, always: bool) -> Console | None:
    from rich.console import Console

    console = Console(stderr=True)
    return console if always or console.is_terminal else None


@contextmanager
def _bar(console: Console, task: str, total: float | None, keep: bool) -> Iterator[Report]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn(task, markup=False),
        BarColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    transient = console.is_terminal and not keep
    with _started(Progress(*columns, console=console, transient=transient)) as bar:
        shown = bar.add_task(task, total=total, note="")

        def report(done: float, *, note: str = "", total: float | None = total) -> None:
            bar.update(shown, completed=done, total=total, note=note)

        yield report


@contextmanager
def _started(bar: RichProgress) -> Iterator[RichProgress]:
    """Enter a bar as `with bar` does, but show the cursor again if Ctrl-C arrives while it starts."""
    try:
        bar.start()
    except BaseException:
        with suppress(IndexError):  # a bar that is half started cannot be taken off rich's stack
            bar.stop()
        bar.console.show_cursor(True)
        raise
    try:
        yield bar
    finally:
        bar.stop()
