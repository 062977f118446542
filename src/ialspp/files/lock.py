"""A lock between processes, so that only one of them writes a file."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the only right to write `path`; other processes wait for it.

    The system releases the lock when its holder ends, even if it is killed. The lock file stays: if it were
    removed, a process that waits for it and one that comes later would lock two different files.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f"{path.name}.lock").open("ab") as lock:
        _wait_for(lock.fileno())
        yield


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

else:
    import fcntl

    def _wait_for(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)
