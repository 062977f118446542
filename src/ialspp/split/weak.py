"""Weak generalisation: predict more items of users in training, held out by time or at random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..data.axis import Axis
from ..data.csr import Csr, RowNumbers, SortedPairs, Times
from ..data.interactions import Interactions, require_interactions
from ..data.row_files import count_within, marked
from ..errors import InvalidValueError
from ..system.checks import checked_integer, checked_number, checked_share
from .parts import ONE_ITEM_METRICS, WEAK_METRICS, HeldOut, Mask, Split, mask_of

DAY = 86_400.0  # seconds


def last_days(data: Interactions, days: float) -> Split:
    """Hold out the last days, to be predicted from the time before.

    A pair is held out if its time is at or after the latest time of all minus `days` times 86,400 seconds;
    earlier pairs are trained on. A pair's time is the first at which it occurs.

    Examples
    --------
    What was bought on the fifth day, or one day before it, is held out:

    >>> parts = split.last_days(data, days=1)
    >>> parts.train
    Interactions(5 users x 6 items, 15 pairs, with times)
    >>> parts.test
    HeldOut(5 users, 10 test pairs)
    """
    require_interactions(data)
    length = checked_number("days", days)
    times = _times_of(data)
    span = (times.max() - times.min()) / DAY if len(times) else 0.0
    if not 0 < length < span:
        raise InvalidValueError(
            f"days must be more than 0 and less than the {span:g} the data spans, got {days}"
        )
    first = times.max() - length * DAY
    held_out = _marked(data, lambda _, entries: times[entries] >= first)
    return _split_by("last-days", data, held_out, WEAK_METRICS)


def last_item(data: Interactions) -> Split:
    """Hold out the latest pair of every user with two or more; of several at one time, the last item row.

    Examples
    --------
    >>> parts = split.last_item(data)
    >>> parts.test.wanted.to_frame().select("user", "item").rows()
    [('ann', 'eggs'), ('bob', 'milk'), ('cyd', 'tea'), ('dan', 'bread'), ('eve', 'salt')]
    """
    require_interactions(data)
    times = _times_of(data)
    held_out = _marked(data, lambda rows, entries: _latest_pairs(rows, times[entries]))
    return _split_by("last-item", data, held_out, ONE_ITEM_METRICS)


def last_share(data: Interactions, *, test_share: float = 0.2) -> Split:
    """Hold out the latest share of each user's pairs, to be predicted from the pairs before.

    Parameters
    ----------
    test_share
        The share of each user's pairs, rounded: at least one of several pairs, and never all. Of several at
        one time, the last item rows are held out.

    Examples
    --------
    >>> parts = split.last_share(data, test_share=0.4)
    >>> parts.test.wanted.by_user.counts.tolist()
    [2, 2, 2, 2, 2]
    """
    require_interactions(data)
    share, times = checked_share("test_share", test_share), _times_of(data)
    held_out = _marked(data, lambda rows, entries: _last_of_each(rows, share, times[entries]))
    return _split_by("last-share", data, held_out, WEAK_METRICS)


def random(data: Interactions, *, test_share: float = 0.2, per_user: bool = False, seed: int = 0) -> Split:
    """Hold out a share of the pairs, drawn at random.

    Parameters
    ----------
    test_share
        The share of the pairs to hold out, rounded to a number of pairs.
    per_user
        Take the share of each user's pairs: at least one, and never all. Then users with few pairs count as
        much in the test as others. Otherwise it is a share of all pairs. Of more than 16 million, each 16
        million (those of consecutive users) give their share.
    seed
        Draws the pairs.

    Examples
    --------
    >>> parts = split.random(data, test_share=0.2)
    >>> len(parts.train), len(parts.test.wanted)
    (20, 5)
    >>> split.random(data, test_share=0.2, per_user=True).test.wanted.by_user.counts.tolist()
    [1, 1, 1, 1, 1]
    """
    require_interactions(data)
    share = checked_share("test_share", test_share)
    rng = np.random.default_rng(checked_integer("seed", seed, 0))

    def drawn_of_each(rows: Csr, _: slice) -> Mask:
        return _last_of_each(rows, share, -rng.random(len(rows.columns)))

    def drawn(_: Csr, entries: slice) -> Mask:
        length = entries.stop - entries.start
        size = round(share * entries.stop) - round(share * entries.start)
        return mask_of(rng.choice(length, size, replace=False, shuffle=False), length)

    held_out = _marked(data, drawn_of_each if per_user else drawn)
    return _split_by("random", data, held_out, WEAK_METRICS)


def leave_one_out(
    data: Interactions, *, pick: Literal["latest", "random"] = "latest", negatives: int = 99, seed: int = 0
) -> Split:
    """Hold out one pair of every user with two or more, to be found among random items the user never saw.

    Parameters
    ----------
    pick
        Which pair: the latest (of several at one time, the last item row), or a random one.
    negatives
        How many other items to rank it with, drawn uniformly; all other items if there are fewer.
    seed
        Draws the random pairs and the other items.

    Examples
    --------
    >>> parts = split.leave_one_out(data, negatives=1)
    >>> parts.test
    HeldOut(5 users, 5 test pairs)

    The item of each user is ranked with one other:

    >>> parts.test.candidates.counts.tolist()
    [2, 2, 2, 2, 2]
    """
    require_interactions(data)
    size = checked_integer("negatives", negatives, 1)
    rng = np.random.default_rng(checked_integer("seed", seed, 0))
    if pick not in ("latest", "random"):
        raise InvalidValueError(f'pick must be "latest" or "random", got {pick!r}')
    times = _times_of(data, 'or pick="random"') if pick == "latest" else None

    def picked(rows: Csr, entries: slice) -> Mask:
        return _latest_pairs(rows, rng.random(len(rows.columns)) if times is None else times[entries])

    split = _split_by("leave-one-out", data, _marked(data, picked), ONE_ITEM_METRICS)
    candidates = _with_negatives(split.train, split.test.wanted, size, rng)
    return replace(split, test=replace(split.test, candidates=candidates))


def _split_by(protocol: str, data: Interactions, held_out: Mask, metrics: tuple[str, ...]) -> Split:
    """Train on the pairs not held out; test on those held out whose user and item are in training."""
    everyone, everything = np.ones(data.n_users, dtype=bool), np.ones(data.n_items, dtype=bool)
    trained = _marked(data, lambda _, entries: ~held_out[entries])
    of_users, of_items = count_within(data.by_user, everyone, everything, trained)
    users = Axis.of(data.users, np.flatnonzero(of_users))
    items = Axis.of(data.items, np.flatnonzero(of_items))
    wanted = data.cut(users.rows >= 0, items.rows >= 0, users, items, held_out)
    size = np.count_nonzero(held_out)
    if size == 0:
        raise InvalidValueError(
            f"none of {len(data)} pairs is held out ({protocol}), so there is nothing to predict"
        )
    if len(wanted) == 0:
        raise InvalidValueError(
            f"{size} of {len(data)} pairs are held out, but none of them has both its user and its item in "
            "training, so there is nothing to predict"
        )
    train = data.cut(everyone, everything, users, items, trained)
    test = HeldOut(train, wanted, unseen=False)
    return Split(protocol, train, test, None, metrics, int(size - len(wanted)))


def _marked(data: Interactions, of_range: Callable[[Csr, slice], Mask]) -> Mask:
    """Mark pairs, a range of users after the other, in memory that does not grow with mapped data.

    of_range: marks the pairs of some rows, and is also told which of all pairs they are.
    """
    rows = data.by_user

    def between(begin: int, end: int) -> Mask:
        entries = slice(int(rows.offsets[begin]), int(rows.offsets[end]))
        return of_range(rows.between(begin, end), entries)

    return marked(rows, between, data.work)


def _last_of_each(rows: Csr, share: float, keys: NDArray[np.float64]) -> Mask:
    """Mark the share of each user's pairs with the largest keys: at least one of several, and never all."""
    counts = rows.counts
    sizes = np.minimum(np.maximum(np.rint(share * counts), 1), counts - 1)
    ordered = np.lexsort((keys, rows.row_numbers))  # within each user
    places = np.arange(len(ordered)) - np.repeat(rows.offsets[:-1], counts)
    return mask_of(ordered[places >= np.repeat(counts - sizes, counts)], len(ordered))


