"""--runs DIR: append one line of JSON for each run to a file that many processes may share."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Any

import typer

from ..files.appending import append_line
from .output import as_json, checked_target

FILE = "runs.jsonl"

RunsOption = Annotated[
    Path | None, typer.Option("--runs", metavar="DIR", help=f"Append a line about this run to DIR/{FILE}.")
]


def checked_runs(folder: Path | None) -> Path | None:
    """Make the folder and check that its file can be written, before anything takes long."""
    if folder is not None:
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(f"--runs {folder}: this is a file; the name of a folder is required")
        folder.mkdir(parents=True, exist_ok=True)
        checked_target(folder / FILE)
    return folder


def record_run(folder: Path | None, command: str, facts: dict[str, Any]) -> None:
    """Append one line.

    Parameters
    ----------
    folder
        Where to write; None writes nothing.
    command
        The command that was run.
    facts
        What the command reports: settings, data, results, seconds.
    """
    if folder is None:
        return
    from importlib.metadata import version

    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    record = {"time": now, "command": command, "version": version("ialspp"), **facts}
    append_line(folder / FILE, as_json(record))
