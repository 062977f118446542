from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from support.drawing import drawn

from ialspp import Interactions, UnknownIdError, split
from ialspp.data.csr import Csr
from ialspp.split import HeldOut

DAY = 86_400
properties = drawn(40)

KINDS = {  # an integer -> an id; strings sort in another order than the integers they are made of
    "integers": lambda n: 7 * n - 50,
    "strings": lambda n: f"id{n}",
    "big": lambda n: 10**30 * (n - 20),
}
IN_TIME = {
    "last_item": split.last_item,
    "last_share": partial(split.last_share, test_share=0.4),
    "last_days": partial(split.last_days, days=2),
    "leave_one_out": split.leave_one_out,
}
WITHIN_USERS = {
    **IN_TIME,
    "random": split.random,
    "leave_one_out_random": partial(split.leave_one_out, pick="random", negatives=3),
}


def pairs(data):
    """{(user, item): (label, weight, time)}."""
    rows, ones = data.by_user, np.ones(len(data))
    columns = [ones if c is None else c for c in (rows.labels, rows.weights, data.times)]
    keys = zip(data.users.ids[rows.row_numbers].tolist(), data.items.ids[rows.columns].tolist(), strict=True)
    return dict(zip(keys, zip(*(c.tolist() for c in columns), strict=True), strict=True))


def listed(rows, data):
    """{user: its items} of a Csr in the rows of `data`."""
    return {data.users[u]: data.items.ids[rows.columns_of(u)].tolist() for u in range(len(rows))}


def interactions(log, **extra):
    """From (user, item, time), with a label and a weight that tell the pairs apart."""
    user, item, time = ([entry[k] for entry in log] for k in range(3))
    number = np.arange(len(log)) + 2.0
    return Interactions.from_arrays(
        user=user, item=item, time=np.array(time, dtype=float), label=-number, weight=number / 4, **extra
    )


def generated(seed, kind="integers", n_users=30, n_items=25, mean=11):
    """Pairs of users with 1 to 2 * mean items each, the users and items in no order."""
    rng, name = np.random.default_rng(seed), KINDS[kind]
    log = [
        (name(u), name(i), int(rng.integers(10 * DAY)))
        for u in range(n_users)
        for i in rng.choice(n_items, rng.integers(1, min(2 * mean, n_items)), replace=False).tolist()
    ]
    shuffled = [[name(k) for k in rng.permutation(n).tolist()] for n in (n_users + 3, n_items + 3)]
    return interactions(log, users=shuffled[0], items=shuffled[1])


def same(a, b):
    return a.users == b.users and a.items == b.items and pairs(a) == pairs(b)


logs = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from("abcdefg"), st.integers(0, 4 * DAY)),
    min_size=8,
    max_size=40,
    unique_by=lambda entry: entry[:2],
)


def frame_of(data):
    """As a file in ascending order of user and item would be read."""
    return pd.DataFrame(sorted(pairs(data)), columns=["user", "item"])


def as_published(frame, held_out, min_user, min_item, share=0.2, seed=98765):
    """The steps of Liang et al. (2018) on a frame: pairs trained on, and (given, asked for) of two parts.

    None where there are too few users, or a part has nothing to ask for.
    """

    def frequent(column, least):
        sizes = frame.groupby(column).size()
        return frame[frame[column].isin(sizes.index[sizes >= least])]

    def folded(ids):
        part = frame[frame["user"].isin(ids) & frame["item"].isin(train["item"])]
        rng, given, wanted = np.random.RandomState(seed), [part[:0]], [part[:0]]
        for _, group in part.groupby("user"):
            chosen = np.zeros(len(group), dtype=bool)
            if len(group) >= 5:
                chosen[rng.choice(len(group), size=int(share * len(group)), replace=False)] = True
            given.append(group[~chosen])
            wanted.append(group[chosen])
        return tuple_set(pd.concat(given)), tuple_set(pd.concat(wanted))

    def tuple_set(part):
        return set(part.itertuples(index=False, name=None))

    frame = frequent("item", min_item)
    frame = frequent("user", min_user)
    ids = frame.groupby("user").size().index.to_numpy()
    ids = ids[np.random.RandomState(seed).permutation(len(ids))]
    n = len(ids)
    if n <= 2 * held_out:
        return None
    train = frame[frame["user"].isin(ids[: n - 2 * held_out])]
    validation, test = folded(ids[n - 2 * held_out : n - held_out]), folded(ids[n - held_out :])
    return (tuple_set(train), validation, test) if validation[1] and test[1] else None


