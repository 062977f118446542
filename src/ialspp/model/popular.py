"""The most popular items, for users about whom a model knows nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Floats, RowNumbers
from ..system.progress import Progress
from .ranking import Filter, PackedItems, rank


def cold_users(vectors: Floats, counts: NDArray[np.int64] | None) -> NDArray[np.bool_]:
    """Mark the users with a vector of zeros, for whom all scores are equal, or without any item.

    counts: the number of items of each user; None if it is not known. A user without items may have a vector
    that is not zero yet, after few epochs from a random start.
    """
    cold = vectors[:, 0] == 0
    if cold.any():
        maybe = np.flatnonzero(cold)  # few, as a rule
        cold[maybe] = ~vectors[maybe].any(axis=1)
    return cold if counts is None else np.asarray(cold | (counts == 0))


def rank_or_popular(
    vectors: Floats,
    cold: NDArray[np.bool_],
    items: PackedItems,
    popular: Callable[[], PackedItems | None],
    k: int,
    threads: int,
    allowed: Filter,
    progress: Progress = False,
) -> tuple[RowNumbers, Floats]:
    """Rank items for each vector, and by their number of users for those who are cold.

    popular: gives the numbers of users as vectors of the items, if they are needed; None if they are unknown.
    """
    best, scores, _ = rank(vectors, items, k, threads, allowed=allowed, progress=progress)
    users = np.flatnonzero(cold)
    if len(users):
        best[users], scores[users] = _rank_popular(popular(), users, allowed, k, threads)
    return best, scores


def _rank_popular(
    popular: PackedItems | None, users: NDArray[np.int64], allowed: Filter, k: int, threads: int
) -> tuple[RowNumbers, Floats]:
    """Rank items by their number of users for these users of a filter; nothing if there is no data."""
    if popular is None:
        nothing = len(users), k
        return np.full(nothing, -1, dtype=np.int32), np.full(nothing, -np.inf, dtype=np.float32)
    same = np.ones((len(users), 1), dtype=np.float32)
    return rank(same, popular, k, threads, allowed=allowed.take(users))[:2]
