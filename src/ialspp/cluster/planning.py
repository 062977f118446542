"""A model on paper: memory, bytes and time of an epoch on many machines, by the schedule of its transfers.

U users, I items, S pairs, d dimensions, K nodes, b = 4 bytes a number, r = (K - 1) / K. Bytes are those that
a node receives in an epoch.

- A, which `RayCluster` uses: the side that is held fixed goes to every node. (U + I) d b r.
- B, one block of p columns after the other, users never move: I d b ((p + 1) / 2 + 2) r.
- C, both sides stay where they are, and a node fetches the rows that its interactions name: 2 S d b r / K.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InvalidValueError
from ..system.checks import checked_integer, checked_number

FLOAT = 4  # bytes
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
        for name in ("memory", "bandwidth"):
            if checked_number(name, getattr(self, name)) == 0:
                raise InvalidValueError(f"{name} must be more than 0")

    @property
    def others(self) -> float:
        """The share of everything that is on other nodes: r."""
        return (self.nodes - 1) / self.nodes

    @property
    def row(self) -> int:
        """The bytes of a row's factors."""
        return self.dim * FLOAT

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
    rows, both = size.row, size.row * (size.users + size.items)
    own = both / size.nodes + size.data
    batch = rows * min(size.users + size.items, 2**20)  # rows that C fetches at a time
    plans = {
        "A": (own + both / size.nodes + rows * max(size.users, size.items), 3 * both, both * size.others),
        "B": (
            own + 2 * rows * size.items,
            both,
            rows * size.items * ((BLOCK + 1) / 2 + 2) * size.others,
        ),
        "C": (own + batch, both, 2 * size.pairs * rows * size.others / size.nodes),
    }
    return [
        Schedule(
            name,
            memory,
            driver,
            received,
            size.seconds_of_work + received / size.bandwidth,
            fits=max(memory, driver if name == "A" else 0) <= size.memory,
            is_built=name == "A",
        )
        for name, (memory, driver, received) in plans.items()
    ]
