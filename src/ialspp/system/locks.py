"""Locks that survive a fork, and BLAS held to one thread."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from weakref import WeakSet


class ProcessLock:
    """A lock for the threads of one process, used as `with lock:`.

    A forked child starts with the lock released: the thread that may have held it does not exist there.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _all_locks.add(self)

    def renew(self) -> None:
        """Release the lock, whoever holds it."""
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


_all_locks: WeakSet[ProcessLock] = WeakSet()


def _renew_all() -> None:
    for lock in list(_all_locks):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)

_blas_lock = ProcessLock()  # the limit on BLAS threads applies to the whole process


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread, so that the order of its sums never varies."""
    with _blas_lock, _blas_libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _blas_libraries() -> Any:
    """Find the BLAS libraries that are loaded. The search takes milliseconds, so it is done once."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
