"""The parts of one worker: its model, the thread that ranks, those for everything else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from .batching import Batcher
from .metrics import Metrics
from .reloading import Reloader
from .served import Served
from .settings import Settings

Result = TypeVar("Result")


class Service:
    """What the routes need. Making one loads the model."""

    def __init__(self, settings: Settings, metrics: Metrics | None = None) -> None:
        self.settings = settings
        self.metrics = Metrics() if metrics is None else metrics
        self.reloader = Reloader(settings.model, settings.threads, self.metrics)
        self.batcher = Batcher(lambda: self.reloader.current, settings.limits, self.metrics)
        self.tell_others: Callable[[], None] = lambda: None  # to load the file again too
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="ialspp-queries")
        self._map_thread = ThreadPoolExecutor(1, thread_name_prefix="ialspp-maps")
        self._watching: asyncio.Task[None] | None = None

    @property
    def served(self) -> Served:
        """The model that answers now. One answer asks once, so that it comes from one model."""
        return self.reloader.current

    async def in_thread(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Run something that may take long beside the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    async def in_map_thread(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Lay out a map, which takes seconds: one at a time, and no other query waits for it."""
        return await asyncio.get_running_loop().run_in_executor(self._map_thread, work, *arguments)

    async def start(self) -> None:
        """Begin to watch the model file."""
        if self.settings.watch is not None:
            self._watching = asyncio.create_task(self.reloader.watch(self.settings.watch))

    async def stop(self) -> None:
        """Let everything end that runs beside the event loop."""
        if self._watching is not None:
            self._watching.cancel()
        self.batcher.close()
        self.reloader.close()
        self._threads.shutdown(wait=False)
        self._map_thread.shutdown(wait=False)
