"""The report of a tuning: one HTML page with its pictures, its trials, and the command to repeat it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import jinja2

from ..files.atomic import whole_file
from .figures import pictures
from .result import Tuning


def write_report(tuned: Tuning, path: str | Path, command: str = "") -> None:
    """Write one HTML page with pictures of the search, which needs nothing else.

    Parameters
    ----------
    tuned
        What was found.
    path
        The file to write, atomically.
    command
        The command that repeats the search, to be shown.

    Examples
    --------
    >>> write_report(tuned, "tuned.html", command="ialspp tune groceries.csv --trials 3 --max-dim 8")
    >>> "ialspp tune groceries.csv" in Path("tuned.html").read_text(encoding="utf-8")
    True
    """
    columns, rows = tuned.table()
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    template = environment.from_string((files(__package__) / "page" / "report.html").read_text("utf-8"))
    page = template.render(
        tuned=tuned,
        options=tuned.options(),
        remarks=tuned.remarks(),
        pictures=pictures(tuned),
        columns=columns,
        rows=[[_shown(value) for value in row] for row in rows],
        endings=_counted(tuned),
        command=command,
    )
    with whole_file(Path(path)) as file:
        file.write(page.encode())


def _counted(tuned: Tuning) -> list[tuple[str, int]]:
    """Count how trainings of the search ended."""
    endings = [trial.outcome.ending for trial in tuned.ranked() if trial.outcome is not None]
    return [(ending, endings.count(ending)) for ending in dict.fromkeys(endings)]


def _shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
