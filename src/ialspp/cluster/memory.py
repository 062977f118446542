"""What the nodes of a fit fetch, chosen before it begins by the room in their object stores."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from ..data.csr import Csr
from ..data.interactions import Interactions
from ..solvers.shards import bounds_of
from .jobs import Piece, SideName, pieces_of
from .needs import FETCHED, Batches, Estimate, Factors, Fetch, Needs, distinct, most_pairs
from .rooms import Rooms

Pieces = tuple[list[Piece], list[Piece]]


@dataclass(frozen=True, slots=True)
class Choice:
    """What nodes fetch, and what the fit is estimated to need and to move."""

    fetch: Fetch
    size: Factors
    needs: Needs
    batch: float = inf  # bytes of the rows that are fetched at a time

    def pieces(self, data: Interactions, workers: int) -> Pieces:
        """Cut both sides into pieces. Where rows are fetched, a piece is a batch."""
        users, items = (
            pieces_of(
                name,
                bounds_of(rows.offsets),
                workers,
                rows.offsets,
                most_pairs(self.batch, rows.n_columns, self.size.row),
            )
            for name, rows in _sides(data)
        )
        return users, items

    def estimate(self, data: Interactions, pieces: Pieces) -> Estimate:
        """Say what the fit is estimated to need and to move."""
        received = int(self._received(data, pieces))
        return Estimate(self.fetch, self.needs.driver, self.needs.other, received)

    def _received(self, data: Interactions, pieces: Pieces) -> float:
        """Estimate the bytes that a node receives in an epoch, in single precision."""
        if self.fetch == "side":
            return self.size.both * self.size.others
        rows = sum(
            distinct(pairs, side.n_columns)
            for (_, side), some in zip(_sides(data), pieces, strict=True)
            for pairs in _pairs_of(side, some)
        )
        return rows * self.size.row * self.size.others / self.size.nodes


def chosen(data: Interactions, dim: int, fetch: Fetch | None) -> Choice:
    """Choose what nodes fetch: what is asked for, else a whole side where there is room for it.

    Raises an error that says how large the object store of a node must be.
    """
    rooms = Rooms.now()
    size = Factors(data.n_users, data.n_items, dim, len(rooms.rooms))
    side = Choice("side", size, Needs.of_side(size))
    if fetch == "side" or (fetch is None and rooms.have(side.needs)):
        choice = side
    else:
        batch = _batches(data, size).room(size, rooms.rooms[0], rooms.smallest)
        choice = Choice("rows", size, Needs.of_rows(size, batch), batch)
    wanted = (
        f"for {size.users:,} users and {size.items:,} items with {dim} dimensions where nodes fetch "
        f"{FETCHED[choice.fetch]}"
    )
    rooms.require(choice.needs, wanted)
    return choice


def _batches(data: Interactions, size: Factors) -> Batches:
    """Say how large batches may be, for one worker on each node."""
    sides = [(name, rows, bounds_of(rows.offsets)) for name, rows in _sides(data)]
    shards = [int(np.diff(rows.offsets[bounds]).max(initial=0)) for _, rows, bounds in sides]
    pieces = [max(_pairs_of(rows, pieces_of(name, bounds, size.nodes))) for name, rows, bounds in sides]
    return Batches.of(size, (shards[0], shards[1]), (pieces[0], pieces[1]))


def _pairs_of(rows: Csr, pieces: list[Piece]) -> list[int]:
    return [int(rows.offsets[piece.end] - rows.offsets[piece.begin]) for piece in pieces]


def _sides(data: Interactions) -> list[tuple[SideName, Csr]]:
    return [("user", data.by_user), ("item", data.by_item)]
