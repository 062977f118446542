"""Splits that somebody else made."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from ..data.axis import Axis
from ..data.csr import Csr
from ..data.ids import IdMap
from ..data.interactions import Interactions, require_interactions
from ..errors import InvalidValueError, UnknownIdError
from .parts import ONE_ITEM_METRICS, WEAK_METRICS, HeldOut, Split


def given(train: Interactions, test: Interactions, *, unknown: Literal["error", "skip"] = "error") -> Split:
    """Use data that is split already, to predict more items of the users in training (weak generalisation).

    Parameters
    ----------
    train
        The data to train on. Ids without interactions, listed in `users` or `items` of
        `Interactions.from_arrays`, are known, too.
    test
        The pairs to predict. None of them may be in `train`.
    unknown
        "error": a test pair whose user or item `train` does not have is an `UnknownIdError`. "skip": leave it
        out, since no model can predict it; `left_out` of the split counts such pairs.

    Examples
    --------
    >>> test = Interactions.from_arrays(user=["ann", "bob"], item=["salt", "rice"])
    >>> split.given(data, test).test
    HeldOut(2 users, 2 test pairs)
    """
    require_interactions(train, "train")
    require_interactions(test, "test")
    if unknown not in ("error", "skip"):
        raise InvalidValueError(f'unknown must be "error" or "skip", got {unknown!r}')
    if unknown == "skip":
        users, items = Axis.within(train.users, test.users), Axis.within(train.items, test.items)
    else:
        users = _onto(train.users, test.users, test.by_user, train.items)
        items = _onto(train.items, test.items, test.by_item, train.users)
    kept = (users.rows[test.by_user.row_numbers] >= 0) & (items.rows[test.by_user.columns] >= 0)
    held_out = HeldOut(train, test.part(kept, users, items), unseen=False)
    return Split("weak", train, held_out, None, WEAK_METRICS, int(np.count_nonzero(~kept)))


def _onto(known: IdMap, ids: IdMap, rows: Csr, other: IdMap) -> Axis:
    try:
        return Axis.onto(known, ids, rows.counts > 0, other)
    except UnknownIdError as error:
        way_out = '; unknown="skip" leaves such pairs out'
        raise UnknownIdError(f"train must have every {known.name} of test; {error}{way_out}") from None


def given_leave_one_out(train: Interactions, test: Interactions, candidates: Csr) -> Split:
    """Use a leave-one-out split that was published with its negatives.

    Parameters
    ----------
    train, test
        As in `given`; `test` has at most one pair per user.
    candidates
        The items to rank for each user, in the rows of `train`: the negatives and the item of `test`.

    Examples
    --------
    >>> train = split.last_item(data).train
    >>> test = Interactions.from_arrays(user=["ann"], item=["eggs"])
    >>> ranked = Interactions.from_arrays(
    ...     user=["ann", "ann"], item=["eggs", "salt"], users=train.users, items=train.items
    ... )
    >>> split.given_leave_one_out(train, test, ranked.by_user).test
    HeldOut(1 users, 1 test pairs)
    """
    known = given(train, test).test
    several = np.flatnonzero(known.wanted.by_user.counts > 1)
    if len(several):
        raise InvalidValueError(
            f"test must have one item per user, but user {train.users[several[0]]!r} has more"
        )
    return Split("leave-one-out", train, replace(known, candidates=candidates), None, ONE_ITEM_METRICS)
