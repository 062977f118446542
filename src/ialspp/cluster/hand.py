"""What a worker does with batches of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .sending import Packed, unpacked

Work = Callable[[Any, Any, int], Any]


class Hand:
    """A worker's part in tasks, one after the other."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._task: int | None = None
        self._shared: Any = None

    def work(self, work: Work, task: int, shared: Packed, batch: Any) -> Any:
        """Work on a batch. What batches share is put together for the first one of a task, and kept."""
        if task != self._task:
            self._task = self._shared = None
            self._shared = unpacked(shared)
            self._task = task
        return work(self._shared, batch, self._threads)
