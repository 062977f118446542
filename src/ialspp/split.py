"""Splits: what to train on, whom to ask about, and which answers are wanted.

Parts taken from data have their users and items in ascending order of id; labels, weights and times
stay with their pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .csr import Csr, Rows, Times, rows_by_user
from .errors import UnknownIdError
from .ids import IdMap
from .interactions import Interactions
from .settings import checked_integer, checked_number

Mask = NDArray[np.bool_]

DAY = 86_400.0  # seconds
LEAST_TO_ASK = 5  # pairs of a stranger from which some are asked for (Liang et al. 2018)

STRONG_METRICS = ("capped_recall@20", "capped_recall@50", "ndcg@100")  # Liang et al. 2018
WEAK_METRICS = ("recall@20", "ndcg@20")  # He et al. 2020, LightGCN
ONE_ITEM_METRICS = ("hit_rate@10", "ndcg@10")  # He et al. 2017, NCF


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HeldOut:
    """Users to ask about: what is known of each, and what they are to be asked for."""

    given: Interactions  # folded in (strangers) or trained on (known users); never recommended again
    wanted: Interactions  # what is asked for; same users and items as `given`
    strangers: bool  # the users are not in the training data: their vectors are folded in
    candidates: Csr | None = None  # rank only these items of each user, the wanted among them; None: all

    def __post_init__(self) -> None:
        for axis in ("users", "items"):
            given, wanted = getattr(self.given, axis), getattr(self.wanted, axis)
            if given is not wanted and given != wanted:
                raise ValueError(f"given and wanted must have the same {axis}, got {given!r} and {wanted!r}")
        if len(self.wanted) == 0:
            raise ValueError("at least one pair must be wanted, got none: nobody could be asked about")

    def __repr__(self) -> str:
        who = "strangers" if self.strangers else "users"
        asked = np.count_nonzero(self.wanted.by_user.counts)
        return f"HeldOut({asked} {who} asked for {len(self.wanted)} pairs)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Split:
    """Training data, the users to report on, and perhaps others to choose settings by."""

    protocol: str
    train: Interactions
    test: HeldOut
    validation: HeldOut | None
    metrics: tuple[str, ...]  # what is reported for this protocol
    left_out: int = 0  # held-out pairs in no part: their user or item does not occur in training

    def __repr__(self) -> str:
        parts = f"train={self.train!r}, test={self.test!r}, validation={self.validation!r}"
        return f"Split({self.protocol!r}, {parts}, left_out={self.left_out})"


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
    min_user, min_item
        Items with fewer users are removed first, then users with fewer of the remaining items, once.
    """
    share = _checked_share(test_share)
    size = checked_integer("held_out", held_out, 1)
    popular = data.by_item.counts >= checked_integer("min_item", min_item, 0)
    user, item = data.by_user.row_numbers, data.by_user.columns
    users = _shuffled_users(data, user[popular[item]], checked_integer("min_user", min_user, 0), seed)
    if len(users) <= 2 * size:
        raise ValueError(
            f"{len(users)} users are left with min_user={min_user} and min_item={min_item}, "
            f"so held_out can be at most {max(len(users) - 1, 0) // 2}, got {held_out}"
        )
    training, for_validation, for_test = (
        popular[item] & _mask(part, data.n_users)[user] for part in np.split(users, [-2 * size, -size])
    )
    items = _Axis.of(data.items, item[training])
    train = _picked(data, training, _Axis.of(data.users, user[training]), items)
    validation = _strangers("validation", data, for_validation, items, share, seed)
    test = _strangers("test", data, for_test, items, share, seed)
    parts = (validation.given, validation.wanted, test.given, test.wanted)
    left_out = np.count_nonzero(for_validation | for_test) - sum(map(len, parts))
    return Split("strong", train, test, validation, STRONG_METRICS, int(left_out))


def leave_one_out(
    data: Interactions, *, pick: Literal["latest", "random"] = "latest", negatives: int = 99, seed: int = 0
) -> Split:
    """One pair of every user with two or more, to be found among random items the user never touched.

    Parameters
    ----------
    pick
        Which pair: the latest (of several at one time that of the last item row), or any.
    negatives
        How many other items to rank it with, each unseen item alike; all of them if there are fewer.
    """
    size = checked_integer("negatives", negatives, 1)
    rng = np.random.default_rng(checked_integer("seed", seed, 0))
    if pick not in ("latest", "random"):
        raise ValueError(f'pick must be "latest" or "random", got {pick!r}')
    times = _times_of(data) if pick == "latest" else rng.random(len(data))
    split = _held_out_of("leave-one-out", data, _latest_pairs(data, times), ONE_ITEM_METRICS)
    candidates = _with_negatives(split.train, split.test.wanted, size, rng)
    return replace(split, test=replace(split.test, candidates=candidates))


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


