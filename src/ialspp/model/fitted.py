"""What training leaves: a vector for each user and item, and what queries derive from them."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, Floats
from ..data.ids import IdMap
from ..data.interactions import Interactions
from ..errors import InvalidValueError, SolveError
from ..files.arrays import is_finite, part_named
from ..files.container import Container, StoreError
from ..objective import Objective
from ..solvers import gramian, solve_exactly
from .feature_map import FeatureMap
from .ranking import PackedItems, pack

Similarity = Literal["cosine", "dot"]


@dataclass(slots=True, eq=False)
class Embedding:
    """The users or the items, and their vectors, which never change, except in place during `fit`.

    The Gramian, the packed vectors and which are not zero are found for the first query and kept for the next
    ones. Threads that query at the same time may each find them; the results are equal.
    """

    ids: IdMap
    vectors: Floats
    features: FeatureMap | None = None  # if it was trained with features
    _gramian: NDArray[np.float64] | None = field(default=None, repr=False)
    _packed: dict[Similarity, PackedItems] = field(default_factory=dict, repr=False)
    _known: NDArray[np.bool_] | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        # A copy derives the rest again.
        return {"ids": self.ids, "vectors": self.vectors, "features": self.features}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.ids, self.vectors, self.features = state["ids"], state["vectors"], state["features"]
        self._gramian, self._packed, self._known = None, {}, None

    def check(self) -> None:
        """Raise unless the vectors are finite and the ids distinct: what a file says is not checked yet."""
        if not is_finite(self.vectors):
            raise StoreError(f"the vectors of {self.ids.name}s must be finite, and are not")
        with part_named(f"the {self.ids.name} ids"):
            self.ids.check()
        if self.ids.names is not None:
            with part_named(f"the {self.ids.name} names"):
                self.ids.names.check(len(self.ids))
        if self.features is not None:
            with part_named(f"the {self.ids.name} features"):
                self.features.check(len(self.ids), self.ids.name)

    def gramian(self, threads: int) -> NDArray[np.float64]:
        """Return H'H of the vectors H."""
        if self._gramian is None:
            self._gramian = gramian(self.vectors, threads)
        return self._gramian

    def packed(self, threads: int, metric: Similarity = "dot") -> PackedItems:
        """Return the vectors, or for "cosine" their directions, in the layout that scoring reads."""
        if metric not in self._packed:
            vectors = self.vectors if metric == "dot" else directions(self.vectors)
            self._packed[metric] = pack(vectors, threads)
        return self._packed[metric]

    def known(self) -> NDArray[np.bool_]:
        """Tell for each row whether its vector has a direction: it is zero where nothing is known."""
        known = self._known
        if known is None:
            self._known = known = np.asarray(self.vectors.any(axis=1))
        return known

    def exact(
        self,
        rows: Csr,
        objective: Objective,
        threads: int,
        unsolved: Callable[[int], SolveError],
        centres: Floats | None = None,
    ) -> Floats:
        """Return a vector for each row, the exact minimum of the loss given the vectors of this side.

        unsolved: makes the error for a row that has no finite solution.
        centres: what the features of each row make of its vector; None: zero.
        """
        gramian = self.gramian(threads)
        vectors, failed_row = solve_exactly(rows, self.vectors, gramian, objective, threads, centres)
        if failed_row >= 0:
            raise unsolved(failed_row)
        return vectors

    def centres(self, rows: NDArray[np.int64], threads: int) -> Floats | None:
        """Return what the features of some rows make of their vectors; None without features."""
        return (
            None if self.features is None else self.features.centres(self.features.rows.take(rows), threads)
        )

    def extended(self, ids: IdMap) -> Embedding:
        """Return a copy with more ids at the end, whose vectors are zero."""
        grown = np.zeros((len(ids), self.vectors.shape[1]), dtype=np.float32)
        grown[: len(self.vectors)] = self.vectors
        known = self.features
        features = None if known is None else known.with_rows(known.rows.extended(len(ids)))
        return Embedding(ids, grown, features)

    def set_rows(self, rows: NDArray[np.int64], vectors: Floats) -> None:
        """Change some vectors in place. Call it only before another thread can see this object."""
        self.vectors[rows] = vectors
        self._gramian, self._packed, self._known = None, {}, None


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """The users, the items, and the training data, which is None where a file left it out."""

    users: Embedding
    items: Embedding
    data: Interactions | None
    kept_statistics: dict[str, Any] | None = None  # of the training data, as the file says
    kept_counts: NDArray[np.int32] | None = None  # users of each item, in a file without the training data
    file: Container | None = None  # that vectors or interactions were read from
    _popular: list[Embedding] = field(default_factory=list, init=False, repr=False)  # none or one

    def popular(self) -> Embedding | None:
        """Return the items with the number of users of each as their vector, made once; None if unknown."""
        if not self._popular and (counts := self.item_counts()) is not None:
            self._popular.append(popularity(self.items.ids, counts))
        return self._popular[0] if self._popular else None

    def item_counts(self) -> NDArray[np.int64] | NDArray[np.int32] | None:
        """Return the number of users of each item; None for an old file without the training data."""
        return self.kept_counts if self.data is None else users_of_items(self.data)

    def features_of_users(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count the features of some users. With any, a user without items still has a vector that counts."""
        if self.users.features is None:
            return np.zeros(len(rows), dtype=np.int64)
        offsets = self.users.features.rows.offsets
        return np.asarray(offsets[rows + 1] - offsets[rows])

    def check(self) -> None:
        """Raise unless every number is one that training could have left."""
        self.users.check()
        self.items.check()
        if self.data is not None:
            with part_named("the interactions"):
                self.data.by_user.check()
        counts, users = self.kept_counts, len(self.users.ids)
        if counts is not None and not ((counts >= 0) & (counts <= users)).all():
            raise StoreError(f"an item must have 0 to {users} users, but item_counts has others")

    def renewed(self, *, copied: bool = False) -> Fitted:
        """Return the same state without what was derived from the vectors, which are copied if asked."""
        users, items = (
            Embedding(side.ids, side.vectors.copy() if copied else side.vectors, side.features)
            for side in (self.users, self.items)
        )
        return replace(self, users=users, items=items)

    def with_names(self, users: Any, items: Any) -> Fitted:
        """Return the same state with names of users or items; None: those that there are."""
        named = replace(self.users, ids=self.users.ids.with_names(users))
        others = replace(self.items, ids=self.items.ids.with_names(items))
        data = copy(self.data)
        if data is not None:
            data.users, data.items = named.ids, others.ids
        return replace(self, users=named, items=others, data=data)

    def require_sound(self) -> None:
        """Raise a `StoreError` if the file that this comes from is damaged.

        A large file is not checked when it is opened. Whatever writes its contents to another file checks it
        first: fresh checksums would make the damage look sound.
        """
        if self.file is not None:
            self.file.verify()
        if self.data is not None:
            self.data.require_sound()

    def statistics(self) -> dict[str, Any] | None:
        """Return counts and ranges of the training data."""
        if self.data is None or self.kept_statistics is not None:
            return self.kept_statistics
        return self.data.statistics()

    def summary(self) -> str:
        """Describe the training data in a few words."""
        if self.data is not None:
            return repr(self.data)
        return f"{len(self.users.ids)} users x {len(self.items.ids)} items, interactions not in its file"

    def histories(self, purpose: str) -> Interactions:
        """Return the training data, or raise an error that says what needed it."""
        if self.data is None:
            raise InvalidValueError(
                f"{purpose} needs the interactions the model was trained on, and its file was saved without "
                "them (interactions=False)"
            )
        return self.data


def users_of_items(data: Interactions) -> NDArray[np.int64]:
    """Count the users of each item."""
    return users_of_columns(data.by_user)


def users_of_columns(rows: Csr) -> NDArray[np.int64]:
    """Count the users of each item, from the items of each user."""
    rows.native()  # looks at every column, which a damaged file may have beyond the items
    return rows.column_counts


def popularity(items: IdMap, counts: NDArray[np.integer[Any]]) -> Embedding:
    """Return the items, each with its number of users as a vector of one dimension."""
    return Embedding(items, counts.astype(np.float32)[:, None])


def directions(vectors: Floats) -> Floats:
    """Scale vectors to length 1. Zero vectors stay zero."""
    lengths = np.sqrt(np.einsum("rd,rd->r", vectors, vectors, dtype=np.float64))
    scale = np.where(lengths > 0, lengths, 1)[:, None]
    return np.asarray(np.divide(vectors, scale, out=np.empty_like(vectors), casting="same_kind"))
