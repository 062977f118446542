"""Progress bars on stderr, where a person is watching."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.status import Status

    Display = TypeVar("Display", Progress, Status)
Report = Callable[[float], None]


@contextmanager
def bar(what: str, total: float | None, show: bool | None) -> Iterator[Report]:
    """A function to call with how much of `total` is done; on a terminal the bar is gone in the end.

    show: True draws in any case, False never, None only on a terminal. A total of None is not known.
    """
    console = _console(show)
    if console is None:
        yield _silent
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with _drawn(Progress(*columns, console=console, transient=console.is_terminal)) as drawn:
        task = drawn.add_task(what, total=total)
        yield lambda done: drawn.update(task, completed=done)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Something moves on a terminal while one long step is under way, whose end nobody knows."""
    console = _console(None)
    if console is None:
        yield
        return
    with _drawn(console.status(what)):
        yield


@contextmanager
def download_bar(name: str) -> Iterator[Callable[[int, int | None], None]]:
    """A function to call with the bytes that have come, and those in all where known."""
    console = _console(None)
    if console is None:
        yield lambda _done, _total: None
        return
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn(name, markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with _drawn(Progress(*columns, console=console, transient=True)) as drawn:
        task = drawn.add_task(name, total=None)
        yield lambda done, total: drawn.update(task, completed=done, total=total)


@contextmanager
def epoch_bar(epochs: int, show: bool | None) -> Iterator[Report]:
    """A function to call with the loss after each epoch; `show` as for `bar`."""
    console = _console(show)
    if console is None:
        yield _silent
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("epoch"),
        MofNCompleteColumn(),
        BarColumn(),
        TextColumn("loss {task.fields[loss]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with _drawn(Progress(*columns, console=console)) as drawn:
        task = drawn.add_task("fit", total=epochs, loss="-")
        yield lambda loss: drawn.update(task, advance=1, loss=f"{loss:.6g}")


@contextmanager
def _drawn(display: Display) -> Iterator[Display]:
    """As `with display` would; but Ctrl-C while it starts does not leave the cursor hidden."""
    try:
        display.start()
    except BaseException:
        with suppress(IndexError):  # half started, it does not find what it has not put anywhere yet
            display.stop()
        display.console.show_cursor(True)
        raise
    try:
        yield display
    finally:
        display.stop()


def _console(show: bool | None) -> Console | None:
    """Where to draw; None: nowhere."""
    if show is False:
        return None
    from rich.console import Console

    console = Console(stderr=True)
    return console if show or console.is_terminal else None


def _silent(_done: float) -> None:
    pass
