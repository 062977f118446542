"""Splits that somebody else has made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..axis import Axis
from ..csr import Csr
from ..interactions import Interactions
from .parts import ONE_ITEM_METRICS, WEAK_METRICS, HeldOut, Split


def given(train: Interactions, test: Interactions) -> Split:
    """Weak generalisation with data that is split already: other items of the users trained on.

    Every user and item of a test pair must be among those of `train`, where ids listed explicitly
    (`users`, `items` of `Interactions.from_arrays`) count too. No pair may be in both.
    """
    users = Axis.onto(train.users, test.users, test.by_user.counts > 0, train.items)
    items = Axis.onto(train.items, test.items, test.by_item.counts > 0, train.users)
    wanted = test.select(np.ones(len(test), dtype=bool), users, items)
    _refuse(train, _keys(wanted.by_user), _keys(train.by_user), found=True, why="is in both train and test")
    return Split("weak", train, HeldOut(train, wanted, strangers=False), None, WEAK_METRICS)


def given_leave_one_out(train: Interactions, test: Interactions, candidates: Csr) -> Split:
    """A leave-one-out split that was published with its negatives.

    Parameters
    ----------
    train, test
        As in `given`; test has one pair per user at most.
    candidates
        The items to rank for each user of `train`, by its rows: the negatives and the one of `test`.
    """
    split = given(train, test)
    if (len(candidates), candidates.n_columns) != (train.n_users, train.n_items):
        raise ValueError(
            f"candidates must have the {train.n_users} users and {train.n_items} items of train, "
            f"got {len(candidates)} and {candidates.n_columns}"
        )
    wanted = split.test.wanted
    several = np.flatnonzero(wanted.by_user.counts > 1)
    if len(several):
        raise ValueError(f"test must have one item per user, but user {train.users[several[0]]!r} has more")
    listed = _keys(candidates)
    if not (np.diff(listed) > 0).all():
        raise ValueError("the candidates of a user must be listed in ascending order, each once")
    _refuse(train, _keys(wanted.by_user), listed, found=False, why="is in test, but not among the candidates")
    _refuse(train, listed, _keys(train.by_user), found=True, why="is a candidate, but was trained on")
    test_part = replace(split.test, candidates=candidates)
    return Split("leave-one-out", train, test_part, None, ONE_ITEM_METRICS)


def _keys(rows: Csr) -> NDArray[np.int64]:
    """One number for each entry: its row times the number of columns, plus its column."""
    return rows.row_numbers.astype(np.int64) * rows.n_columns + rows.columns


def _refuse(
    train: Interactions, keys: NDArray[np.int64], others: NDArray[np.int64], *, found: bool, why: str
) -> None:
    """An error that names the first pair that is among the others, or that is not."""
    bad = keys[np.isin(keys, others, assume_unique=True) == found]
    if len(bad):
        user, item = divmod(int(bad[0]), train.n_items)
        raise ValueError(f"user {train.users[user]!r} with item {train.items[item]!r} {why}")
