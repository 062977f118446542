"""A model on paper: memory, bytes and time of an epoch on many machines, by the schedule of its transfers.

U users, I items, S pairs, d dimensions, K nodes, b = 4 bytes a number, r = (K - 1) / K. Bytes are those that
a node receives in an epoch.

- A, `RayCluster(fetch="side")`: the side that is held fixed goes to every node. (U + I) d b r.
- B, one block of p columns after the other, users never move: I d b ((p + 1) / 2 + 2) r. Not built.
- C, `RayCluster(fetch="rows")`: both sides stay where they are, and for each batch of its rows a node fetches
  those that their interactions name. N d b r / K, where N counts the rows that are named in a batch, over all
  batches of both sides: at most 2 S, and the fewer the larger a batch may be.

The driver has all factors once more for the model, and again for a checkpoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from ..errors import InvalidValueError
from ..solvers.shards import count_of
from ..system.checks import checked_integer, checked_number
from .jobs import PIECES_FOR_EACH_WORKER
from .needs import SHARE_OF_A_BATCH, Batches, Factors, Needs, distinct, most_pairs

BLOCK = 16  # columns, as IALSpp chooses them
PAIR = 8  # bytes of an interaction in a file of prepared data: once by user, once by item
ROW_OF_DATA = 16  # bytes beside the interactions: where a row begins, and its id

# Seconds of a core for SpectralCG, measured on an AMD EPYC (Zen 3, AVX2) on 2026-11-17: an epoch takes
# PER_PAIR S d + PER_ROW (U + I) d^2.
PER_PAIR = 1.45e-9
PER_ROW = 7.5e-12


@dataclass(frozen=True, slots=True)
class Size:
    """A problem, and the cluster that it is to be trained on."""

    users: int
    items: int
    pairs: int
    dim: int
    nodes: int
    memory: float  # bytes of each node
    bandwidth: float  # bytes that a node receives in a second
    cores: int = 1  # of each node

    def __post_init__(self) -> None:
        for name in ("users", "items", "pairs", "dim", "nodes", "cores"):
            checked_integer(name, getattr(self, name), 1)
        if self.pairs > self.users * self.items:
            raise InvalidValueError(
                f"pairs must be at most users x items, {self.users * self.items:,}, got {self.pairs:,}"
            )
        for name in ("memory", "bandwidth"):
            if checked_number(name, getattr(self, name)) == 0:
                raise InvalidValueError(f"{name} must be more than 0")

    @property
    def factors(self) -> Factors:
        """The factors, and the nodes that have them."""
        return Factors(self.users, self.items, self.dim, self.nodes)

    @property
    def data(self) -> float:
        """The bytes of a node's share of the data, in both directions."""
        return (self.pairs * PAIR + (self.users + self.items) * ROW_OF_DATA) / self.nodes

    @property
    def seconds_of_work(self) -> float:
        """The time that all cores work in an epoch."""
        work = PER_PAIR * self.pairs * self.dim + PER_ROW * (self.users + self.items) * self.dim**2
        return work / (self.nodes * self.cores)


@dataclass(frozen=True, slots=True)
class Schedule:
    """What an epoch takes with one schedule."""

    name: str
    memory: float  # bytes of each node
    driver: float  # bytes of the driver's node
    received: float  # bytes by a node in an epoch
    seconds: float
    fits: bool
    is_built: bool  # whether RayCluster can do it


def schedules(size: Size) -> list[Schedule]:
    """Describe an epoch with each schedule."""
    return [
        Schedule(
            name,
            memory,
            driver,
            received,
            size.seconds_of_work + received / size.bandwidth,
            fits=max(memory, driver) <= size.memory,
            is_built=name != "B",
        )
        for name, (memory, driver, received) in zip("ABC", (_a(size), _b(size), _c(size)), strict=True)
    ]


Figures = tuple[float, float, float]
"""The memory of a node, that of the driver's, and the bytes received by a node."""


def _a(size: Size) -> Figures:
    factors = size.factors
    memory, driver = _memory(size, Needs.of_side(factors), factors.larger)
    return memory, driver, factors.both * factors.others


def _b(size: Size) -> Figures:
    factors = size.factors
    own, items = factors.both / size.nodes + size.data, factors.row * size.items
    return own + 2 * items, factors.both, items * ((BLOCK + 1) / 2 + 2) * factors.others


def _c(size: Size) -> Figures:
    factors = size.factors
    users, items = (_cuts(rows, size) for rows in (size.users, size.items))
    # A shard may have twice its share of the pairs.
    shards = 2 * size.pairs / users[0], 2 * size.pairs / items[0]
    batches = Batches.of(factors, shards, (size.pairs / users[1], size.pairs / items[1]))
    room = size.memory - size.data - _results(factors)
    shared = room * SHARE_OF_A_BATCH / (SHARE_OF_A_BATCH + 1)  # the rest is for the copy that a worker reads
    batch = batches.room(factors, inf, shared)
    fetched = 0.0
    for (most, least), other in zip((users, items), (size.items, size.users), strict=True):
        pieces = min(max(least, size.pairs / most_pairs(batch, other, factors.row)), most)
        fetched += pieces * distinct(size.pairs / pieces, other)
    memory, driver = _memory(size, Needs.of_rows(factors, batch), batch)
    return memory, driver + factors.copies, fetched * factors.row * factors.others / size.nodes


def _cuts(rows: int, size: Size) -> tuple[int, int]:
    """Return how many shards a side has, and how many pieces at least."""
    shards = count_of(rows, size.pairs)
    return shards, min(PIECES_FOR_EACH_WORKER * size.nodes, shards)


def _memory(size: Size, store: Needs, table: float) -> tuple[float, float]:
    """Return the memory of a node and of the driver's, beside the store: `table` is what a worker reads."""
    work = size.data + table + _results(size.factors)
    return store.other + work, store.driver + work + 2 * size.factors.both


def _results(factors: Factors) -> float:
    """Return the bytes of results that a worker makes before they are in the store, its halves included."""
    return (factors.both + factors.larger / 2) / factors.nodes
