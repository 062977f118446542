"""Recommendations for ranges of all users, from arrays alone: any machine that has these can make them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, Floats, RowNumbers
from .fitted import users_of_columns
from .popular import cold_users, rank_or_popular
from .ranking import Filter, PackedItems, pack

USERS_OF_A_BATCH = 2**13

Best = tuple[RowNumbers, Floats, NDArray[np.bool_]]
"""For each user: rows of items, best first, their scores, and whether they are the most popular ones."""


@dataclass(slots=True, eq=False, kw_only=True)
class Everyone:
    """What the rankings of all users depend on."""

    users: Floats
    items: Floats
    histories: Csr | None  # the items of each user; None if the model does not have them
    features: NDArray[np.int64] | None  # where the features of each user begin and end; None without any
    counts: NDArray[np.int32] | None  # without histories: the number of users of each item, if it is known
    exclude_seen: bool
    eligible: NDArray[np.bool_] | None  # for each item, whether anyone may get it
    falls_back: bool  # whether cold users get the most popular items
    k: int
    packed: dict[str, PackedItems] = field(default_factory=dict)  # by "items" and "counts"

    def __getstate__(self) -> dict[str, Any]:
        # Packed vectors are made again elsewhere.
        return {name: getattr(self, name) for name in self.__slots__} | {"packed": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    def packed_items(self, threads: int) -> PackedItems:
        """Return the items' vectors in the layout that scoring reads, made once."""
        if "items" not in self.packed:
            self.packed["items"] = pack(self.items, threads)
        return self.packed["items"]

    def packed_counts(self, threads: int) -> PackedItems | None:
        """Return the numbers of users of each item in the same layout, made once; None if they are unknown.

        They are counted when the first cold user comes, because that reads all histories.
        """
        if "counts" not in self.packed:
            counts = self.counts if self.histories is None else users_of_columns(self.histories)
            if counts is None:
                return None
            self.packed["counts"] = pack(counts.astype(np.float32)[:, None], threads)
        return self.packed["counts"]

    def known(self, rows: Csr | None, begin: int, end: int) -> NDArray[np.int64] | None:
        """Count the items and features of a range of users; None if the model does not have them."""
        if rows is None or self.features is None:
            return None if rows is None else rows.counts
        return np.asarray(rows.counts + np.diff(self.features[begin : end + 1]))


def ranked_range(shared: Everyone, batch: tuple[int, int], threads: int) -> Best:
    """Rank items for a range of users."""
    begin, end = batch
    rows = None if shared.histories is None else shared.histories.between(begin, end)
    vectors = shared.users[begin:end]
    cold: NDArray[np.bool_] = np.zeros(end - begin, dtype=bool)
    if shared.falls_back:
        cold = cold_users(vectors, shared.known(rows, begin, end))
    allowed = Filter(hidden=rows if shared.exclude_seen else None, eligible=shared.eligible)
    items = shared.packed_items(threads)
    best, scores = rank_or_popular(
        vectors, cold, items, lambda: shared.packed_counts(threads), shared.k, threads, allowed
    )
    return best, scores, cold
