"""Shards: fixed ranges of rows. Sums over rows are made shard by shard, here and on many machines alike.

The shards depend on the data alone, and the sums of shards are added in pairs, as a binary tree. So the bits
of a sum depend neither on the number of threads nor on which machine has which shards.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

Bounds = NDArray[np.int64]
"""Where each shard begins, and where the last one ends."""

LEAST, MOST = 16, 256  # enough for the threads of one machine, and for a hundred machines
ROWS = 512  # of a shard, where their number is between the two: with fewer, adding up shards takes the time
PAIRS = 2**20  # of a shard at most, on average: it bounds what a machine fetches at a time


def count_of(rows: int, pairs: int) -> int:
    """Return the number of shards."""
    return max(min(max(rows // ROWS, LEAST), MOST), min(pairs // PAIRS, rows))


def bounds_of(offsets: NDArray[np.int64]) -> Bounds:
    """Cut rows into shards that cost alike: half of the cost of a row is its interactions', half its own."""
    rows, pairs = len(offsets) - 1, int(offsets[-1])
    count = count_of(rows, pairs)

    def cost(row: int) -> int:
        """Return the cost of all rows before this one, times the number of shards."""
        return count * (int(offsets[row]) * rows + row * pairs)

    begins = [bisect_left(range(rows + 1), 2 * rows * pairs * shard, key=cost) for shard in range(count)]
    return np.array([*begins, rows])


Node = tuple[int, int]
"""A part of the tree of sums: its first shard, and the one after its last."""


def halves(node: Node) -> tuple[Node, Node]:
    """Return the two nodes that a sum over more than one shard is made of: the first has a power of two."""
    begin, end = node
    middle = begin + (1 << (end - begin - 1).bit_length() - 1)
    return (begin, middle), (middle, end)
