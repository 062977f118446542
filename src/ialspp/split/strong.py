"""Strong generalisation: predict items of users the model has never seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..data.axis import Axis
from ..data.ids import IdMap
from ..data.interactions import Interactions, require_interactions
from ..data.row_files import count_within
from ..errors import InvalidValueError
from ..system.checks import checked_integer, checked_share
from .parts import STRONG_METRICS, HeldOut, Mask, Split, mask_of

LEAST_PAIRS = 5  # of an unseen user, if some are to be predicted (Liang et al. 2018)
HELD_OUT = 10_000  # users in each part of MovieLens 20M (Liang et al. 2018)
LARGEST_SEED = 2**32 - 1  # of numpy's legacy generator


def strong(
    data: Interactions,
    *,
    held_out: int | None = None,
    test_share: float = 0.2,
    min_user: int = 5,
    min_item: int = 0,
    seed: int = 98765,
) -> Split:
    """Hold out users, and predict some of their pairs from the others; exactly as Liang et al. (2018) do.

    Users and pairs are drawn as in the notebook published with that paper (dawenl/vae_cf), with numpy's
    legacy generator. A user's pairs are drawn in ascending order of item id, which is the order of MovieLens
    20M's ratings.csv and of the Million Song Dataset's train_triplets.txt. The defaults are those for
    MovieLens 20M; `datasets.strong_split` has those of both data sets.

    Parameters
    ----------
    held_out
        The number of test users, and of validation users; the model is trained on all others. None: a tenth
        of the users for each part, at least 1 and at most 10,000.
    test_share
        The share of a held-out user's pairs that has to be predicted, rounded down. Nothing is predicted for
        users with fewer than five pairs.
    min_user
        Remove users with fewer items, of those that `min_item` leaves.
    min_item
        Remove items with fewer users. Items are removed before users.
    seed
        Draws the users, and again the pairs of each part.

    Examples
    --------
    >>> parts = split.strong(data, held_out=1)
    >>> parts.train
    Interactions(3 users x 6 items, 15 pairs, with times)
    >>> parts.test
    HeldOut(1 held-out users, 1 test pairs)
    """
    require_interactions(data)
    share = checked_share("test_share", test_share)
    if checked_integer("seed", seed, 0) > LARGEST_SEED:
        raise InvalidValueError(f"the seed of a strong split must be at most {LARGEST_SEED}, got {seed}")
    frequent, popular, counts = _frequent(data, min_user, min_item)
    users = _shuffled(data.users, np.flatnonzero(frequent), seed)
    size = _size_of_a_part(held_out, len(users))
    if len(users) <= 2 * size:
        raise InvalidValueError(
            f"{len(users)} users are left with min_user={min_user} and min_item={min_item}, but "
            f"held_out={size} needs {2 * size + 1:,} or more"
        )
    training, for_validation, for_test = (
        mask_of(part, data.n_users) for part in np.split(users, [-2 * size, -size])
    )
    known = count_within(data.by_user, training, popular)[1] > 0
    items = Axis.of(data.items, np.flatnonzero(known))
    train = data.cut(training, known, Axis.of(data.users, np.flatnonzero(training)), items)
    validation = _held_out("validation", data, for_validation, items, share, seed)
    test = _held_out("test", data, for_test, items, share, seed)
    parts = (validation.given, validation.wanted, test.given, test.wanted)
    left_out = counts[for_validation | for_test].sum() - sum(map(len, parts))
    return Split("strong", train, test, validation, STRONG_METRICS, int(left_out))


def frequent_users_and_items(data: Interactions, min_user: int = 5, min_item: int = 0) -> tuple[Mask, Mask]:
    """Mark the items with enough users, then the users with enough of these items."""
    return _frequent(data, min_user, min_item)[:2]


def _frequent(data: Interactions, min_user: int, min_item: int) -> tuple[Mask, Mask, NDArray[np.int64]]:
    """Mark frequent users and items; also count the frequent items of each user."""
    least_items = checked_integer("min_user", min_user, 0)
    least_users = checked_integer("min_item", min_item, 0)
    popular = data.by_user.column_counts >= least_users
    counts = count_within(data.by_user, np.ones(data.n_users, dtype=bool), popular)[0]
    return counts >= max(least_items, 1), popular, counts


def _size_of_a_part(held_out: int | None, users: int) -> int:
    """Return the number of test users, which is that of validation users too."""
    return (
        max(1, min(HELD_OUT, users // 10)) if held_out is None else checked_integer("held_out", held_out, 1)
    )


def _shuffled(ids: IdMap, rows: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Sort rows by id, then shuffle them."""
    rows = rows[np.argsort(ids.ids[rows], kind="stable")]
    return rows[np.random.RandomState(seed).permutation(len(rows))]


def _held_out(name: str, data: Interactions, chosen: Mask, items: Axis, share: float, seed: int) -> HeldOut:
    """Divide the pairs of the chosen users, as far as items are known, into given and wanted ones."""
    pairs = data.cut(chosen, items.rows >= 0, items=items)
    rng = np.random.RandomState(seed)
    wanted = np.zeros(len(pairs), dtype=bool)
    counts = pairs.by_user.counts
    for start, n in zip(pairs.by_user.offsets[:-1].tolist(), counts.tolist(), strict=True):
        if n >= LEAST_PAIRS:
            wanted[start + rng.choice(n, size=int(share * n), replace=False)] = True
    if not wanted.any():
        raise InvalidValueError(
            f"a {name} user with at least {LEAST_PAIRS} pairs is required, and test_share={share:g} of them "
            f"must be at least one; the most pairs of a user are {counts.max(initial=0)}"
        )
    axes = Axis.whole(pairs.users), Axis.whole(pairs.items)
    return HeldOut(pairs.part(~wanted, *axes), pairs.part(wanted, *axes), unseen=True)
