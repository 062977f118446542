"""The queries of implicit's models, over vectors of users and items."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, Floats, RowNumbers
from ..data.ids import IdMap
from ..errors import InvalidTypeError, InvalidValueError, NotFittedError, OutOfRangeError
from ..files.arrays import is_finite
from ..model.fitted import Embedding, directions
from ..system.checks import checked_integer
from ..system.machine import resolve_threads
from .confidences import csr_of, pairs_of
from .topk import topk


class Answering:
    """Vectors of users and items, and the queries that need no more than them."""

    num_threads: int

    def __init__(self) -> None:
        self._users: Embedding | None = None
        self._items: Embedding | None = None

    @property
    def user_factors(self) -> Any:
        """The vectors of users, one row each; None before `fit`. Read-only: assign a changed copy instead."""
        return _handed_out(self._users)

    @user_factors.setter
    def user_factors(self, vectors: Any) -> None:
        self._users = embedding("user", vectors)

    @property
    def item_factors(self) -> Any:
        """The vectors of items, one row each; None before `fit`. Read-only: assign a changed copy instead."""
        return _handed_out(self._items)

    @item_factors.setter
    def item_factors(self, vectors: Any) -> None:
        self._items = embedding("item", vectors)

    def _side(self, name: str) -> Embedding:
        side = self._users if name == "user" else self._items
        if side is None:
            raise NotFittedError("the model is not fitted; call fit(user_items) first")
        return side

    def _threads(self) -> int:
        """Return the number of threads; 0 stands for all CPUs, as in implicit."""
        return resolve_threads(checked_integer("num_threads", self.num_threads, 0) or None)

    def recalculate_user(self, userid: Any, user_items: Any) -> Floats:
        """Compute vectors of users from rows of their items."""
        raise NotImplementedError

    def recalculate_item(self, itemid: Any, item_users: Any) -> Floats:
        """Compute vectors of items from rows of their users."""
        raise NotImplementedError

    def recommend(
        self,
        userid: Any,
        user_items: Any,
        N: int = 10,
        filter_already_liked_items: bool = True,
        filter_items: Any = None,
        recalculate_user: bool = False,
        items: Any = None,
    ) -> tuple[NDArray[Any], Floats]:
        """Recommend the N best items to one user, or to each of an array of users.

        Parameters
        ----------
        userid
            The row number of a user, or an array of them.
        user_items
            A sparse matrix or array with the items of each of these users: its first row belongs to the first
            user. Not read if nothing is filtered by it and no user is recalculated.
        N
            The number of items.
        filter_already_liked_items
            Leave out the items of `user_items`.
        filter_items
            Items to leave out for everyone.
        recalculate_user
            Compute the users' vectors from `user_items` instead of reading those of the model.
        items
            The only items to choose from; not together with `filter_items`.

        Returns
        -------
        tuple
            Item numbers and scores, best first: of length N for one user, of shape (users, N) for an array.
            Where fewer than N are left, items that were filtered out follow, with a score of -3.4e38. Where
            the model has fewer than N items, zeros follow. With `items` there are never more than these.

        Examples
        --------
        >>> ids, scores = model.recommend(2, user_items[2], N=2)
        >>> ids.tolist(), [round(float(score), 2) for score in scores]
        ([4, 1], [0.69, 0.4])
        >>> ids, scores = model.recommend([2, 3], user_items[[2, 3]], N=2)
        >>> ids.tolist()
        [[4, 1], [0, 1]]
        """
        seen = None
        if filter_already_liked_items or recalculate_user:
            rows = _rows_for(userid, user_items)
            seen = pairs_of(rows) if filter_already_liked_items else None
        vectors = (
            self.recalculate_user(userid, user_items)
            if recalculate_user
            else self._side("user").vectors[_checked("userid", userid, self._side("user"))]
        )
        width = checked_integer("N", N, 1)
        side = self._side("item")
        chosen, never = _choice("items", items, "filter_items", filter_items, side)
        if chosen is not None:
            width = min(width, len(chosen))
        found = topk(
            np.atleast_2d(vectors),
            side,
            width,
            self._threads(),
            hidden=None if seen is None else _within(seen, len(side.vectors)),
            only=chosen,
            never=never,
        )
        return _shaped(userid, found, chosen)

    def similar_items(
        self,
        itemid: Any,
        N: int = 10,
        recalculate_item: bool = False,
        item_users: Any = None,
        filter_items: Any = None,
        items: Any = None,
    ) -> tuple[NDArray[Any], Floats]:
        """Find the N items most similar to an item, or to each of an array of items, by the cosine.

        An item is its own first neighbour.

        Parameters
        ----------
        itemid
            The row number of an item, or an array of them.
        N
            The number of neighbours.
        recalculate_item
            Compute the items' vectors from `item_users` instead of reading those of the model.
        item_users
            A CSR matrix or array with a row of users for each item. Read only with `recalculate_item`.
        filter_items
            Items to leave out.
        items
            The only items to choose from; not together with `filter_items`.

        Examples
        --------
        >>> ids, scores = model.similar_items(1, N=3)
        >>> ids.tolist(), [round(float(score), 2) for score in scores]
        ([1, 2, 0], [1.0, 0.99, 0.84])
        """
        side = self._side("item")
        vectors = (
            self.recalculate_item(itemid, item_users)
            if recalculate_item
            else side.vectors[_checked("itemid", itemid, side)]
        )
        choice = _choice("items", items, "filter_items", filter_items, side)
        return self._similar(itemid, vectors, N, side, *choice, 0 if items is None else items[0])

    def similar_users(
        self, userid: Any, N: int = 10, filter_users: Any = None, users: Any = None
    ) -> tuple[NDArray[Any], Floats]:
        """Find the N users most similar to a user, or to each of an array of users; see `similar_items`.

        Examples
        --------
        >>> ids, scores = model.similar_users(2, N=3)
        >>> ids.tolist()
        [2, 3, 1]
        """
        side = self._side("user")
        vectors = side.vectors[_checked("userid", userid, side)]
        choice = _choice("users", users, "filter_users", filter_users, side)
        return self._similar(userid, vectors, N, side, *choice, 0 if users is None else users[0])

    def _similar(
        self,
        ids: Any,
        vectors: Floats,
        n: int,
        side: Embedding,
        chosen: NDArray[np.int64] | None,
        never: NDArray[np.int64] | None,
        filler: int,
    ) -> tuple[NDArray[Any], Floats]:
        width, asked = checked_integer("N", n, 1), directions(np.atleast_2d(vectors))
        threads = self._threads()
        found = topk(asked, side, width, threads, metric="cosine", only=chosen, never=never, filler=filler)
        return _shaped(ids, found, chosen)


def embedding(name: str, vectors: Any) -> Embedding | None:
    """Return a copy of vectors as one side of a model."""
    if vectors is None:
        return None
    copied = np.array(vectors, dtype=np.float32, order="C")
    if copied.ndim != 2 or not is_finite(copied):
        raise InvalidValueError(f"{name}_factors must be a matrix of finite numbers, got {copied.shape}")
    return Embedding(IdMap.stored(np.arange(len(copied)), name=name), copied)


def _handed_out(side: Embedding | None) -> Floats | None:
    if side is None:
        return None
    view = side.vectors.view()
    view.flags.writeable = False  # what queries derived from the vectors would not change with them
    return view


def row_count(ids: Any) -> int:
    """Return how many rows one number, or an array of numbers, asks for."""
    return 1 if np.isscalar(ids) else len(ids)


def _rows_for(userid: Any, user_items: Any) -> Any:
    rows = csr_of("user_items", user_items)
    if rows.shape[0] != row_count(userid):
        raise InvalidValueError(
            f"user_items must contain 1 row for every user in userid: {row_count(userid)}, "
            f"got {rows.shape[0]}"
        )
    return rows


def _within(pairs: Csr, n_columns: int) -> Csr:
    """Return the same pairs over all items: those of a user may come from a matrix with fewer columns."""
    if pairs.columns.max(initial=0) >= n_columns:
        raise OutOfRangeError(
            f"user_items names item {pairs.columns.max()}, but the model has {n_columns} items"
        )
    return Csr(pairs.offsets, pairs.columns, n_columns)


def _checked(name: str, ids: Any, side: Embedding) -> NDArray[np.int64]:
    """Return row numbers, of which each must be in range."""
    rows = np.asarray(ids)
    if rows.size == 0:
        rows = rows.astype(np.int64)
    if not np.issubdtype(rows.dtype, np.integer) or rows.ndim > 1:
        raise InvalidTypeError(f"{name} must be an integer or a sequence of integers, got {ids!r}")
    if rows.size and not 0 <= rows.min() <= rows.max() < len(side.vectors):
        wrong = rows.min() if rows.min() < 0 else rows.max()
        raise OutOfRangeError(f"{name} must be from 0 to {len(side.vectors) - 1}, got {wrong}")
    return rows.astype(np.int64)


def _choice(
    only_name: str, only: Any, never_name: str, never: Any, side: Embedding
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
    """Return the rows to choose from, ascending, and the rows to leave out; None where not given."""
    left_out = None if never is None or len(never) == 0 else _checked(never_name, never, side)
    if only is None:
        return None, left_out
    if left_out is not None:
        raise InvalidValueError(f"{only_name} and {never_name} cannot both be given")
    if len(only) == 0:
        raise InvalidValueError(f"{only_name} must name at least one row, got none")
    return np.unique(_checked(only_name, only, side)), None


def _shaped(
    ids: Any, found: tuple[RowNumbers, Floats], chosen: NDArray[np.int64] | None
) -> tuple[NDArray[Any], Floats]:
    """Give one row for one id. Numbers out of a list of the caller's have 64 bits, as in implicit."""
    best, scores = found
    rows: NDArray[Any] = best if chosen is None else best.astype(np.int64)
    return (rows[0], scores[0]) if np.isscalar(ids) else (rows, scores)