def given(train: Interactions, test: Interactions) -> Split:
    """Weak generalisation with data that is split already: other items of the users trained on.

    Every user and item of a test pair must be among those of `train`, where ids listed explicitly
    (`users`, `items` of `Interactions.from_arrays`) count too. No pair may be in both.
    """
    users = _Axis.onto(train.users, test.users, test.by_user.counts > 0)
    items = _Axis.onto(train.items, test.items, test.by_item.counts > 0)
    wanted = _picked(test, np.ones(len(test), dtype=bool), users, items)
    _refuse(train, _keys(wanted.by_user), _keys(train.by_user), found=True, why="is in both train and test")
    return Split("weak", train, HeldOut(train, wanted, strangers=False), None, WEAK_METRICS)


def last_days(data: Interactions, days: float) -> Split:
    """What happened in the last days, from what happened before.

    A pair is held out if its time is at or after the latest time of all minus `days` times 86,400
    seconds; pairs strictly before are trained on. A pair's time is the first at which it occurred.
    """
    length = checked_number("days", days)
    times = _times_of(data)
    span = (times.max() - times.min()) / DAY if len(times) else 0.0
    if not 0 < length < span:
        raise ValueError(f"days must be more than 0 and less than the {span:g} the data spans, got {days}")
    return _held_out_of("last-days", data, times >= times.max() - length * DAY, WEAK_METRICS)


def last_item(data: Interactions) -> Split:
    """The latest pair of every user with two or more; of several at one time that of the last item row."""
    return _held_out_of("last-item", data, _latest_pairs(data, _times_of(data)), ONE_ITEM_METRICS)


def random(data: Interactions, *, test_share: float = 0.2, seed: int = 0) -> Split:
    """Pairs drawn at random from all: round(test_share * number of pairs) are held out."""
    size = round(_checked_share(test_share) * len(data))
    rng = np.random.default_rng(checked_integer("seed", seed, 0))
    drawn = rng.choice(len(data), size, replace=False, shuffle=False)
    return _held_out_of("random", data, _mask(drawn, len(data)), WEAK_METRICS)


@dataclass(frozen=True, slots=True)
class _Axis:
    """The ids of a part, and for each row of the data its row in the part, or -1."""

    ids: IdMap
    rows: Rows

    @classmethod
    def of(cls, ids: IdMap, occurring: Rows) -> _Axis:
        """The rows that occur, in ascending order of id."""
        old = np.flatnonzero(np.bincount(occurring, minlength=len(ids)))
        old = old[np.argsort(ids.ids[old], kind="stable")]
        rows = np.full(len(ids), -1, dtype=np.int32)
        rows[old] = np.arange(len(old), dtype=np.int32)
        return cls(IdMap(ids.ids[old], name=ids.name), rows)

    @classmethod
    def onto(cls, known: IdMap, ids: IdMap, used: Mask) -> _Axis:
        """The rows of another map, which must know every id that is used."""
        rows = np.full(len(ids), -1, dtype=np.int32)
        try:
            rows[used] = known.rows(ids.ids[used])
        except UnknownIdError as error:
            raise UnknownIdError(f"train must have every {known.name} of test; {error}") from None
        return cls(known, rows)


def _picked(
    data: Interactions, chosen: Mask, users: _Axis | None = None, items: _Axis | None = None
) -> Interactions:
    """The chosen pairs with all that belongs to them, in the rows of `users` and `items`."""
    rows = data.by_user
    user, item = rows.row_numbers[chosen], rows.columns[chosen]
    return Interactions(
        data.users if users is None else users.ids,
        data.items if items is None else items.ids,
        user if users is None else users.rows[user],
        item if items is None else items.rows[item],
        None if rows.labels is None else rows.labels[chosen],
        None if rows.weights is None else rows.weights[chosen],
        None if data.times is None else data.times[chosen],
    )


def _shuffled_users(data: Interactions, occurring: Rows, least: int, seed: int) -> NDArray[np.int64]:
    """The rows of users that occur often enough, sorted by id and then shuffled."""
    counts = np.bincount(occurring, minlength=data.n_users)
    users = np.flatnonzero(counts >= max(least, 1))
    users = users[np.argsort(data.users.ids[users], kind="stable")]
    return users[np.random.RandomState(checked_integer("seed", seed, 0)).permutation(len(users))]


