"""Locks between processes. The system releases a lock when its holder ends, even if it is killed."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the only right to write `path`; other processes wait for it.

    The lock file stays: if it were removed, a process that waits for it and one that comes later would lock
    two different files.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f"{path.name}.lock").open("ab") as lock:
        _wait_for(lock.fileno())
        yield


@contextmanager
def replacing(target: Path) -> Iterator[None]:
    """Hold the only right to give another file the name `target`, for a moment. The file there is the lock.

    Where there is no file, or no lock to be had, nothing is held: the last to come gives its file the name.
    """
    held = _locked_file(target)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def _locked_file(target: Path) -> int | None:
    """Open and lock the file at `target`, or return None."""
    try:
        while True:
            file = os.open(target, os.O_RDONLY)
            try:
                _wait_for(file)
                if os.path.samestat(os.fstat(file), target.stat()):
                    return file
            except BaseException:
                os.close(file)
                raise
            os.close(file)  # another process replaced the file while this one waited
    except OSError:  # no file, none that we may read, or a file system without locks
        return None


if sys.platform == "win32":
    import msvcrt

    def _wait_for(file: int) -> None:
        while True:
            try:
                msvcrt.locking(file, msvcrt.LK_LOCK, 1)
            except OSError as error:
                if error.errno != errno.EDEADLK:  # raised after ten seconds; a download may take longer
                    raise
            else:
                return

    def lock_if_possible(_file: int) -> None:
        """Lock nothing: an open file cannot be removed here."""

    def try_to_lock(_file: int) -> bool:
        """Lock nothing: an open file cannot be removed here."""
        return True

else:
    import fcntl

    def _wait_for(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

    def lock_if_possible(file: int) -> None:
        """Lock an open file, unless its file system has no locks."""
        with suppress(OSError):
            _wait_for(file)

    def try_to_lock(file: int) -> bool:
        """Lock an open file, or return False if another process holds it, or this one by another opening."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # also on a file system without locks, where nobody can tell
            return False
        return True