def check_strong(data, made, published):
    train, *held_out = published
    everything = pairs(data)
    assert pairs(made.train) == {pair: everything[pair] for pair in train}
    assert made.train.users.ids.tolist() == sorted({u for u, _ in train})
    assert made.train.items.ids.tolist() == sorted({i for _, i in train})
    for part, (known, asked) in zip((made.validation, made.test), held_out, strict=True):
        assert pairs(part.given) == {pair: everything[pair] for pair in known}
        assert pairs(part.wanted) == {pair: everything[pair] for pair in asked}
        assert part.given.users.ids.tolist() == sorted({u for u, _ in known | asked})
        assert part.given.users is part.wanted.users
        assert part.given.items is part.wanted.items is made.train.items
        assert part.unseen
        assert part.candidates is None


@given(
    st.integers(0, 10**6),
    st.sampled_from(sorted(KINDS)),
    st.integers(1, 8),
    st.sampled_from([0, 5, 8]),
    st.sampled_from([0, 12, 14]),
)
@properties
def test_strong_makes_the_published_split(seed, kind, held_out, min_user, min_item):
    data = generated(seed, kind)
    published = as_published(frame_of(data), held_out, min_user, min_item)
    make = partial(split.strong, data, held_out=held_out, min_user=min_user, min_item=min_item)
    if published is None:
        with pytest.raises(ValueError, match=r"held_out=\d+ needs|a (test|validation) user with"):
            make()
        return
    made = make()
    check_strong(data, made, published)
    assert made.protocol == "strong"
    assert made.metrics == ("capped_recall@20", "capped_recall@50", "ndcg@100")


@pytest.mark.parametrize(("users", "size"), [(3, 1), (9, 1), (19, 1), (20, 2), (101, 10), (1000, 100)])
def test_strong_holds_out_a_tenth_for_each_part(users, size):
    data = interactions([(u, i, 0) for u in range(users) for i in range(6)])
    made = split.strong(data)
    assert (made.test.wanted.n_users, made.validation.wanted.n_users) == (size, size)
    assert made.train.n_users == users - 2 * size
    check_strong(data, made, as_published(frame_of(data), size, 5, 0))
    assert f"HeldOut({size} held-out users, " in repr(made)


def test_strong_holds_out_no_more_than_published():
    """Where a tenth is more than the 10,000 users of MovieLens 20M."""
    users = np.repeat(np.arange(100_020), 5)
    data = Interactions.from_arrays(user=users, item=np.tile(np.arange(5), 100_020))
    made, published = split.strong(data), split.strong(data, held_out=10_000)
    for part in (made.test, made.validation):
        assert part.given.n_users == 10_000
    assert made.train.users == published.train.users
    for ours, theirs in ((made.test, published.test), (made.validation, published.validation)):
        assert ours.wanted.users == theirs.wanted.users
        assert np.array_equal(ours.wanted.by_user.columns, theirs.wanted.by_user.columns)


@pytest.mark.parametrize(("share", "seed"), [(0.2, 0), (0.5, 98765), (0.29, 3), (0.99, 1)])
def test_strong_takes_another_share_and_seed(share, seed):
    data = generated(5, n_users=100, n_items=101, mean=50)  # 0.29 * 100 is a little less than 29
    made = split.strong(data, held_out=20, test_share=share, seed=seed)
    check_strong(data, made, as_published(frame_of(data), 20, 5, 0, share, seed))


def test_strong_leaves_no_user_in_two_parts_and_counts_what_training_does_not_know():
    data = generated(11, n_users=12, n_items=200, mean=20)
    made = split.strong(data, held_out=3, min_user=1)
    parts = (made.train, made.test.given, made.validation.given)
    users = [u for part in parts for u in part.users]
    assert len(users) == len(set(users)) == 12
    everything = [made.train] + [
        x for part in (made.test, made.validation) for x in (part.given, part.wanted)
    ]
    assert made.left_out == len(data) - sum(map(len, everything)) > 0


