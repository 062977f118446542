"""What a fit needs and moves, by formulas. This module needs no Ray.

A step updates one side while the other is held fixed. What a node fetches of the fixed side is

- "side": all of it. The simplest, and the fewest bytes where interactions are many.
- "rows": for one batch of its rows after the other, what the interactions of the batch name. Then no object
  store ever has a whole side.

In the object store factors are pieces. While all rows change, old and new ones are there, and a copy of a
side in half precision. The driver keeps a copy of everything, so that the loss of any other node loses
nothing: in the store of its node where sides are fetched, in its own memory where rows are. Rows that are
fetched are in two stores: with who sends them, and with who has asked for them. A node asks for the rows of
the next batch while it works on one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Fetch = Literal["side", "rows"]

FETCHED: dict[Fetch, str] = {"side": "a whole side", "rows": "the rows that they need"}

FLOAT = 4  # bytes
SLACK = 1.1  # for arguments, sums and what Ray keeps beside the arrays
COPIES_OF_A_BATCH = 4  # in the store: two batches, each with two nodes
SHARE_OF_A_BATCH = 8  # a batch takes at most one in so many bytes of the store: it is also copied out of it


@dataclass(frozen=True, slots=True)
class Factors:
    """The size of what is trained, and the number of nodes."""

    users: int
    items: int
    dim: int
    nodes: int

    @property
    def row(self) -> int:
        """The bytes of one row."""
        return FLOAT * self.dim

    @property
    def both(self) -> int:
        """The bytes of both sides."""
        return self.row * (self.users + self.items)

    @property
    def larger(self) -> int:
        """The bytes of the larger side."""
        return self.row * max(self.users, self.items)

    @property
    def numbers(self) -> int:
        """The bytes of one number for each row, which every node has: its lambda, or its scale."""
        return FLOAT * (self.users + self.items)

    @property
    def copies(self) -> float:
        """The bytes of old and new factors, and of a side in half precision."""
        return 2 * self.both + self.larger / 2

    @property
    def others(self) -> float:
        """The share of everything that is on other nodes."""
        return (self.nodes - 1) / self.nodes


@dataclass(frozen=True, slots=True)
class Needs:
    """Bytes of the object store."""

    driver: int
    other: int

    @classmethod
    def of_side(cls, size: Factors) -> Needs:
        """Estimate them where every node fetches the whole side that is held fixed."""
        other = 2 * size.both / size.nodes + size.larger
        return cls(_with_slack(size.copies + size.numbers), _with_slack(other + size.numbers))

    @classmethod
    def of_rows(cls, size: Factors, batch: float) -> Needs:
        """Estimate them where nodes fetch rows for batches of so many bytes."""
        other = size.copies / size.nodes + COPIES_OF_A_BATCH * batch + size.numbers
        arriving = size.both / size.nodes  # results of one node at a time, before the driver copies them
        return cls(_with_slack(other + arriving), _with_slack(other))


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a fit is estimated to need and to move, in bytes.

    Attributes
    ----------
    fetch
        What nodes fetch: "side" or "rows".
    driver, other
        The object store of the driver's node, and that of any other one.
    received
        What a node receives in an epoch in single precision, about half of it in one that reads half
        precision. Where rows are fetched, it is most where all rows have equally many interactions.
    """

    fetch: Fetch
    driver: int
    other: int
    received: int

    def __str__(self) -> str:
        driver, other, received = (
            f"{size / 1e6:,.3g} MB" for size in (self.driver, self.other, self.received)
        )
        return (
            f"nodes fetch {FETCHED[self.fetch]}: about {driver} of the driver's object store, {other} of "
            f"others, {received} received by a node in an epoch"
        )


def _with_slack(size: float) -> int:
    return int(SLACK * size)


@dataclass(frozen=True, slots=True)
class Batches:
    """What the bytes of a batch depend on."""

    least: float  # of the largest shard, which is never cut
    most: float  # of a piece as there are several for each worker: a larger batch would leave nodes idle

    @classmethod
    def of(cls, size: Factors, shards: tuple[float, float], pieces: tuple[float, float]) -> Batches:
        """Estimate them from the most pairs of a shard and of a piece of users, and of items."""
        neighbours = size.items, size.users
        least = max(min(pairs, rows) for pairs, rows in zip(shards, neighbours, strict=True))
        most = max(min(pairs, rows) for pairs, rows in zip(pieces, neighbours, strict=True))
        return cls(size.row * least, size.row * most)

    def room(self, size: Factors, driver: float, other: float) -> float:
        """Return the bytes of a batch that fits object stores of so many bytes, if any does."""
        needs = Needs.of_rows(size, 0)
        left = min(driver - needs.driver, other - needs.other) / (SLACK * COPIES_OF_A_BATCH)
        return max(min(left, min(driver, other) / SHARE_OF_A_BATCH, self.most), self.least)


def most_pairs(batch: float, neighbours: int, row: int) -> float:
    """Return how many pairs a batch may have so that the neighbours that they name take so many bytes."""
    return math.inf if neighbours * row <= batch else batch / row


def distinct(pairs: float, rows: int) -> float:
    """Estimate how many of `rows` are named by pairs that name each of them alike.

    Where some rows are named more often than others, as in most data, it is fewer.
    """
    return rows * -math.expm1(-pairs / rows) if rows else 0.0
