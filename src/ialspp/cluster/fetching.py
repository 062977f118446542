"""Fetching the side that is held fixed: all of it, or the rows that one piece after the other needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import ray
from numpy.typing import NDArray
from ray.exceptions import RayError

from ..data.csr import RowNumbers
from .jobs import Fixed
from .lost import is_loss
from .tables import Memory
from .traffic import Slice

BESIDE = "beside"  # the threads of a worker that answer others while one works
ON_THIS_NODE = 60.0  # seconds until an array that this node should have counts as lost
ON_ANOTHER = 600.0  # the same for one that has to be sent here, which may take minutes
Wanted = list[tuple[Slice, RowNumbers]]
"""Rows of some arrays: of each, their numbers among those of its slice."""


class Store:
    """The object store: each array is fetched once a call. It is shared memory, which nobody may change."""

    def __init__(self, patience: float = ON_ANOTHER) -> None:
        """patience: seconds after which an array counts as lost."""
        self._patience = patience
        self._fetched: dict[Any, NDArray[Any]] = {}

    def get(self, rows: Slice | None) -> Any:
        """Return rows of an array."""
        if rows is None:
            return None
        reference, begin, end = rows
        if reference not in self._fetched:
            fetched: Any = ray.get(reference, timeout=self._patience)
            self._fetched[reference] = fetched
        return self._fetched[reference][begin:end]


def whole_side(fixed: Fixed, memory: Memory, store: Store) -> NDArray[Any]:
    """Fetch and join all rows of the fixed side."""
    pieces = [store.get(slice) for slice in fixed.slices]
    return np.concatenate(pieces, out=memory.table(sum(map(len, pieces)), fixed.width, fixed.dtype))


def sent(wanted: Wanted, patience: float = ON_THIS_NODE) -> NDArray[Any]:
    """Copy rows out of arrays that are on this node, for a worker of another one."""
    store = Store(patience)
    return np.concatenate([store.get(slice)[numbers] for slice, numbers in wanted])


@dataclass(eq=False)
class Asked:
    """Rows of the fixed side, some of which are on their way."""

    rows: int
    here: list[tuple[slice, Slice, RowNumbers]] = field(
        default_factory=list
    )  # which rows, and where they are
    calls: list[tuple[Any, list[slice], Wanted]] = field(default_factory=list)


class NeededRows:
    """The rows that pieces need, asked for one piece ahead."""

    def __init__(self, fixed: Fixed, memory: Memory) -> None:
        self._fixed, self._memory = fixed, memory
        self._starts = np.cumsum([0, *(end - begin for _, begin, end in fixed.slices)])
        self.received = 0  # bytes that came from other nodes

    def of(self, pieces: Sequence[RowNumbers]) -> Iterator[NDArray[Any]]:
        """Return a table of the rows that each piece needs. It lasts until the next one."""
        ahead = self._ask(pieces[0])
        for needed in pieces[1:]:
            now, ahead = ahead, self._ask(needed)
            yield self._taken(now)
        yield self._taken(ahead)

    def _ask(self, needed: RowNumbers) -> Asked:
        """Ask the workers that have them for rows, in ascending order."""
        asked = Asked(len(needed))
        cuts = np.searchsorted(needed, self._starts).tolist()
        by_sender: dict[int, list[tuple[slice, Slice, RowNumbers]]] = defaultdict(list)
        for number, (begin, end) in enumerate(pairwise(cuts)):
            if begin < end:
                numbers = needed[begin:end] - np.int32(self._starts[number])
                part = slice(begin, end), self._fixed.slices[number], numbers
                sender = self._fixed.senders[number]
                (asked.here if sender is None else by_sender[sender]).append(part)
        for sender, parts in by_sender.items():
            wanted = [(array, numbers) for _, array, numbers in parts]
            call = self._fixed.workers[sender].send.options(concurrency_group=BESIDE).remote(wanted)
            asked.calls.append((call, [rows for rows, *_ in parts], wanted))
        return asked

    def _taken(self, asked: Asked) -> NDArray[Any]:
        """Put the rows into a table as they come."""
        table = self._memory.table(asked.rows, self._fixed.width, self._fixed.dtype)
        for rows, part, numbers in asked.here:
            np.take(Store().get(part), numbers, axis=0, out=table[rows], mode="clip")  # "raise" copies twice
        for call, slices, wanted in asked.calls:
            ends = np.cumsum([rows.stop - rows.start for rows in slices])
            for rows, some in zip(slices, np.split(self._received(call, wanted), ends[:-1]), strict=True):
                table[rows] = some
        return table

    def _received(self, call: Any, wanted: Wanted) -> NDArray[Any]:
        """Wait for rows; where their sender is lost, fetch the arrays that it was asked to copy from."""
        try:
            rows: NDArray[Any] = ray.get(call)
            self.received += rows.nbytes
        except RayError as error:
            if not is_loss(error):
                raise
            rows = sent(wanted, ON_ANOTHER)
            self.received += sum(ray.get(reference).nbytes for (reference, _, _), _ in wanted)
        return rows
