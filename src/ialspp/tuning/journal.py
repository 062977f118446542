"""The file of a study, in the lines of Optuna's journals: kills and several processes do it no harm."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from optuna.storages.journal import BaseJournalBackend

from ..files.appending import append_line


class JournalFile(BaseJournalBackend):
    """A journal for Optuna's `JournalStorage`.

    Optuna's own backend holds its lock in a second file, for which others wait half a minute after a kill,
    and refuses a journal with a line that was cut off. The system releases the lock of `append_line` at a
    kill, and lines that were cut off are skipped here.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: list[dict[str, Any]] = []  # read so far
        self._read = 0  # bytes

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """Return the lines from this number on; the last one may be incomplete, and is left for later."""
        if self._path.exists():
            with self._path.open("rb") as file:
                file.seek(self._read)
                content = file.read()
            end = content.rfind(b"\n") + 1
            self._read += end
            self._lines += [line for line in map(_parsed, content[:end].splitlines()) if line is not None]
        yield from self._lines[log_number_from:]

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Append lines, each of them atomically."""
        for log in logs:
            append_line(self._path, json.dumps(log, separators=(",", ":")))


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
