"""Updates and exact vectors, against the documented steps in dictionaries and double precision."""

import copy
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.models import (
    DIM,
    ITEMS,
    N_ITEMS,
    N_USERS,
    NUMBERS,
    factors,
    fitted,
    make_data,
    make_model,
    properties,
    same_bits,
    seen,
)
from support.processes import PATIENCE

from ialspp import IALS, Interactions, NotFittedError, Objective, SolveError, Update

OBJECTIVE = Objective(unobserved_weight=0.3, regularization=0.5, exponent=0.7)
OLD_USERS, OLD_ITEMS = [7, 3, 0, 5, 6, 1], ["i3", "i1", "i20", "i0", "i4"]  # rows in no order of ids
ALL_USERS, ALL_ITEMS = [*range(-3, 12)], [f"i{n}" for n in (0, 1, 2, 3, 4, 5, 10, 11, 20, 100)]


class Data:
    """Interactions as {(user, item): (label, weight)}; numbers: which of the two there are."""

    def __init__(self, pairs, numbers=()):
        self.numbers = set(numbers)
        self.pairs = {
            pair: (label if "label" in numbers else 1.0, weight if "weight" in numbers else 1.0)
            for pair, (label, weight) in dict(pairs).items()
        }

    def interactions(self, users=None, items=None):
        labels, weights = ([numbers[n] for numbers in self.pairs.values()] for n in (0, 1))
        return Interactions.from_arrays(
            user=[user for user, _ in self.pairs],
            item=[item for _, item in self.pairs],
            users=users,
            items=items,
            label=labels if "label" in self.numbers else None,
            weight=weights if "weight" in self.numbers else None,
        )

    def add(self, new):
        """A pair counts once, or its weights add up where there are weights; the new label holds."""
        self.numbers |= new.numbers
        for pair, (label, weight) in new.pairs.items():
            before = self.pairs[pair][1] if pair in self.pairs and "weight" in self.numbers else 0
            self.pairs[pair] = (label, before + weight)


class Reference:
    """What a model should be: vectors by id, in double precision, solved one at a time."""

    def __init__(self, model, data):
        self.objective, self.data = model.objective, data
        self.vectors = [
            dict(zip(ids, side.astype(float), strict=True))
            for ids, side in ((model.users, model.user_factors), (model.items, model.item_factors))
        ]

    def update(self, new, epochs):
        touched = [{pair[axis] for pair in new.pairs} for axis in (0, 1)]
        self.data.add(new)
        for vectors, ids in zip(self.vectors, touched, strict=True):
            vectors.update((one, np.zeros(DIM)) for one in sorted(ids - set(vectors)))
        for axis in [0, 1] * epochs + [0]:
            for one in touched[axis]:
                self.vectors[axis][one] = self.solution(axis, one)

    def solution(self, axis, one):
        others, o = self.vectors[1 - axis], self.objective
        past = [(pair[1 - axis], *numbers) for pair, numbers in self.data.pairs.items() if pair[axis] == one]
        lam = o.regularization * (len(past) + o.unobserved_weight * len(others)) ** o.exponent
        A, b = lam * np.eye(DIM), np.zeros(DIM)
        for h in others.values():
            A += o.unobserved_weight * np.outer(h, h)
        for other, label, weight in past:
            A += weight * np.outer(others[other], others[other])
            b += weight * label * others[other]
        return np.linalg.solve(A, b)


def model_of(data, **settings):
    """Not trained: from factors of rank one, solving over and over would enlarge what is only rounding."""
    settings = {"objective": OBJECTIVE, "epochs": 0, "init": "random", "init_stddev": 1, **settings}
    return fitted(data.interactions(OLD_USERS, OLD_ITEMS), **settings)


