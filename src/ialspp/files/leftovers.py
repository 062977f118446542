"""Unfinished files: the names they have while they are written, and what killed processes leave of them.

A process holds a lock on the file that it writes. The system releases it when the process ends, so that a
file that can be locked is one that nobody will finish.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .lock import is_named, lock_if_possible, try_to_lock

LONGEST = 40  # characters of the target's name: with the rest the name must not be too long for the system
_UNFINISHED = re.compile(r"\.(?P<target>.+)\.[0-9]+-[0-9a-f]{16}\.part", re.DOTALL)


def unfinished_name(target: Path) -> Path:
    """Make a new name for a file that will replace `target`, in the same folder."""
    return target.with_name(f".{target.name[:LONGEST]}.{os.getpid()}-{os.urandom(8).hex()}.part")


def finished_name(path: Path) -> Path:
    """Return what a file with an unfinished name will replace; any other path as it is."""
    match = _UNFINISHED.fullmatch(path.name)
    return path.with_name(match["target"]) if match else path


@contextmanager
def in_use(path: Path) -> Iterator[None]:
    """Keep others, for a block of code, from taking a file with an unfinished name for a leftover.

    If one has done so already, and removed it, that is a FileNotFoundError.
    """
    file = os.open(path, os.O_RDWR)
    try:
        lock_if_possible(file)
        if not is_named(file, path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        yield
    finally:
        os.close(file)


def leftovers(folder: Path) -> list[Path]:
    """List the unfinished files in a folder whose writers have ended."""
    found = []
    for path in _unfinished(folder):
        with _abandoned(path) as is_abandoned:
            if is_abandoned:
                found.append(path)
    return sorted(found)


def sweep(target: Path) -> None:
    """Remove what earlier processes left of their attempts to write `target`. Errors are ignored."""
    with suppress(OSError):
        for path in _unfinished(target.parent, target.name[:LONGEST]):
            with _abandoned(path) as is_abandoned, suppress(OSError):  # it may be another user's
                if is_abandoned:
                    path.unlink()


def _unfinished(folder: Path, name: str | None = None) -> Iterator[Path]:
    """Find the unfinished files in a folder: all, or those whose target has this name, finished or not."""
    for entry in folder.iterdir():
        match = _UNFINISHED.fullmatch(entry.name)
        if match and (name in (None, match["target"]) or match["target"].startswith(f".{name}.")):
            yield entry


@contextmanager
def _abandoned(path: Path) -> Iterator[bool]:
    """Tell whether a file's writer has ended, and keep others from telling the same until the block ends."""
    try:
        # For writing, because NFS locks no other file; no link, and no wait for the writer of a pipe.
        file = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        yield False
        return
    try:
        yield try_to_lock(file) and is_named(file, path)  # a writer may create it again under this name
    finally:
        with suppress(OSError):
            os.close(file)