def test_strong_filters_items_before_users_and_once():
    log = [(u, i, 0) for u in range(9) for i in range(6)]
    log += [(9, i, 0) for i in (0, 1, 2, 3, 6)]  # five items, but item 6 has two users
    log += [(10, i, 0) for i in (0, 1, 2, 3, 4, 6)]  # enough without it
    made = split.strong(interactions(log), held_out=2, min_user=5, min_item=3)
    users = {u for part in (made.train, made.test.given, made.validation.given) for u in part.users}
    assert users == {*range(9), 10}
    assert set(made.train.items) == set(range(6))


def test_nothing_is_predicted_for_unseen_users_with_fewer_than_five_pairs():
    log = [(u, i, 0) for u in range(20) for i in range(4 if u % 2 else 5)]
    made = split.strong(interactions(log), held_out=5, min_user=0)
    for part in (made.test, made.validation):
        for user, n in zip(part.wanted.users, part.wanted.by_user.counts.tolist(), strict=True):
            assert n == (0 if user % 2 else 1)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"held_out": 15}, ValueError, r"30 users are left.*min_user=1.*min_item=0.*held_out=15 needs 31 or"),
        (
            {"held_out": 1, "min_user": 99},
            ValueError,
            r"0 users are left.*min_user=99.*held_out=1 needs 3 or more",
        ),
        (
            {"held_out": 1, "min_item": 99},
            ValueError,
            r"0 users are left.*min_item=99.*held_out=1 needs 3 or more",
        ),
        ({"held_out": None, "min_user": 99}, ValueError, r"0 users are left.*held_out=1 needs 3 or more"),
        ({"held_out": 0}, ValueError, "held_out must be at least 1, got 0"),
        ({"held_out": 2.0}, TypeError, "held_out must be an integer"),
        ({"min_user": -1}, ValueError, "min_user must be at least 0"),
        ({"min_item": -1}, ValueError, "min_item must be at least 0"),
        ({"seed": -1}, ValueError, "seed must be at least 0"),
        ({"test_share": 0}, ValueError, "test_share must be between 0 and 1.*got 0"),
        ({"test_share": 1}, ValueError, "test_share must be between 0 and 1.*got 1"),
        ({"test_share": "half"}, TypeError, "test_share must be a number, got 'half'"),
        (
            {"test_share": 0.01},
            ValueError,
            r"a validation user with at least 5 pairs.*test_share=0\.01.*most.*\d",
        ),
    ],
)
def test_bad_settings_of_strong_are_errors(arguments, error, message):
    with pytest.raises(error, match=message):
        split.strong(generated(1), **{"held_out": 3, "min_user": 1, **arguments})


def test_unseen_users_who_share_no_item_with_training_are_an_error():
    log = [(u, 100 * u + i, 0) for u in range(9) for i in range(6)]
    with pytest.raises(ValueError, match=r"a validation user with at least 5 pairs.*a user are 0"):
        split.strong(interactions(log), held_out=2)


def check_within_users(data, made):
    """Every pair is in one place, or counted as left out; returns the pairs held out."""
    everything, train, wanted = pairs(data), pairs(made.train), pairs(made.test.wanted)
    users, items = {u for u, _ in train}, {i for _, i in train}
    held_out = everything.keys() - train.keys()
    assert train == {pair: everything[pair] for pair in train}
    assert wanted == {(u, i): everything[u, i] for u, i in held_out if u in users and i in items}
    assert made.left_out == len(held_out) - len(wanted)
    assert made.train.users.ids.tolist() == sorted(users)
    assert made.train.items.ids.tolist() == sorted(items)
    assert made.test.given is made.train
    assert made.test.wanted.users is made.train.users
    assert made.test.wanted.items is made.train.items
    assert made.validation is None
    assert not made.test.unseen
    return held_out


def split_or_reject(function, data, **options):
    try:
        return function(data, **options)
    except ValueError as error:
        if "there is nothing to predict" in str(error):
            reject()
        raise


def latest_of_each(data):
    """By a loop: the last item of the latest time of each user with several."""
    latest = {}
    for (user, item), (_, _, time) in pairs(data).items():
        latest.setdefault(user, []).append((time, item))
    return {(user, max(found)[1]) for user, found in latest.items() if len(found) > 1}


@given(logs, st.floats(0.05, 0.95), st.integers(0, 9))
@properties
def test_random_holds_out_exactly_the_share(log, share, seed):
    data = interactions(log)
    made = split_or_reject(split.random, data, test_share=share, seed=seed)
    assert len(check_within_users(data, made)) == round(share * len(data))
    assert (made.protocol, made.metrics) == ("random", ("recall@20", "ndcg@20"))


