"""Requests that arrive together are ranked together.

A thread ranks, and the event loop goes on: the native call releases the GIL. While one group of requests is
ranked, the next one gathers. So a lonely request waits for nothing, and the busier the service, the larger
the groups, each of which costs little more than one request. What takes less time than handing it to a
thread and getting the GIL back does, the event loop ranks itself.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import NamedTuple, TypeAlias

from ..errors import IalsppError
from .answering import Asked, answered, work_of
from .metrics import Metrics
from .problems import Problem
from .schema import Recommendations
from .served import Served
from .settings import Limits

MOST_TOGETHER = 256  # requests of one group: more would make the first ones wait long
QUICK = 2**24  # multiplications that the event loop does itself: they take less than a millisecond


class Group(NamedTuple):
    """Answers, and the model that all of them come from."""

    served: Served
    answers: list[Recommendations | IalsppError]


Waiting = tuple[Sequence[Asked], "asyncio.Future[Group]"]
Ranked: TypeAlias = "asyncio.Future[list[Recommendations | IalsppError]]"


class Batcher:
    """Gathers requests and ranks them in a thread, one group after the other."""

    def __init__(self, current: Callable[[], Served], limits: Limits, metrics: Metrics) -> None:
        self._current, self._limits, self._metrics = current, limits, metrics
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ialspp-ranking")
        self._waiting: deque[Waiting] = deque()
        self._is_busy = False

    async def answer(self, asked: Sequence[Asked]) -> Group:
        """Answer requests that belong together, from one model."""
        if len(self._waiting) >= self._limits.waiting:
            raise Problem(503, f"{self._limits.waiting:,} requests are waiting already; try again later")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Group] = loop.create_future()
        self._waiting.append((asked, future))
        if not self._is_busy:
            self._is_busy = True
            loop.call_soon(self._start)  # after those that have arrived at the same moment
        return await future

    def close(self) -> None:
        """Let the thread end."""
        self._thread.shutdown(wait=False)

    def _start(self) -> None:
        """Hand the thread the next group, if anyone is waiting."""
        group: list[Waiting] = []
        size = 0
        while self._waiting and (not group or size + len(self._waiting[0][0]) <= MOST_TOGETHER):
            waiting = self._waiting.popleft()
            if not waiting[1].done():  # or its client has given up
                group.append(waiting)
                size += len(waiting[0])
        self._is_busy = bool(group)
        if not group:
            return
        served = self._current()
        asked = [each for some, _ in group for each in some]
        self._metrics.count_group(size)
        thread = None if work_of(served, asked) <= QUICK else self._thread
        self._rank(thread, served, asked).add_done_callback(lambda done: self._deliver(served, group, done))

    def _rank(self, thread: Executor | None, served: Served, asked: Sequence[Asked]) -> Ranked:
        """Answer in a thread, or at once."""
        loop = asyncio.get_running_loop()
        if thread is not None:
            return loop.run_in_executor(thread, answered, served, asked, self._limits)
        done: Ranked = loop.create_future()
        try:
            done.set_result(answered(served, asked, self._limits))
        except Exception as error:  # a bug: it is that of the requests, not of the event loop
            done.set_exception(error)
        return done

    def _deliver(self, served: Served, group: list[Waiting], done: Ranked) -> None:
        error = done.exception()
        answers = [] if error is not None else done.result()
        first = 0
        for asked, future in group:
            last = first + len(asked)
            if future.done():
                pass
            elif error is not None:
                future.set_exception(error)
            else:
                future.set_result(Group(served, answers[first:last]))
            first = last
        self._start()
