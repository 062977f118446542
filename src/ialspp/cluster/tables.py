"""Tables in a worker's own memory: what it reads at random, and what its jobs return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import aligned
from .jobs import RESULTS, SIDES, Job, ResultName


class Memory:
    """Memory for one table at a time. It is used again: new memory takes longer than filling it."""

    def __init__(self) -> None:
        self._numbers = aligned((0,))

    def table(self, rows: int, width: int, kind: np.dtype[Any]) -> NDArray[Any]:
        """Return a table, not initialised. It lasts until the next one."""
        size = -(-rows * width * kind.itemsize // 4)
        if len(self._numbers) < size:
            self._numbers = aligned((size,))
        numbers = self._numbers[:size].view(kind)[: rows * width]
        return numbers.reshape(rows, width)


class Results:
    """The arrays that jobs return: those of a side one after the other, in memory that is used again."""

    def __init__(self, memory: dict[ResultName, Memory], jobs: Sequence[Job]) -> None:
        self._memory = memory
        self._rows = {side: sum(job.rows for job in jobs if job.piece.side == side) for side in SIDES}
        self._tables: dict[ResultName, NDArray[Any]] = {}
        self._made = dict.fromkeys(RESULTS, 0)

    def add(self, job: Job, array: NDArray[Any]) -> NDArray[Any]:
        """Copy the factors of a job, and return the copy, which can be changed."""
        return self._add(job.piece.side, job, array)

    def add_half(self, job: Job, array: NDArray[Any]) -> None:
        """Copy the half precision of a job. Jobs of one side only may have any."""
        self._add("half", job, array)

    def _add(self, name: ResultName, job: Job, array: NDArray[Any]) -> NDArray[Any]:
        if name not in self._tables:
            rows = self._rows[job.piece.side]
            self._tables[name] = self._memory[name].table(rows, array.shape[1], array.dtype)
        begin = self._made[name]
        self._made[name] += job.rows
        copy = self._tables[name][begin : self._made[name]]
        copy[:] = array
        return copy

    @property
    def arrays(self) -> list[NDArray[Any] | None]:
        """The arrays of all jobs, until the next call. Ray copies them into the object store before."""
        return [self._tables.get(name) for name in RESULTS]