@given(logs, st.floats(0.05, 0.95), st.integers(0, 9))
@properties
def test_random_holds_out_the_share_of_each_user(log, share, seed):
    data = interactions(log)
    made = split_or_reject(split.random, data, test_share=share, per_user=True, seed=seed)
    held_out = Counter(user for user, _ in check_within_users(data, made))
    for user, count in Counter(user for user, _ in pairs(data)).items():
        assert held_out[user] == min(max(round(share * count), 1), count - 1)
    again = split.random(data, test_share=share, per_user=True, seed=seed)
    assert pairs(again.train) == pairs(made.train)


def test_each_pair_of_a_user_is_held_out_as_often_as_the_others():
    data = interactions([(user, item, 0) for user in "uvwxyz" for item in "abcd"])
    found = Counter(
        item
        for seed in range(400)
        for user, item in pairs(split.random(data, test_share=0.25, per_user=True, seed=seed).test.wanted)
        if user == "u"
    )
    assert sum(found.values()) > 390  # those that another user has in training
    assert all(50 < count < 150 for count in found.values())


@given(logs, st.floats(0.05, 0.95))
@properties
def test_last_share_holds_out_the_latest_of_each_user(log, share):
    data = interactions(log)
    made = split_or_reject(split.last_share, data, test_share=share)
    assert check_within_users(data, made) == latest_share_of_each(data, share)
    assert (made.protocol, made.metrics) == ("last-share", ("recall@20", "ndcg@20"))


def latest_share_of_each(data, share):
    """By a loop: the share of each user's pairs that come last by time, then by item."""
    found = {}
    for (user, item), (_, _, time) in pairs(data).items():
        found.setdefault(user, []).append((time, item))
    return {
        (user, item)
        for user, timed in found.items()
        for _, item in sorted(timed)[max(len(timed) - max(round(share * len(timed)), 1), 1) :]
    }


@given(logs)
@properties
def test_last_item_holds_out_the_latest_of_each_user(log):
    data = interactions(log)
    made = split_or_reject(split.last_item, data)
    assert check_within_users(data, made) == latest_of_each(data)
    assert (made.protocol, made.metrics) == ("last-item", ("hit_rate@10", "ndcg@10"))


@given(logs, st.floats(0.25, 3))
@properties
def test_last_days_holds_out_what_is_not_older(log, days):
    data = interactions(log)
    times = [time for _, _, time in log]
    if max(times) - min(times) <= days * DAY:
        reject()
    made = split_or_reject(split.last_days, data, days=days)
    expected = {pair for pair, values in pairs(data).items() if values[2] >= max(times) - days * DAY}
    assert check_within_users(data, made) == expected
    assert (made.protocol, made.metrics) == ("last-days", ("recall@20", "ndcg@20"))


def test_the_boundary_of_the_last_days_is_held_out():
    log = [
        ("u", "a", 0),
        ("u", "b", 3 * DAY - 0.001),
        ("u", "c", 3 * DAY),
        ("v", "c", 0),
        ("u", "d", 5 * DAY),
    ]
    made = split.last_days(interactions(log), 2)
    assert set(pairs(made.train)) == {("u", "a"), ("u", "b"), ("v", "c")}
    assert set(pairs(made.test.wanted)) == {("u", "c")}
    assert made.left_out == 1  # nobody had d before


@given(logs, st.sampled_from(["latest", "random"]), st.integers(1, 8), st.integers(0, 9))
@properties
def test_leave_one_out_ranks_one_item_with_unseen_ones(log, pick, negatives, seed):
    data = interactions(log)
    made = split_or_reject(split.leave_one_out, data, pick=pick, negatives=negatives, seed=seed)
    held_out = check_within_users(data, made)
    several = {user for user in data.users if len(data.by_user.columns_of(data.users.rows([user])[0])) > 1}
    assert sorted(user for user, _ in held_out) == sorted(several)
    if pick == "latest":
        assert held_out == latest_of_each(data)
    everything, wanted = pairs(data), dict(pairs(made.test.wanted).keys())
    for user, candidates in listed(made.test.candidates, made.train).items():
        unseen = {item for item in made.train.items if (user, item) not in everything}
        drawn = set(candidates) - {wanted.get(user)}
        assert candidates == sorted(set(candidates))
        assert drawn <= unseen
        assert len(drawn) == (min(negatives, len(unseen)) if user in wanted else 0)
        assert user not in wanted or wanted[user] in candidates
    assert (made.protocol, made.metrics) == ("leave-one-out", ("hit_rate@10", "ndcg@10"))