def _latest_pairs(rows: Csr, times: Times) -> Mask:
    """Mark the latest pair of every user with two or more; the last of several."""
    counts = rows.counts
    starts = rows.offsets[:-1][counts > 0]  # reduceat has no result for an empty range
    latest = np.repeat(np.maximum.reduceat(times, starts), counts[counts > 0])
    places = np.maximum.reduceat(np.where(times == latest, np.arange(len(times)), -1), starts)
    return mask_of(places[counts[counts > 0] > 1], len(times))


def _with_negatives(train: Interactions, wanted: Interactions, size: int, rng: np.random.Generator) -> Csr:
    """List the wanted item of each user who has one, and random items neither trained on nor wanted."""
    test_users, answers = wanted.by_user.row_numbers, wanted.by_user.columns
    seen = (
        np.union1d(train.by_user.columns_of(user), answers[place])
        for place, user in enumerate(test_users.tolist())
    )
    drawn = [_unseen(row, train.n_items, size, rng) for row in seen]
    users = np.concatenate([np.repeat(test_users, [len(row) for row in drawn]), test_users])
    items = np.concatenate([*drawn, answers]).astype(np.int32)
    return SortedPairs.of(train.users, train.items, users, items, None, None).merged()[0]


def _unseen(seen: RowNumbers, n_items: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw items that are not among the seen, which ascend; all of them if there are fewer than `size`."""
    n = n_items - len(seen)
    drawn = rng.choice(n, min(size, n), replace=False, shuffle=False)
    # Before the j-th seen item s_j come s_j - j unseen ones, so the unseen one of number r comes after
    # as many seen ones as have s_j - j <= r.
    return drawn + np.searchsorted(seen - np.arange(len(seen)), drawn, side="right")


def _times_of(data: Interactions, otherwise: str = "") -> Times:
    if data.times is None:
        raise InvalidValueError(
            "a split by time needs times, but the data has none; give `time` to Interactions.read, "
            f"from_arrays or from_dataframe{otherwise and ', ' + otherwise}"
        )
    return data.times
