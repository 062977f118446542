"""Explanations and exact vectors of items, against the normal equations in double precision."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.models import (
    DIM,
    ITEMS,
    N_USERS,
    NUMBERS,
    each_solver,
    fitted,
    make_data,
    make_model,
    properties,
)
from support.reference import lambdas, rows_of

from ialspp import (
    IALS,
    Explanation,
    Interactions,
    NotFittedError,
    Objective,
    SolveError,
    SpectralCG,
    UnknownIdError,
)

OBJECTIVE = Objective(unobserved_weight=0.2, regularization=0.05, exponent=0.5)
STRANGER = N_USERS - 1  # without interactions, as is the last item


@cache
def model():
    return fitted(objective=OBJECTIVE)


def contributions(model, user, item):
    """{past item: a_j y_j <h_j, A^-1 h_i>}, with A of the user's normal equations."""
    data, H = model.trained_on, model.item_factors.astype(float)
    row = data.users.rows([user])[0]
    rows = rows_of(data.by_user)
    columns, y, a = rows[row]
    lam = lambdas(model.objective, rows, len(H))[row]
    A = (H[columns].T * a) @ H[columns] + model.objective.unobserved_weight * H.T @ H
    A += lam * np.eye(H.shape[1])
    parts = a * y * (H[columns] @ np.linalg.solve(A, H[data.items.rows([item])[0]]))
    return dict(zip(data.items.ids[columns].tolist(), parts.tolist(), strict=True))


def check(model, user, item):
    explanation = model.explain(user, item)
    right = contributions(model, user, item)
    assert isinstance(explanation, Explanation)
    assert isinstance(explanation, list)
    assert len(explanation) == len(right)
    assert dict(explanation) == pytest.approx(right, rel=1e-5, abs=1e-6)
    assert [number for _, number in explanation] == explanation.contributions
    rows = model.items.rows([i for i, _ in explanation])
    order = [(-number, row) for number, row in zip(explanation.contributions, rows, strict=True)]
    assert order == sorted(order)
    assert sum(explanation.contributions) + explanation.rest == pytest.approx(explanation.score, abs=1e-6)
    w, h = model.user_factors[model.users.rows([user])[0]], model.item_factors[model.items.rows([item])[0]]
    assert explanation.score == pytest.approx(w.astype(float) @ h.astype(float), rel=1e-6, abs=1e-7)
    return explanation