def test_every_unseen_item_and_every_pair_is_drawn_alike():
    log = [(u, i, 0) for u in range(3000) for i in (0, 3)] + [
        (u, i, 0) for u in (3000, 3001) for i in range(7)
    ]
    made = split.leave_one_out(interactions(log), pick="random", negatives=2)
    shown = np.bincount(made.test.candidates.columns, minlength=7)
    assert shown[[1, 2, 4, 5, 6]] == pytest.approx(3000 * 2 / 5, abs=130)  # five standard deviations
    assert made.test.wanted.by_item.counts[[0, 3]] == pytest.approx(1500, abs=140)


@pytest.mark.parametrize("name", WITHIN_USERS)
@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_sorted_by_id_whatever_the_rows_of_the_data(name, kind):
    data = generated(3, kind)
    check_within_users(data, WITHIN_USERS[name](data))


@pytest.mark.parametrize(
    "function", [partial(split.strong, held_out=5), split.random, WITHIN_USERS["leave_one_out_random"]]
)
def test_a_seed_gives_the_same_split_and_another_does_not(function):
    data = generated(7)
    a, b, c = (function(data, seed=seed) for seed in (3, 3, 4))
    assert same(a.train, b.train)
    assert same(a.test.wanted, b.test.wanted)
    assert not same(a.test.wanted, c.test.wanted)
    if a.test.candidates is not None:
        assert listed(a.test.candidates, a.train) == listed(b.test.candidates, b.train)
        assert listed(a.test.candidates, a.train) != listed(c.test.candidates, c.train)


def test_data_without_labels_weights_and_times_stays_so():
    data = Interactions.from_arrays(user=[1, 1, 2, 2, 2], item=[1, 2, 1, 2, 3])
    made = split.random(data, test_share=0.4, seed=1)
    for part in (made.train, made.test.wanted):
        assert part.by_user.labels is part.by_user.weights is part.times is None


def test_of_equal_times_the_last_item_is_held_out():
    log = [(u, i, 5) for u in (1, 2) for i in "abc"] + [(3, "c", 5)]
    for made in (split.last_item(interactions(log)), split.leave_one_out(interactions(log))):
        assert set(pairs(made.test.wanted)) == {(1, "c"), (2, "c")}
        assert set(pairs(made.train)) == {(u, i) for u, i, _ in log} - {(1, "c"), (2, "c")}


def test_of_equal_times_the_last_items_are_held_out():
    log = [(u, i, 5) for u in (1, 2) for i in "abcde"] + [(3, "e", 5), (3, "d", 6), (3, "c", 4), (4, "d", 1)]
    made = split.last_share(interactions(log), test_share=0.4)
    assert set(pairs(made.test.wanted)) == {(1, "d"), (1, "e"), (2, "d"), (2, "e"), (3, "d")}


def test_the_last_item_row_of_equal_times_is_that_of_the_data():
    data = interactions([(1, "a", 5), (1, "b", 5), (2, "a", 5)], items=["b", "a"])
    assert set(pairs(split.last_item(data).test.wanted)) == {(1, "a")}


def test_users_with_one_item_are_trained_on_and_those_without_are_dropped():
    data = interactions([(1, "a", 1), (2, "a", 1), (2, "b", 2), (3, "b", 0)], users=[0, 3, 2, 1, 9])
    made = split.leave_one_out(data)
    assert made.train.users.ids.tolist() == [1, 2, 3]
    assert listed(made.test.candidates, made.train) == {1: [], 2: ["b"], 3: []}


@pytest.mark.parametrize("name", WITHIN_USERS)
@pytest.mark.parametrize("log", [[], [("u", "a", 0)], [("u", "a", 0), ("u", "b", 9 * DAY)]])
def test_too_little_data_is_an_error(name, log):
    with pytest.raises(ValueError, match=r"there is nothing to predict|days must be more than 0 and less"):
        WITHIN_USERS[name](interactions(log))


