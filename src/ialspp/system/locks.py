"""A lock for all threads of the process, which a forked child does not inherit."""

from __future__ import annotations

import os
import threading


class ProcessLock:
    """To be used as `with lock:`; made once, at the top of a module."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        """In a child, where whoever held it does not exist."""
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