@each_solver
@pytest.mark.parametrize("numbers", NUMBERS)
def test_contributions_are_those_of_the_normal_equations(solver, numbers):
    model = fitted(make_data(numbers=numbers), solver=solver, objective=OBJECTIVE)
    for user in 0, 17, 30, STRANGER:
        vector = model.user_factors[model.users.rows([user])[0]].astype(float)
        for item in ITEMS[::5]:
            score = vector @ model.item_factors[model.items.rows([item])[0]]
            assert check(model, user, item).score == pytest.approx(score, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("exponent", [0, 1])
def test_contributions_follow_the_objective(exponent):
    objective = Objective(unobserved_weight=0.01, regularization=0.3, exponent=exponent)
    model = fitted(objective=objective)
    for user in range(0, N_USERS, 7):
        check(model, user, "item-3")


@pytest.mark.parametrize("solver", [IALS(), SpectralCG(tolerance=1e-5)])
def test_little_is_left_over_by_long_training(solver):
    short, long = (fitted(solver=solver, objective=OBJECTIVE, epochs=epochs) for epochs in (1, 300))
    rests = [
        max(abs(model.explain(user, item).rest) for user in range(0, N_USERS, 4) for item in ITEMS[::7])
        for model in (short, long)
    ]
    assert rests[1] < 1e-3 < rests[0]


@pytest.mark.parametrize("numbers", NUMBERS)
def test_nothing_is_left_over_for_users_just_updated(numbers):
    model = fitted(make_data(numbers=numbers), objective=OBJECTIVE, epochs=1)
    model.update(
        Interactions.from_arrays(user=[3, 3, 99, STRANGER], item=["item-1", "new", "item-2", "item-29"])
    )
    for user in 3, 99, STRANGER:
        for item in *ITEMS[::6], "new":
            assert check(model, user, item).rest == pytest.approx(0, abs=1e-5)
    assert max(abs(check(model, 4, item).rest) for item in ITEMS) > 1e-3


def test_a_past_item_explains_itself():
    explanation = check(model(), 3, dict(model().explain(3, "item-0")).popitem()[0])
    assert len(explanation) > 1


def test_without_a_past_there_is_nothing_to_explain():
    explanation = check(model(), STRANGER, "item-1")
    assert explanation == []
    assert explanation.contributions == []
    assert explanation.score == explanation.rest == 0


def test_an_item_of_nobody_is_explained_by_zeros():
    explanation = check(model(), 3, ITEMS[-1])
    assert explanation.score == explanation.rest == 0
    assert explanation.contributions == [0] * len(explanation)


def test_a_weight_of_zero_contributes_nothing():
    data = Interactions.from_arrays(user=[1, 1, 2, 2], item=["a", "b", "a", "c"], weight=[0, 2, 1, 1])
    explanation = check(fitted(data, objective=OBJECTIVE), 1, "c")
    assert dict(explanation)["a"] == 0
    assert dict(explanation)["b"] != 0


def test_explanations_do_not_depend_on_threads():
    one, other = (fitted(threads=threads).explain(3, "item-5") for threads in (1, 7))
    assert one == other
    assert (one.score, one.rest) == (other.score, other.rest)


NO_PULL = Objective(unobserved_weight=0, regularization=0)


@pytest.mark.parametrize("weight", [0, 1e-38, 1])
def test_fewer_past_items_than_dimensions_do_not_explain_without_regularization(weight):
    user, item = np.nonzero(np.tri(DIM - 1))  # user n has n + 1 items
    data = Interactions.from_arrays(user=user, item=item, weight=np.full(len(user), weight))
    model = fitted(data, objective=NO_PULL)
    for user in range(DIM - 1):
        with pytest.raises(SolveError, match="regularization"):
            model.explain(user, 0)


def test_without_a_past_or_regularization_there_is_nothing_to_explain():
    assert fitted(objective=NO_PULL).explain(STRANGER, "item-1") == []


@pytest.mark.parametrize(
    ("user", "item", "error", "message"),
    [
        (99, "item-1", UnknownIdError, "user: 99"),
        (3, "nothing", UnknownIdError, "item: 'nothing'"),
        ("item-1", 3, UnknownIdError, "user: 'item-1'.*item.*swapped"),
        (3, 4, UnknownIdError, "item: 4.*user.*swapped"),
        (3.0, "item-1", TypeError, r"user.*3\.0"),
        (True, "item-1", TypeError, "user.*True"),
        (None, "item-1", TypeError, "user.*missing"),
        (3, None, TypeError, "item.*missing"),
        ([3], "item-1", TypeError, "user.*list"),
        (3, [["item-1"]], TypeError, "item.*list"),
        (3, ("item-1",), TypeError, "item.*tuple"),
        (3, b"item-1", TypeError, "item.*bytes"),
    ],
)
def test_bad_questions_are_errors(user, item, error, message):
    with pytest.raises(error, match=message):
        model().explain(user, item)


def test_ids_may_be_numpy_values():
    assert model().explain(np.int8(3), np.str_("item-1")) == model().explain(3, "item-1")
    assert all(type(i) is str and type(number) is float for i, number in model().explain(3, "item-1"))


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(NotFittedError, match="fit"):
        make_model().explain(3, "item-1")


def test_several_items_are_explained_like_each_alone():
    for explained in (
        lambda item: model().explain(3, item),
        lambda item: model().explain_for(ITEMS[:4], item),
    ):
        together = explained(ITEMS)
        assert type(together) is list
        for item, found in zip(ITEMS, together, strict=True):
            alone = explained(item)
            assert dict(found) == pytest.approx(dict(alone), rel=1e-9, abs=1e-12)
            assert (found.score, found.rest) == pytest.approx((alone.score, alone.rest), abs=1e-12)
        assert explained([]) == []


# Unseen users

past_of = st.lists(
    st.tuples(st.sampled_from(ITEMS), st.floats(-2, 4, width=32), st.floats(0, 5, width=32)),
    max_size=10,
    unique_by=lambda entry: entry[0],
)


@given(past_of, st.sampled_from(ITEMS), st.sampled_from(NUMBERS))
@properties
def test_the_parts_of_an_unseen_user_are_those_of_the_normal_equations(past, item, numbers):
    items, labels, weights = ([entry[n] for entry in past] for n in range(3))
    given = {name: values for name, values in (("label", labels), ("weight", weights)) if name in numbers}
    y, a = (np.array(given.get(name, [1.0] * len(items))) for name in ("label", "weight"))
    found = model().explain_for(items, item, **{f"{name}s": values for name, values in given.items()})
    H, o = model().item_factors.astype(float), model().objective
    rows, target = model().items.rows(items), H[model().items.rows([item])[0]]
    lam = o.regularization * (len(rows) + o.unobserved_weight * len(H)) ** o.exponent
    A = (H[rows].T * a) @ H[rows] + o.unobserved_weight * H.T @ H + lam * np.eye(DIM)
    right = dict(zip(items, (a * y * (H[rows] @ np.linalg.solve(A, target))).tolist(), strict=True))
    assert dict(found) == pytest.approx(right, rel=1e-5, abs=1e-6)
    assert found.contributions == sorted(found.contributions, reverse=True)
    assert sum(found.contributions) + found.rest == pytest.approx(found.score, abs=1e-6)
    assert found.rest == pytest.approx(
        0, abs=1e-3 * max(1, np.abs(list(right.values())).sum() if right else 1)
    )


def test_unknown_items_of_an_unseen_user_are_skipped_where_asked():
    past = ["item-1", "nothing", "item-2"]
    with pytest.raises(UnknownIdError, match="'nothing'"):
        model().explain_for(past, "item-5")
    found = model().explain_for(past, "item-5", weights=[2, 3, 4], unknown="skip")
    assert found == model().explain_for(["item-1", "item-2"], "item-5", weights=[2, 4])
    assert model().explain_for(["nothing"], "item-5", unknown="skip") == []
    with pytest.raises(UnknownIdError, match="'nothing'"):
        model().explain_for(["item-1"], "nothing", unknown="skip")


@pytest.mark.parametrize(
    ("past", "item", "numbers", "error", "message"),
    [
        ("item-1", "item-1", {}, TypeError, "histories.*'item-1'"),
        ([3], "item-1", {}, UnknownIdError, "item: 3.*user.*swapped"),
        (["item-1"], "item-1", {"weights": [1, 2]}, ValueError, "weights.*history"),
        (["item-1"], "item-1", {"weights": 1}, TypeError, "weights"),
        (["item-1"], "item-1", {"labels": ["x"]}, TypeError, "label"),
        (["item-1"], "item-1", {"unknown": "hide"}, ValueError, "unknown.*hide"),
    ],
)
def test_bad_pasts_of_unseen_users_are_errors(past, item, numbers, error, message):
    with pytest.raises(error, match=message):
        model().explain_for(past, item, **numbers)


# Exact vectors of new items

history_of = st.lists(
    st.tuples(st.integers(0, N_USERS - 1), st.floats(-2, 4, width=32), st.floats(0, 5, width=32)),
    max_size=N_USERS,
    unique_by=lambda entry: entry[0],
)


def exact_item(model, users, labels, weights):
    W, o = model.user_factors.astype(float), model.objective
    lam = o.regularization * (len(users) + o.unobserved_weight * len(W)) ** o.exponent
    A, b = o.unobserved_weight * W.T @ W + lam * np.eye(DIM), np.zeros(DIM)
    for user, label, weight in zip(users, labels, weights, strict=True):
        A += weight * np.outer(W[user], W[user])
        b += weight * label * W[user]
    return np.linalg.solve(A, b)


@given(st.lists(history_of, max_size=4), st.sampled_from(NUMBERS))
@properties
def test_fold_in_items_solves_the_normal_equations(items, numbers):
    users, labels, weights = ([[entry[n] for entry in item] for item in items] for n in range(3))
    labels = labels if "label" in numbers else [[1] * len(past) for past in users]
    weights = weights if "weight" in numbers else [[1] * len(past) for past in users]
    options = {"label": ("labels", labels), "weight": ("weights", weights)}
    vectors = model().fold_in_items(users, **dict(options[name] for name in numbers))
    assert vectors.shape == (len(items), DIM)
    assert vectors.dtype == np.float32
    for vector, *item in zip(vectors, users, labels, weights, strict=True):
        assert vector == pytest.approx(exact_item(model(), *item), rel=1e-3, abs=1e-4)


def test_an_item_of_the_data_folds_into_its_own_vector():
    data = make_data()
    model = fitted(data, objective=OBJECTIVE)  # which has solved the items last
    for row, (users, labels, weights) in enumerate(rows_of(data.by_item)):
        vector = model.fold_in_items([users], labels=[labels], weights=[weights])[0]
        assert np.allclose(vector, model.item_factors[row], rtol=1e-5, atol=1e-6)


def test_items_of_nobody_fold_into_zeros():
    assert model().fold_in_items([]).shape == (0, DIM)
    vectors = model().fold_in_items([[], [3], [STRANGER]])
    assert (vectors[[0, 2]] == 0).all()
    assert (vectors[1] != 0).any()


def test_fold_in_items_has_the_same_bits_alone_and_on_any_threads(isa):
    histories = [list(range(n)) for n in (0, 1, 5, 37, 2)] * 3
    alone = [fitted(threads=1).fold_in_items([history])[0] for history in histories]
    for threads in 1, 2, 3, 7:
        assert np.array_equal(fitted(threads=threads).fold_in_items(histories), alone), isa


@pytest.mark.parametrize(
    ("histories", "numbers", "error", "message"),
    [
        ([["item-1"]], {}, UnknownIdError, "user: 'item-1'.*item.*swapped"),
        ([[3, 99]], {}, UnknownIdError, "user: 99"),
        ([3], {}, TypeError, "histories.*user.*3"),
        ("item-1", {}, TypeError, "histories.*user.*'item-1'"),
        (None, {}, TypeError, "histories.*user.*None"),
        ([[3.0]], {}, TypeError, r"user.*3\.0"),
        ([[None]], {}, TypeError, "user.*missing"),
        ([[3, 4]], {"weights": [[1]]}, ValueError, "weights.*user"),
        ([[3, 4]], {"labels": [[1]]}, ValueError, "labels.*user"),
        ([[3]], {"weights": [[-1]]}, ValueError, "weight.*-1"),
        ([[3], [4]], {"weights": [[1], [3e38]], "labels": [[1], [3e38]]}, SolveError, r"history.*\b1\b"),
    ],
)
def test_bad_histories_of_items_are_errors(histories, numbers, error, message):
    with pytest.raises(error, match=message):
        model().fold_in_items(histories, **numbers)


@pytest.mark.parametrize("k", [0, 1, 3, 100])
def test_the_largest_contributions_alone(k):
    whole = model().explain(3, ITEMS[:4])
    for part, all_of_it in zip(model().explain(3, ITEMS[:4], k=k), whole, strict=True):
        assert list(part) == list(all_of_it[:k])
        assert part.names == all_of_it[:k].names
        assert (part.score, part.rest) == (all_of_it.score, all_of_it.rest)
    history = [item for item, _ in whole[0]]
    unseen = model().explain_for(history, ITEMS[0])
    assert list(model().explain_for(history, ITEMS[0], k=k)) == list(unseen[:k])


def test_a_number_of_contributions_is_checked():
    with pytest.raises(ValueError, match="k must be at least 0, got -1"):
        model().explain(3, ITEMS[0], k=-1)