def test_an_error_says_how_many_pairs_were_held_out():
    with pytest.raises(ValueError, match=r"1 of 3 pairs are held out, but none.*user.*item"):
        split.last_item(interactions([("u", "a", 0), ("u", "b", 1), ("v", "a", 0)]))
    with pytest.raises(ValueError, match=r"none of 3 pairs is held out \(random\)"):
        split.random(interactions([("u", "a", 0), ("u", "b", 1), ("v", "a", 0)]), test_share=1e-9)
    with pytest.raises(ValueError, match=r"3 of 3 pairs are held out"):
        split.random(interactions([("u", "a", 0), ("u", "b", 1), ("v", "a", 0)]), test_share=1 - 1e-9)


@pytest.mark.parametrize("name", IN_TIME)
def test_a_split_by_time_of_data_without_times_is_an_error_that_says_how_to_give_them(name):
    data = Interactions.from_arrays(user=[1, 1, 2], item=[1, 2, 2])
    with pytest.raises(ValueError, match=r"has none; give `time` to Interactions\.read"):
        IN_TIME[name](data)


@pytest.mark.parametrize(
    ("function", "arguments", "error", "message"),
    [
        (split.last_days, {"days": 0}, ValueError, "days must be more than 0.*got 0"),
        (split.last_days, {"days": -1}, ValueError, "days must be.*-1"),
        (split.last_days, {"days": 30}, ValueError, r"less than the 9\.\d+ the data spans, got 30"),
        (split.last_days, {"days": "2"}, TypeError, "days must be a number, got '2'"),
        (split.random, {"test_share": 0.0}, ValueError, "test_share must be between 0 and 1.*0.0"),
        (split.random, {"test_share": 1.5}, ValueError, "test_share must be between 0 and 1.*1.5"),
        (split.random, {"test_share": -0.1}, ValueError, "test_share must be.*-0.1"),
        (split.random, {"seed": 1.5}, TypeError, "seed must be an integer, got 1.5"),
        (split.leave_one_out, {"negatives": 0}, ValueError, "negatives must be at least 1, got 0"),
        (split.leave_one_out, {"pick": "first"}, ValueError, "pick must be.*latest.*random.*'first'"),
        (split.leave_one_out, {"seed": -2}, ValueError, "seed must be at least 0, got -2"),
    ],
)
def test_bad_settings_are_errors(function, arguments, error, message):
    with pytest.raises(error, match=message):
        function(generated(1), **arguments)


TRAIN = interactions([("u", 1, 0), ("u", 2, 0), ("v", 3, 0)])


def test_data_that_is_split_already_is_put_in_the_rows_of_train():
    test = interactions([("v", 2, 5), ("u", 3, 6)], users=["v", "stranger", "u"], items=[3, 2, 77])
    made = split.given(TRAIN, test)
    assert made.train is made.test.given is TRAIN
    assert pairs(made.test.wanted) == pairs(test)
    assert made.test.wanted.users is TRAIN.users
    assert made.test.wanted.items is TRAIN.items
    assert (made.protocol, made.metrics) == ("weak", ("recall@20", "ndcg@20"))
    assert (made.validation, made.left_out, made.test.unseen) == (None, 0, False)


def test_ids_that_train_lists_explicitly_may_be_asked_for():
    train = Interactions.from_arrays(user=[1], item=[1], users=[2, 1], items=[1, 5])
    made = split.given(train, Interactions.from_arrays(user=[2, 1], item=[5, 5]))
    assert set(pairs(made.test.wanted)) == {(2, 5), (1, 5)}


@pytest.mark.parametrize(
    ("log", "error", "message"),
    [
        ([("u", 3, 0), ("w", 3, 0)], UnknownIdError, "train must have every user of test; unknown user: 'w'"),
        ([("u", 3, 0), ("u", 4, 0)], UnknownIdError, "train must have every item of test; unknown item: 4"),
        ([(7, 3, 0)], UnknownIdError, "unknown user: 7.*integers.*strings"),
        ([("u", 3, 0), ("u", 2, 0)], ValueError, "user 'u' with item 2 is both given and wanted"),
        ([], ValueError, "at least one pair must be wanted"),
    ],
)
def test_tests_that_train_does_not_allow_are_errors(log, error, message):
    with pytest.raises(error, match=message):
        split.given(TRAIN, interactions(log))


