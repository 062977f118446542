"""The live table of `ialspp tune`: the best trials so far, the one that runs, and the time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.live import Live
from rich.table import Table
from rich.text import Text

from .output import Output

if TYPE_CHECKING:
    from ..tuning.search import Standing
    from ..tuning.settings import Trial
    from ..tuning.tuner import Tuner

SHOWN = 5
COLUMNS = ("trial", "d", "alpha0", "lambda", "weights", "epochs", "score", "seconds")


@contextmanager
def live_table(tuner: Tuner) -> Iterator[Callable[[Standing], None]]:
    """Give a function that draws how a search stands, on a terminal; elsewhere it draws nothing."""
    console = Output(stderr=True)
    if not console.is_terminal:
        yield lambda _standing: None
        return
    with Live(console=console, transient=True, auto_refresh=False) as live:
        yield lambda standing: live.update(_drawn(standing, tuner.chosen_metric), refresh=True)


def _drawn(standing: Standing, metric: str) -> Table:
    table = Table(title=Text(_title(standing, metric)), title_justify="left")
    for name in COLUMNS:
        table.add_column(name, justify="left" if name == "weights" else "right")
    ended = [trial for trial in standing.trials if trial.outcome is not None and trial.kind != "repeat"]
    ranked = sorted(ended, key=lambda trial: (-trial.score, trial.number))
    for trial in ranked[:SHOWN]:
        assert trial.outcome is not None
        epochs = f"{trial.outcome.best_epoch} of {len(trial.outcome.scores)}"
        table.add_row(*_cells(trial, epochs, f"{trial.score:.4f}", f"{trial.seconds:.1f}"))
    elsewhere = [trial for trial in standing.trials if trial.outcome is None]
    for trial in elsewhere:
        table.add_row(*_cells(trial, "", "", "runs"), style="italic")
    if standing.running is not None:
        score = f"{max(standing.scores):.4f}" if standing.scores else ""
        table.add_row(*_cells(standing.running, str(len(standing.scores)), score, "runs"), style="italic")
    return table


def _cells(trial: Trial, epochs: str, score: str, seconds: str) -> list[str]:
    settings = trial.settings
    numbers = [str(settings.dim), f"{settings.unobserved_weight:g}", f"{settings.regularization:g}"]
    return [str(trial.number), *numbers, settings.weights, epochs, score, seconds]


def _title(standing: Standing, metric: str) -> str:
    left = "" if standing.budget is None else f", {_clock(standing.budget - standing.elapsed)} left"
    return f"{metric}: {standing.summary()}; {_clock(standing.elapsed)}{left}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(round(seconds), 0), 60)
    return f"{minutes}:{rest:02}"