def pairs_of(interactions):
    """{(user, item): (label, weight)}"""
    rows = interactions.by_user
    user = np.repeat(np.arange(interactions.n_users), rows.counts)
    ones = np.ones(len(rows.columns))
    labels, weights = (ones if numbers is None else numbers for numbers in (rows.labels, rows.weights))
    return {
        (interactions.users[u], interactions.items[i]): (label, weight)
        for u, i, label, weight in zip(user, rows.columns, labels.tolist(), weights.tolist(), strict=True)
    }


def bits_by_id(model):
    sides = (model.users, model.user_factors), (model.items, model.item_factors)
    return [{one: row.tobytes() for one, row in zip(ids, side, strict=True)} for ids, side in sides]


def check_update(model, reference, new, epochs):
    """Update both, and compare all that can be asked for."""
    before, known = bits_by_id(model), dict(reference.data.pairs)
    n_before = [len(vectors) for vectors in reference.vectors]
    update = model.update(new.interactions(), epochs=epochs)
    reference.update(new, epochs)

    touched = [{pair[axis] for pair in new.pairs} for axis in (0, 1)]
    n_new = [len(vectors) - n for vectors, n in zip(reference.vectors, n_before, strict=True)]
    assert isinstance(update, Update)
    assert (update.users, update.items, update.pairs) == (*map(len, touched), len(new.pairs))
    assert (update.new_users, update.new_items, update.new_pairs) == (*n_new, len(new.pairs.keys() - known))
    assert update.seconds >= 0

    assert [list(model.users), list(model.items)] == [list(vectors) for vectors in reference.vectors]
    assert [model.trained_on.users, model.trained_on.items] == [model.users, model.items]
    assert model.trained_on.weighted == ("weight" in reference.data.numbers)
    there = pairs_of(model.trained_on)
    assert there.keys() == reference.data.pairs.keys()
    for pair, numbers in there.items():
        assert numbers == pytest.approx(reference.data.pairs[pair], rel=1e-6)

    after = bits_by_id(model)
    for axis in 0, 1:
        for one in before[axis].keys() - touched[axis]:
            assert after[axis][one] == before[axis][one]
    for side, vectors in zip((model.user_factors, model.item_factors), reference.vectors, strict=True):
        assert np.allclose(side, list(vectors.values()), rtol=1e-3, atol=3e-4)
    check_fold_in(model, reference, sorted(touched[0]))


def check_fold_in(model, reference, users):
    """The vectors of users just updated are what their history alone gives."""
    pasts = [[(i, *reference.data.pairs[u, i]) for v, i in reference.data.pairs if v == u] for u in users]
    history, labels, weights = ([[entry[n] for entry in past] for past in pasts] for n in range(3))
    folded = model.fold_in(history, labels=labels, weights=weights)
    assert np.allclose(folded, model.user_factors[model.users.rows(users)], rtol=1e-5, atol=1e-6)


numbers_of_a_pair = st.tuples(st.floats(-1, 3, width=32), st.floats(0, 4, width=32))


def data_of(users, items, min_size=1):
    pairs = st.dictionaries(
        st.tuples(st.sampled_from(users), st.sampled_from(items)), numbers_of_a_pair, min_size=min_size
    )
    return st.builds(Data, pairs, st.sampled_from(NUMBERS))


updates = st.tuples(data_of(ALL_USERS, ALL_ITEMS, min_size=0), st.integers(1, 2))


@given(data_of(OLD_USERS, OLD_ITEMS), st.lists(updates, min_size=1, max_size=3))
@properties
def test_updates_do_the_documented_steps(old, updates):
    model = model_of(old)
    reference = Reference(model, old)
    for new, epochs in updates:
        check_update(model, reference, new, epochs)