def _strangers(name: str, data: Interactions, chosen: Mask, items: _Axis, share: float, seed: int) -> HeldOut:
    """The chosen pairs of known items, a share of each user's asked for, drawn from the seed afresh."""
    chosen = chosen & (items.rows[data.by_user.columns] >= 0)
    users = _Axis.of(data.users, data.by_user.row_numbers[chosen])
    pairs = _picked(data, chosen, users, items)
    rng = np.random.RandomState(seed)
    asked = np.zeros(len(pairs), dtype=bool)
    counts = pairs.by_user.counts
    for start, n in zip(pairs.by_user.offsets[:-1].tolist(), counts.tolist(), strict=True):
        if n >= LEAST_TO_ASK:
            asked[start + rng.choice(n, size=int(share * n), replace=False)] = True
    if not asked.any():
        raise ValueError(
            f"no {name} user has enough pairs to be asked for any: {LEAST_TO_ASK} at least and "
            f"test_share={share:g} of them at least one; the most a user has is {counts.max(initial=0)}"
        )
    return HeldOut(_picked(pairs, ~asked), _picked(pairs, asked), strangers=True)


def _held_out_of(protocol: str, data: Interactions, asked: Mask, metrics: tuple[str, ...]) -> Split:
    """Train on what is not asked for; ask for what has its user and its item there."""
    user, item = data.by_user.row_numbers, data.by_user.columns
    users = _Axis.of(data.users, user[~asked])
    items = _Axis.of(data.items, item[~asked])
    wanted = asked & (users.rows[user] >= 0) & (items.rows[item] >= 0)
    held_out = np.count_nonzero(asked)
    if not wanted.any():
        raise ValueError(
            f"of {len(data)} pairs {held_out} are held out, and none of these has both its user and its "
            "item among the rest: nothing can be asked for"
        )
    train = _picked(data, ~asked, users, items)
    test = HeldOut(train, _picked(data, wanted, users, items), strangers=False)
    return Split(protocol, train, test, None, metrics, int(held_out - np.count_nonzero(wanted)))


def _latest_pairs(data: Interactions, times: Times) -> Mask:
    """The latest pair of every user with two or more; the last of several."""
    counts = data.by_user.counts
    starts = data.by_user.offsets[:-1][counts > 0]  # an empty stretch would not reduce to nothing
    latest = np.repeat(np.maximum.reduceat(times, starts), counts[counts > 0])
    places = np.maximum.reduceat(np.where(times == latest, np.arange(len(times)), -1), starts)
    return _mask(places[counts[counts > 0] > 1], len(data))


def _mask(places: NDArray[np.int64], length: int) -> Mask:
    mask = np.zeros(length, dtype=bool)
    mask[places] = True
    return mask


def _with_negatives(train: Interactions, wanted: Interactions, size: int, rng: np.random.Generator) -> Csr:
    """The wanted item of each user who has one, and random items neither trained on nor wanted."""
    asked, answers = wanted.by_user.row_numbers, wanted.by_user.columns
    users = np.concatenate([train.by_user.row_numbers, asked])
    items = np.concatenate([train.by_user.columns, answers])
    seen, _ = rows_by_user(train.users, train.items, users, items, None, None)
    drawn = [_unseen(seen.columns_of(user), train.n_items, size, rng) for user in asked.tolist()]
    users = np.concatenate([np.repeat(asked, [len(row) for row in drawn]), asked])
    items = np.concatenate([*drawn, answers]).astype(np.int32)
    return rows_by_user(train.users, train.items, users, items, None, None)[0]


def _unseen(seen: Rows, n_items: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Random items that are not among the seen, which ascend; all of them if there are fewer than `size`."""
    n = n_items - len(seen)
    drawn = rng.choice(n, min(size, n), replace=False, shuffle=False)
    # Before the j-th seen item s_j come s_j - j unseen ones, so the unseen one of number r comes after
    # as many seen ones as have s_j - j <= r.
    return drawn + np.searchsorted(seen - np.arange(len(seen)), drawn, side="right")


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


def _times_of(data: Interactions) -> Times:
    if data.times is None:
        raise ValueError(
            "a split by time needs times, but the data has none; give `time` to Interactions.from_arrays "
            "or Interactions.from_dataframe"
        )
    return data.times


def _checked_share(value: float) -> float:
    share = checked_number("test_share", value)
    if not 0 < share < 1:
        raise ValueError(f"test_share must be between 0 and 1, both excluded, got {value}")
    return share
