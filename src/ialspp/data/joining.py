"""Join new interactions to old ones, range of users by range of users."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .csr import Csr, Floats, SortedPairs, transpose
from .ids import IdMap
from .interactions import Interactions
from .offsets import ranges_within
from .row_files import Cut, RowFiles, Workplace

BYTES_OF_A_PAIR = 64  # that joining takes, at most


def joined(old: Interactions, new: Interactions, work: Workplace | None = None) -> Interactions:
    """Join two data sets: old ids keep their rows, weights add up, new labels replace old ones; no times.

    With a place for temporary files the result is mapped, and takes no memory in proportion to the pairs.
    """
    users, items = old.users.extended(new.users), old.items.extended(new.items)
    join = _Join(old, new, users, items)
    if work is None:
        rows = join.rows(0, len(users))
    else:
        files = RowFiles(work.spool, *join.names)
        for begin, end in ranges_within(join.old.offsets + join.new.offsets, work.room // BYTES_OF_A_PAIR):
            files.append(join.rows(begin, end))
        rows = files.whole(len(items))[0]
    return Interactions.of_rows(users, items, rows.without_ones(), weighted=join.is_weighted, work=work)


class _Join:
    """The rows of both data sets, numbered alike."""

    def __init__(self, old: Interactions, new: Interactions, users: IdMap, items: IdMap) -> None:
        self.users, self.items = users, items
        self.old = _widened(old.by_user, len(users), len(items))
        self.new = _renumbered(new, users, items)
        self.is_weighted = old.weighted or new.weighted
        self.is_labelled = old.by_user.labels is not None or new.by_user.labels is not None

    @property
    def names(self) -> list[str]:
        """The arrays of the joined rows."""
        return ["columns", *["labels"] * self.is_labelled, *["weights"] * self.is_weighted]

    def rows(self, begin: int, end: int) -> Csr:
        """Join a range of rows."""
        old, new = self.old.between(begin, end), self.new.between(begin, end)
        pairs = SortedPairs.of(
            self.users,
            self.items,
            np.concatenate([old.row_numbers, new.row_numbers]) + np.int32(begin),
            np.concatenate([old.columns, new.columns]),
            _joined_labels(old, new) if self.is_labelled else None,
            np.concatenate([_or_ones(old.weights, old), _or_ones(new.weights, new)])
            if self.is_weighted
            else None,
            begin=begin,
            end=end,
        )
        pairs.merge()
        return pairs.rows


def rows_of_items(data: Interactions, items: NDArray[np.int64], work: Workplace | None = None) -> Csr:
    """Return the interactions of some items, which ascend, by item.

    With a place for temporary files the other items' take no memory.
    """
    if work is None:
        return data.by_item.take(items)
    everyone, chosen = np.ones(data.n_users, dtype=bool), np.zeros(data.n_items, dtype=bool)
    chosen[items] = True
    numbers = np.cumsum(chosen, dtype=np.int32) - np.int32(1)
    return transpose(
        Cut(everyone, chosen, everyone, numbers).of(data.by_user, None, len(items), work)[0].without_ones()
    )


def _widened(rows: Csr, n_rows: int, n_columns: int) -> Csr:
    """Add empty rows and columns."""
    more = np.full(n_rows - len(rows), rows.offsets[-1])
    return replace(rows, offsets=np.concatenate([rows.offsets, more]), n_columns=n_columns)


def _renumbered(data: Interactions, users: IdMap, items: IdMap) -> Csr:
    """Number the rows of new data as those of all."""
    rows = data.by_user
    user = users.rows(data.users.ids)[rows.row_numbers].astype(np.int32)
    item = items.rows(data.items.ids)[rows.columns].astype(np.int32)
    return SortedPairs.of(users, items, user, item, rows.labels, rows.weights).rows


def _joined_labels(old: Csr, new: Csr) -> Floats:
    """Concatenate the labels of old pairs, replaced where a new pair has one, and those of new pairs."""
    before, after = _or_ones(old.labels, old).copy(), _or_ones(new.labels, new)
    keys, new_keys = old.keys, new.keys
    if len(keys):
        places = np.minimum(np.searchsorted(keys, new_keys), len(keys) - 1)
        again = keys[places] == new_keys
        before[places[again]] = after[again]
    return np.concatenate([before, after])


def _or_ones(values: Floats | None, rows: Csr) -> Floats:
    return np.ones(len(rows.columns), dtype=np.float32) if values is None else values