OLD = {(u, i): (0.5 + n / 9, 2 + n / 7) for n, u in enumerate(OLD_USERS) for i in OLD_ITEMS[n % 3 :: 2]}
NEWS = {
    "old ids": {(7, "i1"): (2, 0.5), (3, "i0"): (1, 3)},
    "old pairs again": dict.fromkeys(list(OLD)[::2], (1.5, 0.5)),
    "new users": {(9, "i1"): (2, 0.5), (-2, "i0"): (1, 3), (-2, "i1"): (1, 1)},
    "new items": {(7, "i5"): (2, 0.5), (3, "i10"): (1, 3), (3, "i5"): (1, 1)},
    "new users and items": {(9, "i5"): (2, 0.5), (-2, "i10"): (1, 3)},
    "nothing": {},
}


@pytest.mark.parametrize("news", NEWS)
@pytest.mark.parametrize("old_numbers", NUMBERS)
@pytest.mark.parametrize("new_numbers", NUMBERS)
def test_updates_of_each_kind_with_and_without_labels_and_weights(news, old_numbers, new_numbers):
    old, new = Data(OLD, old_numbers), Data(NEWS[news], new_numbers)
    model = model_of(old)
    check_update(model, Reference(model, old), new, 1)


@pytest.mark.parametrize(("old", "new"), [(("weight",), ()), ((), ("weight",)), (("weight",), ("weight",))])
def test_weights_of_one_that_were_said_add_up_too(old, new):
    ones = dict.fromkeys(OLD, (1.0, 1.0))
    model = model_of(Data(ones, old))
    model.update(Data(list(ones.items())[:2], new).interactions())
    weights = [weight for _, weight in pairs_of(model.trained_on).values()]
    assert sorted(weights) == [1.0] * (len(OLD) - 2) + [2.0] * 2


def test_an_update_of_nothing_changes_nothing():
    model = fitted()
    before, data = copy.deepcopy(model), model.trained_on
    update = model.update(Interactions.from_arrays(user=[], item=[]))
    assert (update.users, update.items, update.pairs, update.new_users, update.new_items) == (0, 0, 0, 0, 0)
    assert same_bits(model, before)
    assert pairs_of(model.trained_on) == pairs_of(data)


def test_new_ids_without_interactions_get_rows_of_zeros():
    model, before = fitted(), fitted()
    model.update(Interactions.from_arrays(user=[], item=[], users=[70, 50], items=["new"]))
    assert list(model.users) == [*range(N_USERS), 50, 70]
    assert list(model.items) == [*ITEMS, "new"]
    for after, old in zip(factors(model), factors(before), strict=True):
        assert np.array_equal(after[: len(old)], old)
        assert (after[len(old) :] == 0).all()
    assert len(model.recommend(50, 99)) == N_ITEMS + 1


def test_updates_have_the_same_bits_on_any_threads(isa):
    news = [make_data(seed=seed, n=60, users=N_USERS + 9) for seed in (1, 2)]
    one, *others = (fitted(threads=threads) for threads in (1, 2, 3, 7))
    for new in news:
        one.update(new)
        for other in others:
            other.update(new)
            assert same_bits(one, other), isa


def test_what_was_handed_out_stays_and_training_goes_on():
    model = fitted()
    users, kept, history = model.user_factors, model.user_factors.copy(), list(model.history)
    answer = model.recommend(3, 5)
    frame = model.recommend([3], 5)
    model.update(Interactions.from_arrays(user=[3, 99], item=[answer[0], "new"]))
    assert np.array_equal(users, kept)
    assert frame == [answer]
    assert frame.to_frame()["item"].to_list() == answer
    assert model.history == history
    assert model.fitted_solver == IALS()
    with pytest.raises(ValueError, match="read-only"):
        model.user_factors[0, 0] = 1
    model.fit(model.trained_on, warm_start=True, progress=False)
    assert [record.epoch for record in model.history] == [1, 2, 3, 4, 5, 6]
    assert len(model.users) == N_USERS + 1


