"""What the driver asks of a worker: one job for one piece of a side. This module needs no Ray.

A piece is a node of the tree of sums (`solvers.shards`): some consecutive shards, whose sums a worker makes
on its own. Pieces are the same however many workers there are, and any worker can do any job.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..solvers.shards import Bounds, Node, halves
from .traffic import Slice

SideName = Literal["user", "item"]
SIDES: tuple[SideName, SideName] = ("user", "item")
Operation = Literal[
    "update", "multiply", "transform", "fix", "half", "keep", "gramian", "penalties", "squares", "absolute"
]
ResultName = Literal["user", "item", "half"]  # the factors of a side, and a copy in half precision
RESULTS: tuple[ResultName, ...] = (*SIDES, "half")
PIECES_FOR_EACH_WORKER = 8  # so that one more or one less is no great part of a worker's share


@dataclass(frozen=True, slots=True)
class Piece:
    """Some consecutive shards of a side."""

    side: SideName
    number: int
    node: Node  # its shards
    begin: int  # its rows
    end: int

    @property
    def rows(self) -> slice:
        """Its rows among those of the side."""
        return slice(self.begin, self.end)


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """An operation on a piece, and where its factors and weights are in the object store."""

    piece: Piece
    operation: Operation
    factors: Slice | None = None
    weights: Slice | None = None

    @property
    def rows(self) -> int:
        """How many rows the piece has."""
        return self.piece.end - self.piece.begin


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """Where the side that is held fixed is in the object store, in order, and the unit of half precision."""

    slices: list[Slice]
    unit: float | None
    dtype: np.dtype[Any]
    width: int  # numbers of a row
    workers: list[Any] = field(default_factory=list)  # who may be asked for rows
    senders: list[int | None] = field(default_factory=list)  # of each slice; None: it is in this node's store


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """What a job returns beside an array.

    Jobs that change factors also say what the next step needs to know of the new ones: that spares calls.
    """

    total: Any = 0.0  # a sum over the piece; of an update, the observed part of the loss
    gramian: NDArray[np.float64] | None = None
    penalties: NDArray[np.float64] | None = None
    failed_row: int = -1  # of the side
    fits: bool | None = None  # whether there is a copy in half precision; None: nobody wants one
    seconds: float = 0.0  # with the time to fetch what it needs
    received: int = 0  # bytes that came from other nodes, where rows are fetched as they are needed


@dataclass(frozen=True, slots=True)
class Doing:
    """How far a worker is with its jobs."""

    pieces: int  # that are done
    of: int
    rows: int = 0  # of those pieces
    seconds: float = 0.0


def pieces_of(
    side: SideName,
    bounds: Bounds,
    workers: int,
    offsets: NDArray[np.int64] | None = None,
    most_pairs: float = inf,
) -> list[Piece]:
    """Cut a side into pieces: nodes of one level of the tree, with several for each worker.

    Those with more than `most_pairs` interactions are cut further, down to single shards. `offsets` say where
    the interactions of each row begin.
    """
    nodes: list[Node] = [(0, len(bounds) - 1)]
    while len(nodes) < PIECES_FOR_EACH_WORKER * workers and len(nodes) < len(bounds) - 1:
        nodes = [half for node in nodes for half in (halves(node) if node[1] - node[0] > 1 else (node,))]
    if offsets is not None:
        nodes = [small for node in nodes for small in _cut(node, offsets[bounds], most_pairs)]
    return [
        Piece(side, number, node, int(bounds[node[0]]), int(bounds[node[1]]))
        for number, node in enumerate(nodes)
    ]


def _cut(node: Node, starts: NDArray[np.int64], most_pairs: float) -> list[Node]:
    """Cut a node of the tree until its parts have few enough pairs. `starts` are those of the shards."""
    if node[1] - node[0] == 1 or starts[node[1]] - starts[node[0]] <= most_pairs:
        return [node]
    return [small for half in halves(node) for small in _cut(half, starts, most_pairs)]


def added_up(totals: dict[Node, Any], tree: Node) -> Any:
    """Add up the sums of pieces in the order of the tree."""
    if tree in totals:
        return totals[tree]
    first, second = halves(tree)
    return added_up(totals, first) + added_up(totals, second)
