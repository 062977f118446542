"""Open regular files only: a pipe would make its reader wait for ever, and a device has no end."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .parsing import StoreError

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@contextmanager
def regular_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to read it. One that is not regular is a `StoreError`, a folder an `IsADirectoryError`."""
    _require_regular(path, path.stat())  # before it is opened: to open a device may do something
    with open(path, "rb", opener=_open_at_once) as file:
        _require_regular(path, os.fstat(file.fileno()))  # another file may have got the name meanwhile
        yield file


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _require_regular(path: Path, found: os.stat_result) -> None:
    kind = _KINDS.get(stat.S_IFMT(found.st_mode))
    if kind is not None:
        raise StoreError(f"{path} is {kind}; a regular file is required")
