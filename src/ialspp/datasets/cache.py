"""Where downloaded data is kept, and one writer at a time."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_folder() -> Path:
    """The folder of downloaded data: $IALSPP_CACHE/datasets, else in the user's cache directory."""
    root = os.environ.get("IALSPP_CACHE")
    if root:
        return Path(root).expanduser().absolute() / "datasets"
    from platformdirs import user_cache_path

    return user_cache_path("ialspp") / "datasets"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the right to write `path`; others wait.

    The system frees the lock when its holder dies, however it dies. The lock file stays: were it removed,
    a process that waits on it and one that comes later would hold two different files.
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
                if error.errno != errno.EDEADLK:  # it gives up so after ten seconds; a download takes longer
                    raise
            else:
                return

else:
    import fcntl

    def _wait_for(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)
