"""What training leaves: a vector for each user and item, and what is made of them when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.csr import Csr, Floats
from ..data.ids import IdMap
from ..data.interactions import Interactions
from ..errors import SolveError
from ..objective import Objective

Similarity = Literal["cosine", "dot"]


@dataclass(slots=True, eq=False)
class Embedding:
    """The users or the items, and their vectors, which stay as they are but while a model is being fitted.

    What is kept between questions is made on the first one. Threads that ask at the same time may each make
    it; they make the same.
    """

    ids: IdMap
    vectors: Floats
    _gramian: NDArray[np.float64] | None = field(default=None, repr=False)
    _packed: dict[Similarity, _core.PackedItems] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {"ids": self.ids, "vectors": self.vectors}  # a copy makes the rest again

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.ids, self.vectors = state["ids"], state["vectors"]
        self._gramian, self._packed = None, {}

    def gramian(self, threads: int) -> NDArray[np.float64]:
        """H'H of the vectors H."""
        if self._gramian is None:
            self._gramian = _core.gramian(self.vectors, 0, self.vectors.shape[1], threads)
        return self._gramian

    def packed(self, threads: int, metric: Similarity = "dot") -> _core.PackedItems:
        """The vectors, or their directions, as scoring reads them."""
        if metric not in self._packed:
            vectors = self.vectors if metric == "dot" else directions(self.vectors)
            self._packed[metric] = _core.PackedItems(vectors, threads)
        return self._packed[metric]

    def exact(
        self, rows: Csr, objective: Objective, threads: int, unsolved: Callable[[int], SolveError]
    ) -> Floats:
        """Vectors of the other side, each the exact minimum of the loss given these: iALS's row solve.

        unsolved: the error for a row that has none.
        """
        solved = np.zeros((len(rows), self.vectors.shape[1]), dtype=np.float32)
        if len(rows) == 0:
            return solved
        _, failed_row = _core.solve_rows(
            rows.native(),
            solved,
            objective.row_regularization(rows.counts, len(self.ids)),
            self.vectors,
            self.gramian(threads),
            objective.unobserved_weight,
            False,
            threads,
        )
        if failed_row >= 0:
            raise unsolved(failed_row)
        return solved

    def extended(self, ids: IdMap) -> Embedding:
        """The same with more ids at the end, their vectors zero."""
        grown = np.zeros((len(ids), self.vectors.shape[1]), dtype=np.float32)
        grown[: len(self.vectors)] = self.vectors
        return Embedding(ids, grown)

    def set_rows(self, rows: NDArray[np.int64], vectors: Floats) -> None:
        """Change some vectors in place: only for who made it and has not shown it to anyone."""
        self.vectors[rows] = vectors
        self._gramian, self._packed = None, {}


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """The users, the items, and what they were learned from; None where a file left that out."""

    users: Embedding
    items: Embedding
    data: Interactions | None
    kept_statistics: dict[str, Any] | None = None  # of the data, as a file has them

    def renewed(self, *, copied: bool = False) -> Fitted:
        """The same without what was made of the vectors, or with copies of them."""
        users, items = (
            Embedding(side.ids, side.vectors.copy() if copied else side.vectors)
            for side in (self.users, self.items)
        )
        return replace(self, users=users, items=items)

    def statistics(self) -> dict[str, Any] | None:
        """Counts and ranges of the data."""
        if self.data is None or self.kept_statistics is not None:
            return self.kept_statistics
        return self.data.statistics()

    def summary(self) -> str:
        """What it was learned from, in a few words."""
        if self.data is not None:
            return repr(self.data)
        return f"{len(self.users.ids)} users x {len(self.items.ids)} items, not in its file"

    def histories(self, purpose: str) -> Interactions:
        """The data, which the purpose needs."""
        if self.data is None:
            raise ValueError(
                f"{purpose} needs the interactions the model was trained on, and its file was saved without "
                "them (interactions=False)"
            )
        return self.data


def directions(vectors: Floats) -> Floats:
    """Vectors of length 1; zero ones stay as they are."""
    lengths = np.sqrt(np.einsum("rd,rd->r", vectors, vectors, dtype=np.float64))
    scale = np.where(lengths > 0, lengths, 1)[:, None]
    return np.divide(vectors, scale, out=np.empty_like(vectors), casting="same_kind")
