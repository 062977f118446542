"""Strong generalisation: users the model has never seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..data.axis import Axis
from ..data.csr import RowNumbers
from ..data.interactions import Interactions
from ..errors import InvalidValueError
from ..system.checks import checked_integer
from .parts import STRONG_METRICS, HeldOut, Mask, Split, checked_share, mask_of

LEAST_TO_ASK = 5  # pairs of a stranger from which some are asked for (Liang et al. 2018)


def strong(
    data: Interactions,
    *,
    held_out: int = 10_000,
    test_share: float = 0.2,
    min_user: int = 5,
    min_item: int = 0,
    seed: int = 98765,
) -> Split:
    """Strong generalisation: other users than those trained on, the very ones of Liang et al. (2018).

    Users and pairs are drawn as the notebook published with that paper draws them (dawenl/vae_cf), with
    numpy's legacy generator. A user's pairs are drawn from in ascending order of item id, which is the
    order of MovieLens 20M's ratings.csv and of the Million Song Dataset's train_triplets.txt. The defaults
    are those for MovieLens 20M; for the songs they are held_out=50_000, min_user=20, min_item=200.

    Parameters
    ----------
    held_out
        The number of test users, and of validation users; the rest is trained on.
    test_share
        The share of a held-out user's pairs that is asked for, rounded down; users with fewer than five
        pairs are asked for none.
    min_user
        Users with fewer items, of those that are left, are removed, once.
    min_item
        Before that, items with fewer users are.
    """
    share = checked_share(test_share)
    size = checked_integer("held_out", held_out, 1)
    popular = data.by_item.counts >= checked_integer("min_item", min_item, 0)
    user, item = data.by_user.row_numbers, data.by_user.columns
    users = _shuffled_users(data, user[popular[item]], checked_integer("min_user", min_user, 0), seed)
    if len(users) <= 2 * size:
        raise InvalidValueError(
            f"{len(users)} users are left with min_user={min_user} and min_item={min_item}, "
            f"so held_out can be at most {max(len(users) - 1, 0) // 2}, got {held_out}"
        )
    training, for_validation, for_test = (
        popular[item] & mask_of(part, data.n_users)[user] for part in np.split(users, [-2 * size, -size])
    )
    items = Axis.of(data.items, item[training])
    train = data.select(training, Axis.of(data.users, user[training]), items)
    validation = _strangers("validation", data, for_validation, items, share, seed)
    test = _strangers("test", data, for_test, items, share, seed)
    parts = (validation.given, validation.wanted, test.given, test.wanted)
    left_out = np.count_nonzero(for_validation | for_test) - sum(map(len, parts))
    return Split("strong", train, test, validation, STRONG_METRICS, int(left_out))


def _shuffled_users(data: Interactions, occurring: RowNumbers, least: int, seed: int) -> NDArray[np.int64]:
    """The rows of users that occur often enough, sorted by id and then shuffled."""
    counts = np.bincount(occurring, minlength=data.n_users)
    users = np.flatnonzero(counts >= max(least, 1))
    users = users[np.argsort(data.users.ids[users], kind="stable")]
    return users[np.random.RandomState(checked_integer("seed", seed, 0)).permutation(len(users))]


def _strangers(name: str, data: Interactions, chosen: Mask, items: Axis, share: float, seed: int) -> HeldOut:
    """The chosen pairs of known items, a share of each user's asked for, drawn from the seed afresh."""
    chosen = chosen & (items.rows[data.by_user.columns] >= 0)
    users = Axis.of(data.users, data.by_user.row_numbers[chosen])
    pairs = data.select(chosen, users, items)
    rng = np.random.RandomState(seed)
    asked = np.zeros(len(pairs), dtype=bool)
    counts = pairs.by_user.counts
    for start, n in zip(pairs.by_user.offsets[:-1].tolist(), counts.tolist(), strict=True):
        if n >= LEAST_TO_ASK:
            asked[start + rng.choice(n, size=int(share * n), replace=False)] = True
    if not asked.any():
        raise InvalidValueError(
            f"no {name} user has enough pairs to be asked for any: {LEAST_TO_ASK} at least and "
            f"test_share={share:g} of them at least one; the most a user has is {counts.max(initial=0)}"
        )
    axes = Axis.whole(pairs.users), Axis.whole(pairs.items)
    return HeldOut(pairs.select(~asked, *axes), pairs.select(asked, *axes), strangers=True)
