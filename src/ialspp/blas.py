"""numpy's linear algebra with the same bits on any number of threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_lock = threading.Lock()  # the limit is the whole process's


def _renew_lock() -> None:
    """In a forked child, where whoever held it does not exist."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """More of them would sum in another order."""
    with _lock, _libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> Any:
    """Looking for them takes milliseconds; numpy's is there by now."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
