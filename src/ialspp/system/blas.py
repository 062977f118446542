"""numpy's linear algebra with the same bits on any number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from .locks import ProcessLock

_lock = ProcessLock()  # the limit is the whole process's


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
