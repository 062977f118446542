"""Splits that somebody else made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.axis import Axis
from ..data.csr import Csr
from ..data.interactions import Interactions
from ..errors import InvalidValueError
from .parts import ONE_ITEM_METRICS, WEAK_METRICS, HeldOut, Split


def given(train: Interactions, test: Interactions) -> Split:
    """Use data that is split already, to predict more items of the users in training (weak generalisation).

    `train` must have every user and item of a test pair; ids without interactions, listed in `users` or
    `items` of `Interactions.from_arrays`, count too. No pair may be in both.

    Examples
    --------
    >>> test = Interactions.from_arrays(user=["ann", "bob"], item=["salt", "rice"])
    >>> split.given(data, test).test
    HeldOut(2 users, 2 test pairs)
    """
    users = Axis.onto(train.users, test.users, test.by_user.counts > 0, train.items)
    items = Axis.onto(train.items, test.items, test.by_item.counts > 0, train.users)
    wanted = test.select(np.ones(len(test), dtype=bool), users, items)
    return Split("weak", train, HeldOut(train, wanted, unseen=False), None, WEAK_METRICS)


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
