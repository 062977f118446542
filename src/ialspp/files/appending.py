"""Append lines to a file that several processes share."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from .atomic import errors_naming
from .lock import lock_if_possible, unlock


def append_line(path: Path, line: str) -> None:
    """Append one line to `path`, and return when it is on the disk.

    Processes wait for each other, so that their lines never mix. If the disk is full or fails, the file stays
    as it was, and an OSError names it. If a killed process left a line without its end, the new line starts
    after it.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)  # O_BINARY is Windows'
    with errors_naming(path):
        file = os.open(path, flags, 0o666)
        try:
            lock_if_possible(file)
            _append(file, f"{line}\n".encode())
        finally:
            unlock(file)
            os.close(file)


def _append(file: int, content: bytes) -> None:
    end = os.lseek(file, 0, os.SEEK_END)
    if _is_cut(file, end):
        content = b"\n" + content
    written = 0
    try:
        while written < len(content):  # on a disk that is nearly full, a part fits, and then comes the error
            written += os.write(file, content[written:])
        os.fsync(file)
    except OSError:
        with suppress(OSError):  # the first error matters more
            if os.fstat(file).st_size == end + written:  # else, without locks, another has appended since
                os.ftruncate(file, end)
        raise


def _is_cut(file: int, end: int) -> bool:
    """Tell whether the last line has no end."""
    if end == 0:
        return False
    os.lseek(file, end - 1, os.SEEK_SET)
    return os.read(file, 1) != b"\n"
