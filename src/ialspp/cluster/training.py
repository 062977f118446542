"""A fit on a cluster: its workers, its pieces of the data, and what it moves from node to node."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..data.csr import Csr, Floats
from ..data.interactions import Interactions
from ..solvers.shards import bounds_of
from ..solvers.sides import Sums
from ..system.log import log
from ..system.machine import selected_isa
from .crew import Crew, Start
from .jobs import Job, Piece, SideName, pieces_of
from .mapping import Mapper, Task
from .memory import require_room
from .sides import RemoteSide


@contextmanager
def training(
    data: Interactions, dim: int, workers: int | None, threads: int | None
) -> Iterator[ClusterPlace]:
    """Start workers, and end them in the end."""
    assert data.file is not None
    path = str(data.file.path.absolute())
    start = Start(path, data.file.checksum, selected_isa(), workers, threads)
    crew = Crew(start)
    needs = require_room(data.n_users, data.n_items, dim)
    log("the fit needs %d bytes of the driver's object store, %d of others", needs.driver, needs.other)
    try:
        crew.gather()
        yield ClusterPlace(crew, data)
    finally:
        crew.dismiss()


class ClusterPlace:
    """Where the rows of both sides are updated: by the workers."""

    def __init__(self, crew: Crew, data: Interactions) -> None:
        self.crew = crew
        self._pieces: list[list[Piece]] = [
            pieces_of(name, bounds_of(rows.offsets), len(crew.members)) for name, rows in _sides(data)
        ]
        self.mapper = Mapper(crew, {pieces[0].side: len(pieces) for pieces in self._pieces})
        counts = [len(pieces) for pieces in self._pieces]
        log("%d workers train on %d pieces of users and %d of items", len(crew.members), *counts)

    def sides(
        self, data: Interactions, factors: tuple[Floats, Floats], weights: tuple[Floats, Floats]
    ) -> tuple[RemoteSide, RemoteSide]:
        """Put users and items into the object store."""
        users, items = (
            RemoteSide.of(ids, self.mapper, pieces, vectors, numbers)
            for ids, pieces, vectors, numbers in zip(
                (data.users, data.items), self._pieces, factors, weights, strict=True
            )
        )
        return users, items

    def absolute_row_sums(self, data: Interactions) -> tuple[Sums, Sums]:  # noqa: ARG002 - workers have it
        """Compute sum |a y| over the interactions of each user and of each item."""
        users, items = (
            np.concatenate([one.report.total for one in self.mapper.map(_absolute(pieces), {})])
            for pieces in self._pieces
        )
        return users, items


def _absolute(pieces: list[Piece]) -> list[Task]:
    return [Task(Job(piece, "absolute")) for piece in pieces]


def _sides(data: Interactions) -> list[tuple[SideName, Csr]]:
    return [("user", data.by_user), ("item", data.by_item)]
