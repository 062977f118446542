"""A fit on a cluster: its workers, its pieces of the data, and what it moves from node to node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ..data.csr import Floats
from ..data.interactions import Interactions
from ..solvers.sides import Sums
from ..system.log import log
from .copies import data_file
from .crew import Crew, Training
from .jobs import Piece
from .mapping import Mapper
from .memory import Choice, chosen
from .needs import Fetch
from .sides import RemoteSide
from .tasks import Task


@contextmanager
def training(
    crew: Crew,
    data: Interactions,
    dim: int,
    fetch: Fetch | None,
    push_to: Path | None = None,
) -> Iterator[ClusterPlace]:
    """Let workers open the data, and close it in the end."""
    choice = chosen(data, dim, fetch)
    with data_file(data, push_to) as file:
        try:
            crew.begin_training(Training(file, choice.fetch))
            yield ClusterPlace(crew, data, choice)
        finally:
            crew.end_training()


class ClusterPlace:
    """Where the rows of both sides are updated: by the workers."""

    def __init__(self, crew: Crew, data: Interactions, choice: Choice) -> None:
        self.crew = crew
        self._pieces = choice.pieces(data, len(crew.members))
        self.estimate = choice.estimate(data, self._pieces)
        shards: dict[str, int] = {pieces[0].side: pieces[-1].node[1] for pieces in self._pieces}
        self.mapper = Mapper(crew, shards, choice.fetch)
        counts = [len(pieces) for pieces in self._pieces]
        log("%d workers train on %d pieces of users and %d of items", len(crew.members), *counts)
        log("%s", self.estimate)

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

    def report_to(self, listener: Callable[[str], None]) -> None:
        """Tell a function from time to time what each node works at."""
        self.mapper.watch.listener = listener

    def absolute_row_sums(self, data: Interactions) -> tuple[Sums, Sums]:  # noqa: ARG002 - workers have it
        """Compute sum |a y| over the interactions of each user and of each item."""
        users, items = (
            np.concatenate([one.report.total for one in self.mapper.map(_absolute(pieces), {})])
            for pieces in self._pieces
        )
        return users, items


def _absolute(pieces: list[Piece]) -> list[Task]:
    return [Task(piece, "absolute") for piece in pieces]
