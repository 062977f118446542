"""ialspp info FOLDER: the models, checkpoints and data in a folder, and what killed processes left there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..data.prepared import PreparedFile, is_prepared
from ..errors import IalsppError
from ..files.leftovers import leftovers
from ..model.checkpoint import Checkpoint, is_checkpoint
from .output import remark, show_json, show_table, size

SUFFIXES = (".ialspp", ".ialsdata", ".checkpoint")  # of files that can only be ours


def show_folder(folder: Path, *, as_json: bool) -> None:
    """Print a line for each file of ours."""
    unfinished = leftovers(folder)
    described = map(_described, sorted(set(folder.iterdir()).difference(unfinished)))
    found = [file for file in described if file is not None]
    found += [_facts(path, "leftover", "its writer was killed") for path in unfinished]
    if as_json:
        show_json({"folder": str(folder), "files": found})
        return
    rows = [[file["file"], file["kind"], file["remark"], size(file["bytes"])] for file in found]
    show_table(str(folder), ["file", "kind", "remark", "size"], rows, words=["file", "kind", "remark"])
    if unfinished:
        remark("leftovers are removed by the next write to the file that they were meant for")


def _described(path: Path) -> dict[str, Any] | None:
    """Describe a file of ours, also one that cannot be read; None for any other, and for one that is gone."""
    from .. import store

    try:
        if is_checkpoint(path):
            return _facts(path, "checkpoint", Checkpoint.read(path).progress)
        if is_prepared(path):
            data = PreparedFile.open(path).facts()
            return _facts(path, "data", f"{data['users']:,} users, {data['items']:,} items")
        facts = store.info(path)
        return _facts(path, "model", f"{facts['users']:,} users, {facts['items']:,} items")
    except IalsppError as error:
        fault = str(error).removeprefix(str(path)).lstrip(": ")
        return _facts(path, "damaged", fault) if path.suffix in SUFFIXES and path.is_file() else None
    except PermissionError:
        return _facts(path, "unreadable", "no permission to read it") if path.suffix in SUFFIXES else None
    except OSError:
        return None


def _facts(path: Path, kind: str, remark: str) -> dict[str, Any]:
    return {"file": path.name, "kind": kind, "remark": remark, "bytes": path.stat().st_size}
