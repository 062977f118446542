"""Scores of pairs of users and items that the caller names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, Floats
from ..data.ids import IdMap
from ..errors import InvalidValueError
from .fitted import Fitted
from .ranking import score_pairs
from .requests import as_list, is_one
from .skipped import Lookup

PAIRS_AT_ONCE = 2**16  # each takes a copy of its user's vector


def scores_of_pairs(state: Fitted, users: Any, items: Any, lookup: Lookup, threads: int) -> Floats:
    """Score pairs of ids, taken from two sequences of one length; one id goes with each of the others.

    A pair with an unknown id that the lookup skips has the score NaN.
    """
    sides = state.users, state.items
    user, item = (
        _rows(name, ids, side.ids, other.ids, lookup)
        for name, ids, side, other in zip(("users", "items"), (users, items), sides, sides[::-1], strict=True)
    )
    lengths = {len(rows) for rows, ids in ((user, users), (item, items)) if not is_one(ids)}
    if len(lengths) > 1:
        raise InvalidValueError(
            f"users and items must have the same length, or one of them be one id, got {len(user)} and "
            f"{len(item)}"
        )
    user, item = (rows.ravel() for rows in np.broadcast_arrays(user, item))
    known = np.flatnonzero((user >= 0) & (item >= 0))
    scores = np.full(len(user), np.nan, dtype=np.float32)
    for begin in range(0, len(known), PAIRS_AT_ONCE):
        some = known[begin : begin + PAIRS_AT_ONCE]
        pairs = Csr(np.arange(len(some) + 1), item[some].astype(np.int32), len(state.items.ids))
        scores[some] = score_pairs(state.users.vectors[user[some]], pairs, state.items.vectors, threads)
    return scores


def _rows(name: str, ids: Any, own: IdMap, other: IdMap, lookup: Lookup) -> NDArray[np.int64]:
    """Return the row of each id; -1 where it is unknown and skipped."""
    rows, known = lookup.rows(name, as_list(ids), own, other)
    if known is None:
        return rows
    all_rows = np.full(len(known), -1, dtype=np.int64)
    all_rows[known] = rows
    return all_rows
