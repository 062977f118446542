"""Locks between processes. The system releases a lock when its holder ends, even if it is killed."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
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
    So it is on Windows, which replaces no file that is open.
    """
    while True:
        with ExitStack() as held:
            if os.name != "nt":
                with suppress(OSError):  # no file, none that we may write, or a file system without locks
                    # Nothing is written to it, but NFS locks no file that is open for reading only.
                    file = held.enter_context(target.open("rb+"))
                    _wait_for(file.fileno())
                    held.callback(unlock, file.fileno())
                    if not is_named(file.fileno(), target):
                        continue  # another process replaced the file while this one waited
            yield
            return


def is_named(file: int, path: Path) -> bool:
    """Tell whether an open file is the one at `path`. It may have been replaced or removed."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


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

    def unlock(_file: int) -> None:
        """Unlock nothing."""

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

    def unlock(file: int) -> None:
        """Release a lock. To close the file is not enough where a forked child has it open too."""
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)