def test_recommendations_know_what_is_new():
    data = make_data()
    model = fitted(data)
    best = {user: model.recommend(user, 3) for user in (3, 4)}
    model.update(Interactions.from_arrays(user=[3] * 3 + [99], item=[*best[3], "new"]))
    assert set(model.recommend(3, 99)) == {*ITEMS, "new"} - seen(data, 3) - set(best[3])
    assert set(model.recommend(4, 99)) == {*ITEMS, "new"} - seen(data, 4)
    assert set(model.recommend(99, 99)) == set(ITEMS)
    assert model.recommend_for([["new"]], 2)[0] == model.recommend(99, 2)
    assert set(model.recommend(3, 99, candidates=["new", "item-0"], exclude_seen=False)) == {"new", "item-0"}
    assert model.similar_users(99, 99) == []  # zero until the next fit
    assert 99 not in model.similar_users(3, 99)
    assert [i for i, _ in model.explain(99, "item-1")] == ["new"]


# Refusals


def refused(model, error, message, *args, **options):
    """The update is an error that says so, and leaves everything as it was."""
    bits, data, users = factors(model), model.trained_on, model.users
    with pytest.raises(error) as caught:
        model.update(*args, **options)
    assert all(np.array_equal(a, b) for a, b in zip(factors(model), bits, strict=True))
    assert model.trained_on is data
    assert model.users == users
    assert len(model.recommend(3, 4)) == 4
    assert re.search(message, str(caught.value))


def one_pair(user, item, **numbers):
    return Interactions.from_arrays(user=[user], item=[item], **{k: [v] for k, v in numbers.items()})


@pytest.mark.parametrize(
    ("data", "options", "error", "message"),
    [
        (None, {}, TypeError, "Interactions.*None"),
        ([(3, "item-1")], {}, TypeError, "Interactions.*list"),
        (one_pair(3, "item-1"), {"epochs": 0}, ValueError, "epochs.*1.*0"),
        (one_pair(3, "item-1"), {"epochs": -1}, ValueError, "epochs.*-1"),
        (one_pair(3, "item-1"), {"epochs": 1.0}, TypeError, r"epochs.*1\.0"),
        (one_pair(3, "item-1"), {"epochs": True}, TypeError, "epochs.*True"),
        (one_pair("3", "item-1"), {}, TypeError, "users.*integers.*strings.*'3'"),
        (one_pair(3, 1), {}, TypeError, "items.*integers.*strings.*1"),
        (one_pair("item-1", 3), {}, TypeError, "integers.*strings"),
        (one_pair(3, "item-1", weight=1e38, label=1e38), {}, SolveError, r"user 3\b"),
        (one_pair(99, "new", weight=1e38, label=1e38), {}, SolveError, r"user 99\b"),
        (one_pair(3, "item-1", label=1e25), {}, SolveError, "item 'item-1'"),
    ],
)
def test_what_cannot_be_taken_in_is_an_error_and_changes_nothing(data, options, error, message):
    refused(fitted(), error, message, data, **options)


def test_weights_that_add_up_to_too_much_are_an_error_and_change_nothing():
    data = Interactions.from_arrays(
        user=[3, 3, 4], item=["a", "b", "a"], weight=[3e38, 1, 1], items=["a", *"bcdef"]
    )
    model = make_model(epochs=0).fit(data)
    refused(model, ValueError, r"weights.*3.*'a'", one_pair(3, "a", weight=1e38))


def test_a_model_that_is_not_fitted_is_not_updated():
    with pytest.raises(NotFittedError, match="fit"):
        make_model().update(make_data())


def test_an_update_does_not_wait_for_another_models_update():
    """The first model's update stands still, in its report of progress, until the second one's is done."""
    slow, quick = fitted(), fitted()
    started, release = threading.Event(), threading.Event()

    def wait(_event):
        started.set()
        assert release.wait(PATIENCE)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(slow.update, make_data(seed=1, n=20), progress=wait)
        assert started.wait(PATIENCE)
        second = pool.submit(quick.update, make_data(seed=1, n=20), progress=False)
        second.result(PATIENCE)
        assert not first.done()
        release.set()
        first.result(PATIENCE)
    assert same_bits(slow, quick)
