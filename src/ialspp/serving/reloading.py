"""The model file is replaced: the new one is loaded and checked beside the old one, then takes its place."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from ..errors import IalsppError
from ..files.version import FileVersion
from .metrics import Metrics
from .served import Served

LOG = logging.getLogger("ialspp")
Result = TypeVar("Result")
PAUSE = 10.0  # seconds until a file is tried again that could not be read


class Reloader:
    """Holds the model that answers, and exchanges it. A file that is bad leaves the old model in place.

    Attributes
    ----------
    current
        The model that answers.
    error
        Why the newest file is not served; None if it is.
    """

    def __init__(self, path: Path, threads: int | None, metrics: Metrics) -> None:
        self._path, self._threads, self._metrics = path, threads, metrics
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ialspp-loading")
        self._one_at_a_time: asyncio.Lock | None = None  # made in the event loop
        self._exchanges: set[asyncio.Task[bool]] = set()
        self.error: str | None = None
        self.current = Served(path, threads)
        # A bad file is not tried twice. None: the last one could not be read, which may pass.
        self._tried: FileVersion | None = self.current.version
        self._note()

    async def reload(self) -> bool:
        """Load the file, whether or not it has changed; return whether another model answers now.

        An error says why the old model stays. Who stops waiting does not stop the exchange.
        """
        exchange = asyncio.create_task(self._reload())
        self._exchanges.add(exchange)  # or it could be collected while it runs
        exchange.add_done_callback(self._forget)
        return await asyncio.shield(exchange)

    def _forget(self, exchange: asyncio.Task[bool]) -> None:
        self._exchanges.discard(exchange)
        if not exchange.cancelled():
            exchange.exception()  # is noted already, also if nobody waits for it

    async def _reload(self) -> bool:
        if self._one_at_a_time is None:
            self._one_at_a_time = asyncio.Lock()
        async with self._one_at_a_time:
            before = self.current.checksum
            try:
                self._tried = await self._in_thread(FileVersion.of, self._path)
                self.current = await self._in_thread(Served, self._path, self._threads)
            except (IalsppError, OSError, MemoryError) as error:
                if not isinstance(error, (IalsppError, FileNotFoundError)):
                    self._tried = None
                self.error = _without_folder(error, self._path)
                self._metrics.count_reload(worked=False)
                LOG.warning("reload failed, the old model stays: %s", self.error)
                raise
            self.error = None
            self._metrics.count_reload(worked=True)
            self._note()
            return self.current.checksum != before

    async def watch(self, seconds: float) -> None:
        """Look at the file again and again, and load it when another one is there."""
        while True:
            await asyncio.sleep(seconds)
            try:
                found = await self._in_thread(FileVersion.of, self._path)
            except OSError:
                continue  # between two versions; the old model stays
            if found != self._tried:
                await self.try_reload()
                if self._tried is None:
                    await asyncio.sleep(PAUSE)

    async def try_reload(self) -> None:
        """Load the file; a failure is noted, and nothing else."""
        with suppress(IalsppError, OSError, MemoryError):  # the log, /health/ready and /metrics have it
            await self.reload()

    def close(self) -> None:
        """Let the thread end."""
        self._thread.shutdown(wait=False)

    def _note(self) -> None:
        self._metrics.set_model(self.current.checksum, self.current.written, self.current.loaded)
        LOG.info("serving %s, checksum %s", self._path.name, self.current.checksum)

    async def _in_thread(self, work: Callable[..., Result], *arguments: Any) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)


def _without_folder(error: BaseException, path: Path) -> str:
    """Describe an error to clients, who need not know where the file is."""
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return text.replace(str(path), path.name)
