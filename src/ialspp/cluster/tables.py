"""Tables in a worker's own memory: what it reads at random, and what its jobs return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import aligned
from .jobs import SIDES, Job, SideName


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

    def __init__(self, memory: dict[SideName, Memory], jobs: Sequence[Job]) -> None:
        self._memory = memory
        self._rows = {side: sum(job.rows for job in jobs if job.piece.side == side) for side in SIDES}
        self._tables: dict[SideName, NDArray[Any]] = {}
        self._made = dict.fromkeys(SIDES, 0)

    def add(self, job: Job, array: NDArray[Any]) -> NDArray[Any]:
        """Copy the array of a job, and return the copy, which can be changed."""
        side = job.piece.side
        if side not in self._tables:
            self._tables[side] = self._memory[side].table(self._rows[side], array.shape[1], array.dtype)
        begin = self._made[side]
        self._made[side] += job.rows
        copy = self._tables[side][begin : self._made[side]]
        copy[:] = array
        return copy

    @property
    def arrays(self) -> list[NDArray[Any] | None]:
        """The array of each side, until the next call. Ray copies it into the object store before."""
        return [self._tables.get(side) for side in SIDES]
