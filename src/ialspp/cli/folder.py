"""ialspp info FOLDER: the models and checkpoints in a folder, and what killed processes left there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import IalsppError
from ..files.leftovers import leftovers
from ..model.checkpoint import Checkpoint, is_checkpoint
from .output import remark, show_json, show_table, size


def show_folder(folder: Path, *, as_json: bool) -> None:
    """Print a line for each file of ours."""
    unfinished = leftovers(folder)
    files = [_described(path) for path in sorted(folder.iterdir()) if path not in unfinished]
    found = [file for file in files if file["kind"] is not None]
    found += [_facts(path, "leftover", "its writer was killed") for path in unfinished]
    if as_json:
        show_json({"folder": str(folder), "files": found})
        return
    rows = [[file["file"], file["kind"], file["remark"], size(file["bytes"])] for file in found]
    show_table(str(folder), ["file", "kind", "remark", "size"], rows, words=["file", "kind", "remark"])
    if unfinished:
        remark("leftovers are removed by the next write to the file that they were meant for")


def _described(path: Path) -> dict[str, Any]:
    """Describe a file, of kind None if it is not one of ours that can be read."""
    from .. import store

    try:
        if not path.is_file():
            return _facts(path, None, "")
        if is_checkpoint(path):
            return _facts(path, "checkpoint", Checkpoint.read(path).progress)
        facts = store.info(path)
        return _facts(path, "model", f"{facts['users']:,} users, {facts['items']:,} items")
    except (IalsppError, OSError):
        return _facts(path, None, "")


def _facts(path: Path, kind: str | None, remark: str) -> dict[str, Any]:
    return {"file": path.name, "kind": kind, "remark": remark, "bytes": path.stat().st_size}
