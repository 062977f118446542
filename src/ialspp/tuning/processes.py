"""Which process trains a trial, and whether it has ended: a journal outlives the processes that share it."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any


def this_process() -> dict[str, Any]:
    """Describe this process as plain values, so that another one can tell whether it still runs."""
    return {"host": socket.gethostname(), "pid": os.getpid(), "began": _began(os.getpid())}


def has_ended(process: dict[str, Any]) -> bool | None:
    """Tell whether another process than this one has ended; None where this machine cannot know.

    It cannot know about another machine. Where the system does not say when a process began, a number that
    lives may by now be that of a later process.
    """
    if process["host"] != socket.gethostname() or os.name == "nt":
        return None
    pid, began = process["pid"], process.get("began")
    if pid == os.getpid() or not _exists(pid):
        return True
    return None if began is None else _began(pid) != began


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is another user's
        return True
    return True


def _began(pid: int) -> int | None:
    """Return when a process began, by a clock of this machine; None if nobody says, or if it is a zombie."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()  # after its name
        return None if state == "Z" else int(fields[18])
    except (OSError, ValueError, IndexError):
        return None
