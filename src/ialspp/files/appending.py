"""Append lines to a file that several processes share."""

from __future__ import annotations

import os
from pathlib import Path


def append_line(path: Path, line: str) -> None:
    """Append one line to `path`, and return when it is on the disk.

    One system call writes the whole line, so that lines of several processes never mix. If the disk is full,
    the file stays as it was, and an OSError names it.
    """
    content = f"{line}\n".encode()
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)  # O_BINARY is Windows'
    file = os.open(path, flags, 0o666)
    try:
        written = os.write(file, content)
        if written < len(content):
            end = os.lseek(file, 0, os.SEEK_CUR)
            if os.fstat(file).st_size == end:  # else another process has appended since
                os.ftruncate(file, end - written)
            raise OSError(f"{path}: the line did not fit on the disk")
        os.fsync(file)
    finally:
        os.close(file)
