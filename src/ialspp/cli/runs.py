"""--runs DIR: append one line of JSON for each run to a file that many processes may share."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Any

import typer

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
    line = as_json({"time": now, "command": command, "version": version("ialspp"), **facts})
    content = f"{line}\n".encode()
    file = _opened(folder)
    try:
        # One write: the system appends it as a whole, even if other processes append at the same time.
        if os.write(file, content) < len(content):
            raise OSError(f"{folder / FILE}: the record of this run did not fit on the disk")
    finally:
        os.close(file)


def _opened(folder: Path) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)  # the last on Windows
    return os.open(folder / FILE, flags, 0o666)
