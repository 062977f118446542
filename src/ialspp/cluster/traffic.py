"""Arrays in the object store: which nodes have them, and how many bytes went from node to node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

Slice = tuple[Any, int, int]
"""Some rows of an array in the object store, for workers: a reference to it, their begin and their end."""


@dataclass(eq=False)
class Stored:
    """An array in the object store.

    Where nodes fetch whole sides, `array` is a view of the driver's node's copy. While the driver has it, the
    copy stays, and Ray can serve it to others when the node that made it is lost. Where nodes fetch rows, the
    driver has a copy of its own, and puts it into the store of its node when no other has the array any more.
    """

    reference: Any
    array: NDArray[Any]
    nodes: set[str]  # those that have a copy


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Some rows of an array in the object store: the factors or weights of one piece."""

    stored: Stored
    begin: int
    end: int

    @property
    def array(self) -> NDArray[Any]:
        """The rows."""
        return self.stored.array[self.begin : self.end]

    @property
    def slice(self) -> Slice:
        """The rows, as workers are told of them."""
        return self.stored.reference, self.begin, self.end


def joined(parts: Sequence[Part]) -> list[Part]:
    """Merge consecutive parts that are beside each other in one array."""
    merged: list[Part] = []
    for part in parts:
        last = merged[-1] if merged else None
        if last is not None and last.stored is part.stored and last.end == part.begin:
            merged[-1] = Part(part.stored, last.begin, part.end)
        else:
            merged.append(part)
    return merged


class Traffic:
    """Counts bytes by the node that receives them."""

    def __init__(self, driver: str) -> None:
        self.driver = driver
        self.received: Counter[str] = Counter()

    def send(self, arrays: Iterable[Stored], node: str) -> None:
        """Count what a node has to fetch to work on arrays."""
        for stored in arrays:
            if node not in stored.nodes:
                stored.nodes.add(node)
                self.received[node] += stored.array.nbytes

    def fetch(self, stored: Stored, *, keep: bool) -> None:
        """Count what the driver fetches. keep: its node's store keeps it."""
        if keep:
            self.send([stored], self.driver)
        elif self.driver not in stored.nodes:
            self.received[self.driver] += stored.array.nbytes
