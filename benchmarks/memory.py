"""The memory of processes: how much one has taken, and a limit that the system enforces."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")


def memory(kind: str) -> float:
    """Return memory of this process, in MB: a line of /proc/self/status."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith(kind)).split()[1]) / 1024


class Watch:
    """Keeps the peak of the anonymous memory of this process, of which the system only keeps the present."""

    def __init__(self) -> None:
        self.peak = memory("RssAnon")
        self._is_done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def _watch(self) -> None:
        while not self._is_done.wait(0.01):
            self.peak = max(self.peak, memory("RssAnon"))

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_done.set()
        self._thread.join()


@contextmanager
def limited(megabytes: float | None) -> Iterator[list[str]]:
    """Make a control group with a limit of memory, mapped files included; needs root.

    Yields the beginning of a command that runs the rest of it in that group.
    """
    if megabytes is None:
        yield []
        return
    is_first = (GROUPS / "memory").is_dir()  # version 1 of control groups
    group = (GROUPS / "memory" if is_first else GROUPS) / f"ialspp-{os.getpid()}"
    group.mkdir()
    try:
        limit = group / ("memory.limit_in_bytes" if is_first else "memory.max")
        limit.write_text(str(int(megabytes * 2**20)))
        yield ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
    finally:
        group.rmdir()
