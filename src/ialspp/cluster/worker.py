"""A worker: the process on a node that does what the driver asks, for one call after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from ..system.machine import select_isa
from .copies import DataFile
from .fetching import Wanted, sent
from .hand import Hand, Work
from .jobs import Doing, Fixed, Job
from .needs import Fetch
from .sending import Packed
from .trainer import Trainer


class Worker:
    """What the process of a worker runs: an actor of Ray's, which trains and works on batches."""

    def __init__(self, isa: str, threads: int) -> None:
        self._isa = isa
        self._threads = threads
        self._hand = Hand(threads)
        self._trainer: Trainer | None = None

    def ready(self) -> None:
        """Use the driver's kernels: so the bits are the same."""
        select_isa(self._isa, f"the driver works with {self._isa}")

    def open(self, file: DataFile, fetch: Fetch) -> None:
        """Open the data of a fit."""
        self.ready()
        self._hand = Hand(self._threads)  # without what it keeps of its last task
        self._trainer = None  # before there is another: both may need much memory
        self._trainer = Trainer(file, self._threads, fetch)

    def close(self) -> None:
        """Free the data and the memory of a fit that has ended."""
        self._trainer = None

    def train(self, jobs: Sequence[Job], arguments: dict[str, Any], fixed: Fixed | None) -> list[Any]:
        """Do jobs of the fit; return their arrays, joined, and then the list of their reports."""
        assert self._trainer is not None
        return self._trainer.work(jobs, arguments, fixed)

    def tell(self) -> Doing:
        """Say how far the jobs are. A thread of its own does this, while others work."""
        assert self._trainer is not None
        return self._trainer.tell()

    def send(self, wanted: Wanted) -> NDArray[Any]:
        """Copy rows for another worker. A thread of its own does this, too."""
        return sent(wanted)

    def work(self, work: Work, task: int, shared: Packed, batch: Any) -> Any:
        """Work on a batch of a task."""
        return self._hand.work(work, task, shared, batch)
