"""Which node has which piece of factors, and how many bytes went from node to node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass(eq=False)
class Stored:
    """An array in the object store.

    The driver keeps `array`, a view of its own node's copy. While it does, the copy stays, and Ray can serve
    it to others when the node that made it is lost.
    """

    reference: Any
    array: NDArray[Any]
    nodes: set[str]  # those that have a copy


class Traffic:
    """Counts bytes by the node that receives them."""

    def __init__(self, driver: str) -> None:
        self.driver = driver
        self.received: Counter[str] = Counter()

    def send(self, pieces: Iterable[Stored], node: str) -> None:
        """Count what a node has to fetch to work on pieces."""
        for piece in pieces:
            if node not in piece.nodes:
                piece.nodes.add(node)
                self.received[node] += piece.array.nbytes

    def fetch(self, pieces: Iterable[Stored]) -> None:
        """Count what the driver fetches."""
        self.send(pieces, self.driver)

    def largest(self) -> int:
        """Return the most bytes that a node other than the driver's has received."""
        return max((size for node, size in self.received.items() if node != self.driver), default=0)