def test_pairs_that_train_does_not_know_are_skipped_and_counted():
    log = [("u", 3, 0), ("w", 3, 0), ("u", 4, 0), ("x", 9, 0)]
    made = split.given(TRAIN, interactions(log), unknown="skip")
    assert made.left_out == 3
    assert made.test.wanted.to_frame().select("user", "item").rows() == [("u", 3)]
    assert made.train is TRAIN
    with pytest.raises(UnknownIdError, match='unknown="skip" leaves such pairs out'):
        split.given(TRAIN, interactions(log))
    with pytest.raises(ValueError, match='unknown must be "error" or "skip", got None'):
        split.given(TRAIN, interactions(log), unknown=None)
    with pytest.raises(ValueError, match="at least one pair must be wanted"):
        split.given(TRAIN, interactions([("x", 9, 0)]), unknown="skip")


@pytest.mark.parametrize("name", ["strong", "last_item", "last_share", "random", "leave_one_out"])
def test_a_data_frame_is_not_split(name):
    with pytest.raises(TypeError, match=r"data must be Interactions, got DataFrame; call .*from_dataframe"):
        getattr(split, name)(TRAIN.to_frame())
    with pytest.raises(TypeError, match="data must be Interactions"):
        split.last_days(TRAIN.to_frame(), 1)
    with pytest.raises(TypeError, match="test must be Interactions"):
        split.given(TRAIN, TRAIN.to_frame())


def candidates_of(*rows, n_items=3):
    offsets = np.cumsum([0, *map(len, rows)])
    return Csr(offsets, np.array([i for row in rows for i in row], dtype=np.int32), n_items)


def test_published_candidates_are_kept():
    candidates = candidates_of([2], [0, 1])
    made = split.given_leave_one_out(TRAIN, interactions([("v", 1, 0)]), candidates)
    assert made.test.candidates is candidates
    assert made.train is made.test.given is TRAIN
    assert set(pairs(made.test.wanted)) == {("v", 1)}
    assert (made.protocol, made.metrics) == ("leave-one-out", ("hit_rate@10", "ndcg@10"))


@pytest.mark.parametrize(
    ("log", "candidates", "message"),
    [
        ([("v", 1, 0)], candidates_of([2]), "candidates must have the 2 users and 3 items.*got 1 and 3"),
        ([("v", 1, 0)], candidates_of([2], [0], n_items=4), "2 users and 3 items of the data, got 2 and 4"),
        ([("v", 1, 0), ("v", 2, 0)], candidates_of([], [0, 1]), "one item per user, but user 'v' has more"),
        ([("v", 1, 0)], candidates_of([2], [1]), "user 'v' with item 1 is wanted, but not among the cand"),
        (
            [("v", 1, 0)],
            candidates_of([0, 2], [0]),
            "user 'u' with item 1 is a candidate, but was trained on",
        ),
        ([("v", 1, 0)], candidates_of([], [1, 0]), "ascending order, each once"),
        ([("v", 1, 0)], candidates_of([2, 2], [0]), "ascending order, each once"),
        ([("v", 3, 0)], candidates_of([], [2]), "user 'v' with item 3 is both given and wanted"),
    ],
)
def test_bad_candidates_are_errors(log, candidates, message):
    with pytest.raises(ValueError, match=message):
        split.given_leave_one_out(TRAIN, interactions(log), candidates)


@pytest.mark.parametrize(
    ("extra", "message"),
    [({"users": ["v", "u"]}, "same users, got.*'u', 'v'.*'v', 'u'"), ({"items": [1, 2, 3, 4]}, "same items")],
)
def test_held_out_parts_must_have_the_same_rows(extra, message):
    same_rows = {"users": TRAIN.users, "items": TRAIN.items}
    with pytest.raises(ValueError, match=message):
        HeldOut(TRAIN, interactions([("u", 3, 0)], **{**same_rows, **extra}), unseen=False)


def test_a_split_prints_its_sizes():
    made = split.given(TRAIN, interactions([("v", 1, 0), ("v", 2, 0)]))
    assert repr(made) == (
        "Split('weak', train=Interactions(2 users x 3 items, 3 pairs, with labels, weights, times), "
        "test=HeldOut(1 users, 2 test pairs), validation=None, left_out=0)"
    )
    assert "HeldOut(5 held-out users, " in repr(split.strong(generated(7), held_out=5, min_user=10))


def test_a_strong_split_refuses_a_seed_that_its_generator_does_not_have():
    data = Interactions.from_arrays(user=[1, 2], item=[1, 2])
    with pytest.raises(
        ValueError, match="the seed of a strong split must be at most 4294967295, got 4294967296"
    ):
        split.strong(data, seed=2**32)
