"""Work on many rows, one batch after another: here, or by the workers of a cluster.

Batches depend on the data alone, and rows of a batch do not depend on each other. So the bits are the same
wherever a batch is worked on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import Protocol, TypeVar

Shared = TypeVar("Shared")
Batch = TypeVar("Batch")
Result = TypeVar("Result")
Sent = TypeVar("Sent", contravariant=True)
Received = TypeVar("Received", covariant=True)


class BatchCluster(Protocol):
    """Machines that work on batches: `ialspp.cluster.RayCluster`."""

    def batches(
        self,
        work: Callable[[Shared, Batch, int], Result],
        shared: Shared,
        batches: Iterable[Batch],
    ) -> Iterator[Result]:
        """Give the results in the order of the batches. A few batches are worked on at a time.

        Parameters
        ----------
        work
            A function of a module: of what all batches share, of a batch, and of a number of threads.
        shared
            What every worker gets once. Arrays of mapped files are mapped again where the worker is.
        batches
            They are taken as workers become free.
        """


class Calls(Protocol[Sent, Received]):
    """Workers that each work on one batch at a time, for callers who plan batches as results come in."""

    @property
    def workers(self) -> int:
        """How many workers there are now."""

    def room(self) -> int:
        """Return how many batches can begin. Waits until there is a worker."""

    def begin(self, number: int, batch: Sent) -> None:
        """Give a batch, with a number of its own, to a worker."""

    def ended(self) -> tuple[Mapping[int, Received], list[int]]:
        """Wait for a moment; return results by number, and the numbers of batches whose workers are lost."""


class CallCluster(Protocol):
    """Machines with such workers: `ialspp.cluster.RayCluster`."""

    def calls(
        self, work: Callable[[Shared, Batch, int], Result], shared: Shared
    ) -> AbstractContextManager[Calls[Batch, Result]]:
        """Start workers, and end them in the end; see `BatchCluster.batches`."""


def worked_on(
    work: Callable[[Shared, Batch, int], Result],
    shared: Shared,
    batches: Iterable[Batch],
    threads: int,
    cluster: BatchCluster | None,
) -> Iterator[Result]:
    """Work on batches here, with so many threads, or on a cluster, whose workers have their own number."""
    if cluster is None:
        return (work(shared, batch, threads) for batch in batches)
    return cluster.batches(work, shared, batches)


def ranges(begin: int, end: int, size: int) -> list[tuple[int, int]]:
    """Cut rows `begin` to `end` into ranges of this size; the last one may be shorter."""
    return list(pairwise([*range(begin, end, size), end])) if begin < end else []
