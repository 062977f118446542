"""What a fitted model answers: folding in, recommending, similar items."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.models import (
    DIM,
    ITEMS,
    N_ITEMS,
    N_USERS,
    fitted,
    make_data,
    properties,
    seen,
)

from ialspp import (
    ImplicitMF,
    Interactions,
    Objective,
    Ranking,
    SolveError,
    UnknownIdError,
)

KNOWN = ITEMS[:-2]  # nobody has the others


def check_ranking(ranking, scores, allowed, k):
    """A ranking is right if it holds the best of `scores` (one per id of ITEMS) among the allowed."""
    assert isinstance(ranking, Ranking)
    assert isinstance(ranking, list)
    assert len(ranking) == len(ranking.scores) == min(k, len(allowed))
    assert len(set(ranking)) == len(ranking)
    assert set(ranking) <= allowed
    assert (np.diff(ranking.scores) <= 0).all()
    of = dict(zip(ITEMS, scores, strict=True))
    assert ranking.scores == pytest.approx([of[i] for i in ranking], rel=1e-4, abs=1e-5)
    left = [of[i] for i in allowed - set(ranking)]
    if left and ranking:
        assert max(left) <= ranking.scores[-1] + 1e-5


def scores_by_hand(model, vector):
    """The score of every item; for a vector of zeros, its number of users."""
    counts = model.trained_on.by_item.counts
    return model.item_factors.astype(float) @ vector if vector.any() else counts.astype(float)


# Folding in


def solve(model, history, weights, labels):
    """The normal equations of one user, in double precision."""
    H, o = model.item_factors.astype(float), model.objective
    h = H[model.items.rows(history)]
    lam = o.regularization * (len(history) + o.unobserved_weight * len(H)) ** o.exponent
    A = (h.T * weights) @ h + o.unobserved_weight * H.T @ H + lam * np.eye(H.shape[1])
    return np.linalg.solve(A, (h.T * weights) @ np.array(labels))


history_of = st.lists(
    st.tuples(st.sampled_from(ITEMS), st.floats(0, 5, width=32), st.floats(-2, 4, width=32)),
    max_size=N_ITEMS,
    unique_by=lambda entry: entry[0],
)


@cache
def folding_model(exponent):
    return fitted(objective=Objective(unobserved_weight=0.3, regularization=0.02, exponent=exponent))


@given(st.lists(history_of, max_size=4), st.sampled_from([0, 0.5, 1]))
@properties
def test_fold_in_solves_the_normal_equations(users, exponent):
    model = folding_model(exponent)
    history, weights, labels = ([[entry[k] for entry in user] for user in users] for k in range(3))
    vectors = model.fold_in(history, weights=weights, labels=labels)
    assert vectors.shape == (len(users), DIM)
    assert vectors.dtype == np.float32
    for vector, *user in zip(vectors, history, weights, labels, strict=True):
        assert vector == pytest.approx(solve(model, *user), rel=1e-3, abs=1e-4)


def test_fold_in_counts_repeated_items_as_the_data_does():
    model = fitted()
    once, twice = ITEMS[:2], ITEMS[:2] * 2
    assert np.array_equal(model.fold_in([once]), model.fold_in([twice]))
    assert np.array_equal(
        model.fold_in([once], weights=[[1.5, 2.5]]), model.fold_in([twice], weights=[[0.5, 2, 1, 0.5]])
    )
    with pytest.raises(ValueError, match=r"(?i)label.*'item-0'.*1.*2"):
        model.fold_in([["item-0", "item-0"]], labels=[[1, 2]])


def test_fold_in_of_an_empty_history_is_zero():
    model = fitted()
    assert model.fold_in([]).shape == (0, DIM)
    vectors = model.fold_in([[], ["item-1"], []])
    assert (vectors[[0, 2]] == 0).all()
    assert (vectors[1] != 0).any()


def test_fold_in_is_repeatable_alone_in_a_batch_and_from_many_threads():
    model = fitted()
    rng = np.random.default_rng(0)
    histories = [[str(i) for i in rng.choice(ITEMS, n, replace=False)] for n in (0, 1, 3, 8, 20, 30) * 5]
    batch = model.fold_in(histories)
    with ThreadPoolExecutor(8) as pool:
        alone = list(pool.map(lambda h: model.fold_in([h])[0], histories))
        batches = list(pool.map(model.fold_in, [histories] * 16))
    assert np.array_equal(np.array(alone), batch)
    assert all(np.array_equal(b, batch) for b in batches)


@pytest.mark.parametrize(
    ("history", "numbers", "error", "message"),
    [
        ([["item-1", "nothing"]], {}, UnknownIdError, "item.*'nothing'"),
        ([[1]], {}, UnknownIdError, "item.*1.*integers.*strings"),
        ([[None]], {}, TypeError, "item.*missing"),
        (["item-1"], {}, TypeError, "histories"),
        ("item-1", {}, TypeError, "histories"),
        (None, {}, TypeError, "histories"),
        ([["item-1"]], {"weights": [[1, 2]]}, ValueError, "weights"),
        ([["item-1"]], {"labels": []}, ValueError, "labels"),
        ([["item-1"]], {"weights": [[-1]]}, ValueError, "weight.*>= 0.*-1"),
        ([["item-1"]], {"weights": [[np.nan]]}, ValueError, "weight.*finite.*nan"),
        ([["item-1"]], {"labels": [[1e39]]}, ValueError, r"label.*finite.*1e\+39"),
        ([["item-1"]], {"labels": [["x"]]}, TypeError, "label.*number"),
    ],
)
def test_bad_histories_are_errors(history, numbers, error, message):
    with pytest.raises(error, match=message):
        fitted().fold_in(history, **numbers)


def test_fold_in_that_overflows_is_an_error_naming_the_history():
    with pytest.raises(SolveError, match=r"history.*\b1\b"):
        fitted().fold_in([["item-1"], ["item-2"]], weights=[[1], [3e38]], labels=[[1], [3e38]])


def test_fold_in_without_regularization_stays_finite():
    model = fitted(objective=Objective(unobserved_weight=0, regularization=0))
    assert np.isfinite(model.fold_in([[], ["item-1"], ["item-1", "item-2"], [ITEMS[-1]], ITEMS])).all()


# Ranking


@pytest.mark.parametrize("exclude_seen", [True, False])
@pytest.mark.parametrize("k", [0, 1, 7, N_ITEMS, 10**6])
def test_recommend_gives_the_best_items(k, exclude_seen):
    data = make_data()
    model = fitted(data)
    users = list(range(N_USERS))[::-1]
    rankings = model.recommend(users, k, exclude_seen=exclude_seen)
    assert len(rankings) == N_USERS
    for user, ranking in zip(users, rankings, strict=True):
        allowed = set(ITEMS) - (seen(data, user) if exclude_seen else set())
        assert ranking.fallback == (not seen(data, user))
        check_ranking(ranking, scores_by_hand(model, model.user_factors[user]), allowed, k)


@pytest.mark.parametrize("exclude_seen", [True, False])
def test_recommend_for_gives_the_best_items_of_the_folded_in_user(exclude_seen):
    model = fitted()
    histories = [ITEMS[:3], [], ITEMS[5:6], ITEMS]
    rankings = model.recommend_for(histories, 6, exclude_seen=exclude_seen)
    assert len(rankings) == len(histories)
    for history, vector, ranking in zip(histories, model.fold_in(histories), rankings, strict=True):
        allowed = set(ITEMS) - (set(history) if exclude_seen else set())
        assert ranking.fallback == (not history)
        check_ranking(ranking, scores_by_hand(model, vector), allowed, 6)


@pytest.mark.parametrize("scale", [1, 1e-25, 1e5])
def test_similar_items_are_those_of_the_highest_cosine(scale):
    model = fitted(epochs=0, init="random", init_stddev=scale)
    H = model.item_factors.astype(float)
    H[: len(KNOWN)] /= np.linalg.norm(H[: len(KNOWN)], axis=1, keepdims=True)
    asked = ["item-3", "item-20"]
    for item, ranking in zip(asked, model.similar_items(asked, 5), strict=True):
        check_ranking(ranking, H @ H[ITEMS.index(item)], set(KNOWN) - {item}, 5)


def test_an_item_is_never_similar_to_itself():
    model = fitted()
    for item, ranking in zip(KNOWN, model.similar_items(KNOWN, 100), strict=True):
        assert sorted([*ranking, item]) == sorted(KNOWN)
        assert np.isfinite(ranking.scores).all()
        assert (np.abs(ranking.scores) <= 1 + 1e-5).all()


def test_one_id_gives_one_ranking_and_a_sequence_gives_a_list():
    model = fitted()
    for ask, one in (model.recommend, 3), (model.similar_items, "item-3"):
        alone, several = ask(one, 4), ask([one, one], 4)
        assert isinstance(alone, Ranking)
        assert several == [alone, alone]
        assert several[0].scores == pytest.approx(alone.scores, rel=1e-5)
        assert ask((one,), 4) == ask(np.array([one]), 4) == [alone]
        assert ask(np.array([one])[0], 4) == alone
        assert ask([], 4) == []


@pytest.mark.parametrize(
    ("user", "item"),
    [
        ([2**70, 1, 2**70, 3], [2**64 - 1, 5, 5, 7]),
        (np.array([2**64 - 1, 1, 1, 0], np.uint64), ["", "a\0", "a", "\ud800"]),
        (["", "😀", "", "\ud800"], np.array([1, 2, 3, 1], np.int8)),
    ],
)
def test_ids_go_in_and_ids_come_out(user, item):
    data = Interactions.from_arrays(user=user, item=item)
    model = fitted(data, dim=2)
    everything = data.items.ids.tolist()
    for u, ranking in zip(user, model.recommend(user, 9), strict=True):
        assert sorted(ranking) == sorted(set(everything) - seen(data, u))
        assert all(type(i) in (int, str) for i in ranking)
    for i in item:
        assert sorted([*model.similar_items(i, 9), i]) == everything
        assert sorted([*model.recommend_for([[i]], 9)[0], i]) == everything


@pytest.mark.parametrize(("n", "dim"), [(3, 2), (50, 16), (333, 33)])
def test_ties_go_by_row_order(n, dim):
    alike = [f"i{k}" for k in np.random.default_rng(0).permutation(n)]
    fans, others = [f"fan{k}" for k in range(6)], [f"other{k}" for k in range(10)]
    user, item = [f for f in fans for _ in alike] + others + fans[:3], alike * 6 + ["x"] * 13
    model = fitted(Interactions.from_arrays(user=user, item=item, items=[*alike, "x"]), dim=dim)
    assert len(np.unique(model.item_factors[:n], axis=0)) == 1
    assert model.recommend("other0", n) == alike
    assert model.recommend("other0", 2) == alike[:2]
    assert model.recommend(others, n) == [alike] * 10
    assert model.recommend_for([["x"]] * 10, n) == [alike] * 10
    assert model.similar_items("x", n) == alike


def test_a_user_without_interactions_gets_popular_items_and_equal_ones_in_row_order():
    items = [f"i{n}" for n in np.random.default_rng(0).permutation(500)]
    model = fitted(make_data(items=items))
    unknown_taste = N_USERS - 1
    assert (model.user_factors[unknown_taste] == 0).all()
    counts = model.trained_on.by_item.counts
    assert len(np.unique(counts)) < 10
    popular = [items[row] for row in np.argsort(-counts, kind="stable")]
    assert model.recommend(unknown_taste, 500) == popular
    assert model.recommend_for([[], items[:2]], 20)[0] == popular[:20]


def test_who_has_seen_everything_gets_nothing():
    data = Interactions.from_arrays(user=["all", "all", "one"], item=[1, 2, 1])
    model = fitted(data, dim=2)
    assert model.recommend(["all", "one"], 5) == [[], [2]]
    assert model.recommend("all", 5).scores == []


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda m: m.recommend(999), UnknownIdError, "user.*999"),
        (lambda m: m.recommend([1, 999]), UnknownIdError, "user.*999"),
        (lambda m: m.recommend("1"), UnknownIdError, "user.*'1'.*strings.*integers"),
        (lambda m: m.recommend_for([["nothing"]]), UnknownIdError, "item.*'nothing'"),
        (lambda m: m.similar_items("nothing"), UnknownIdError, "item.*'nothing'"),
        (lambda m: m.similar_items(1), UnknownIdError, "item.*1.*integers.*strings"),
        (lambda m: m.recommend([None]), TypeError, "user.*(missing|None)"),
        (lambda m: m.recommend(1.0), TypeError, "user.*float"),
        (lambda m: m.recommend(True), TypeError, "user.*bool"),
        (lambda m: m.similar_items([None]), TypeError, "item.*missing"),
        (lambda m: m.recommend(1, -1), ValueError, "k must.*-1"),
        (lambda m: m.recommend(1, 2.5), TypeError, "k must.*2.5"),
        (lambda m: m.recommend_for([["item-1"]], "3"), TypeError, "k must.*'3'"),
        (lambda m: m.similar_items("item-1", None), TypeError, "k must.*None"),
    ],
)
def test_bad_questions_are_errors(ask, error, message):
    with pytest.raises(error, match=message):
        ask(fitted(epochs=1))


def test_histories_may_come_from_a_generator():
    data = Interactions.from_arrays(user=[1, 1, 2], item=[1, 2, 2])
    model = fitted(data)
    assert model.fold_in(iter(h) for h in ([1], [2, 1])).shape == (2, model.dim)
    assert len(model.recommend_for(map(iter, [[1], [2]]), k=1)) == 2


def test_recommendations_for_a_history_follow_its_weights():
    data = Interactions.from_arrays(user=[1, 1, 2, 2, 3, 3], item=[1, 2, 3, 4, 1, 2])
    model = fitted(data, epochs=8)
    heavy = [model.recommend_for([[1, 3]], k=1, weights=[w])[0][0] for w in ([9, 0.01], [0.01, 9])]
    assert heavy == [2, 4]


def test_ids_of_the_other_axis_are_said_to_be():
    data = Interactions.from_arrays(user=["ann", "bob", "ann"], item=["tea", "tea", "milk"])
    model = ImplicitMF(2, epochs=1).fit(data, progress=False)
    with pytest.raises(
        UnknownIdError, match=r"unknown user: 'tea' \(is the id of an item: are users and items"
    ):
        model.recommend("tea")
    with pytest.raises(UnknownIdError, match=r"unknown item: 'ann', 'bob' \(are ids of users: are users and"):
        model.similar_items(["ann", "bob"])
    with pytest.raises(UnknownIdError, match=r"'bob' \(is the id of a user"):
        model.recommend_for([["tea", "bob"]])
    with pytest.raises(UnknownIdError, match=r"unknown user: 'cyd'$"):
        model.recommend("cyd")
