"""The progress bar of `fit`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def epoch_bar(epochs: int, show: bool | None) -> Iterator[Callable[[float], None]]:
    """A function to call with the loss after each epoch; it draws where a person is watching.

    show: True draws in any case, False never, None only on a terminal.
    """
    if show is False:
        yield _silent
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not (show or console.is_terminal):
        yield _silent
        return
    columns = (
        TextColumn("epoch"),
        MofNCompleteColumn(),
        BarColumn(),
        TextColumn("loss {task.fields[loss]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("fit", total=epochs, loss="-")
        yield lambda loss: bar.update(task, advance=1, loss=f"{loss:.6g}")


def _silent(_loss: float) -> None:
    pass
