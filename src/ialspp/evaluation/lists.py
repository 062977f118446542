"""The places of test items in lists of items that any recommender made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, RowNumbers
from ..errors import InvalidTypeError, InvalidValueError, UnknownIdError
from ..metrics import Standings
from ..model.ranking import Rankings
from ..split import HeldOut
from .places import Found


def places_in_lists(lists: Any, held_out: HeldOut, users: NDArray[np.int64]) -> Found:
    """Find the places of the test items of some held-out users in the lists of these users.

    Items that a list may not have are left out: those that are given of the user, and those that are not
    among the candidates. A test item that is not in its list is behind all others.
    """
    given, wanted = (part.by_user.take(users) for part in (held_out.given, held_out.wanted))
    user, item = _rows_of(lists, held_out, users)
    keys = user * given.n_columns + item
    kept, ranked = ~given.has(keys), given.n_columns - given.counts
    if held_out.candidates is not None:
        candidates = held_out.candidates.take(users)
        kept, ranked = kept & candidates.has(keys), candidates.counts
    user, item, keys = user[kept], item[kept], keys[kept]
    place = np.arange(len(user)) - np.searchsorted(user, user)
    above = _places_of(wanted, keys, place, behind=given.n_columns)
    none = np.zeros_like(above)
    return Standings.of(wanted.offsets, above, none, none, ranked), _as_table(user, item, place, len(users))


def _rows_of(
    lists: Any, held_out: HeldOut, users: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each entry of the lists, the place of its user among those evaluated, and its item."""
    listed = _checked(lists, held_out.given.users.named(users))
    items = list(chain.from_iterable(listed))
    user = np.repeat(np.arange(len(listed)), [len(one) for one in listed])
    try:
        item = held_out.given.items.rows(items, held_out.given.users) if items else np.empty(0, np.int64)
    except UnknownIdError as error:
        raise UnknownIdError(f"lists may only have items of the training data; {error}") from None
    order = np.lexsort((item, user))
    twice = np.flatnonzero((np.diff(user[order]) == 0) & (np.diff(item[order]) == 0))
    if len(twice):
        first = order[twice[0]]
        who, what = held_out.given.users[users[user[first]]], held_out.given.items[item[first]]
        raise InvalidValueError(
            f"a list must have each item once, but that of user {who!r} has {what!r} twice"
        )
    return user, item


def _checked(lists: Any, ids: list[Any]) -> list[list[Any]]:
    """Return the lists of some users, in their order."""
    if isinstance(lists, Rankings):
        lists = dict(zip(lists.asked, lists, strict=True))
    if not isinstance(lists, Mapping):
        raise InvalidTypeError(
            "lists must be Rankings, or a mapping from the id of each user to the ids of items, best first; "
            f"got {type(lists).__name__}"
        )
    missing = [each for each in ids if each not in lists]
    if missing:
        raise InvalidValueError(
            f"lists must have one for each user to evaluate, an empty one if there is nothing to recommend; "
            f"{len(missing)} of {len(ids)} have none, such as {missing[0]!r}"
        )
    for each in ids:
        unordered = isinstance(lists[each], (str, bytes, Mapping, set, frozenset))
        if unordered or not isinstance(lists[each], Iterable):
            raise InvalidTypeError(
                "lists must have sequences of ids of items, best first, "
                f"but user {each!r} has {lists[each]!r}"
            )
    return [list(lists[each]) for each in ids]


def _places_of(
    wanted: Csr, keys: NDArray[np.int64], place: NDArray[np.int64], behind: int
) -> NDArray[np.int32]:
    """Return the place of each wanted item in its list."""
    order = np.argsort(keys)
    keys, place = np.append(keys[order], -1), np.append(place[order], behind)
    found = np.searchsorted(keys[:-1], wanted.keys)
    return np.where(keys[found] == wanted.keys, place[found], behind).astype(np.int32)


def _as_table(
    user: NDArray[np.int64], item: NDArray[np.int64], place: NDArray[np.int64], users: int
) -> RowNumbers:
    """Return the list of each user in a row, which is filled up with -1."""
    table = np.full((users, int(place.max(initial=-1)) + 1), -1, dtype=np.int32)
    table[user, place] = item
    return table
