"""The factors that training starts from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import drawn
from support.models import NUMBERS, each_solver, fitted, is_finite, make_data, make_model

from ialspp import Interactions, Objective
from ialspp.solvers import Problem
from ialspp.solvers.start import PAPERS_STDDEV, orthonormalize, random_start, spectral_start


def dense(data):
    """a y of every pair, divided by the roots of its row's and its column's sum of |a y|"""
    B, rows = np.zeros((data.n_users, data.n_items)), data.by_user
    labels, weights = (
        1 if numbers is None else numbers.astype(float) for numbers in (rows.labels, rows.weights)
    )
    B[np.repeat(np.arange(data.n_users), rows.counts), rows.columns] = labels * weights
    sums = np.abs(B).sum(axis=1, keepdims=True), np.abs(B).sum(axis=0, keepdims=True)
    scales = (np.divide(1, np.sqrt(s), out=np.zeros_like(s), where=s > 0) for s in sums)
    return B * next(scales) * next(scales)


def low_rank_data(rank, *, users=60, items=40, seed=0):
    """Groups of users who all have the same items: a matrix of that rank."""
    rng = np.random.default_rng(seed)
    taste = rng.random((rank, items)) < 0.4
    taste[np.arange(rank), np.arange(rank)] = True
    user, item = np.nonzero(taste[rng.permutation(np.arange(users) % rank)])
    return Interactions.from_arrays(user=user, item=item, users=range(users), items=range(items))


def cosines(H):
    """Between all pairs of different columns"""
    H = H / np.linalg.norm(H, axis=0)
    return H.T @ H - np.eye(H.shape[1])


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
def test_a_spectral_start_has_the_same_bits_on_any_number_of_threads(numbers):
    data = make_data(users=300, n=3000, numbers=numbers)
    found = [spectral_start(data, 9, 5, threads) for threads in (1, 2, 3)]
    assert len({items.tobytes() for _, items in found}) == 1


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
@pytest.mark.parametrize("dim", [1, 8, 21])
def test_a_spectral_start_has_orthogonal_items_and_no_users(numbers, dim):
    data = make_data(numbers=numbers)
    users, items = spectral_start(data, dim, 0, 2)
    assert (users.shape, items.shape) == ((data.n_users, dim), (data.n_items, dim))
    assert users.dtype == items.dtype == np.float32
    assert not users.any()
    assert np.isfinite(items).all()
    assert np.abs(cosines(items.astype(float))).max() < 1e-3
    assert np.sum(items.astype(float) ** 2) == pytest.approx(data.n_items, rel=1e-3)  # about 1 an item
    assert not items[data.by_item.counts == 0].any()


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize(("rank", "dim"), [(3, 3), (3, 8), (7, 7), (7, 20)])
def test_the_span_has_the_leading_singular_vectors_of_data_of_low_rank(rank, dim):
    data = low_rank_data(rank)
    _, values, right = np.linalg.svd(dense(data))
    assert values[rank - 1] > 0.1 > 1e-9 > values[rank]
    items = spectral_start(data, dim, 3, 2)[1].astype(float)
    basis = np.linalg.qr(items[:, :rank])[0]
    leading = right[:rank].T
    assert np.linalg.norm(leading - basis @ (basis.T @ leading), axis=0).max() < 1e-3
    found = np.linalg.norm(items[:, :rank], axis=0) ** 2
    assert found == pytest.approx(data.n_items * values[:rank] / values[:rank].sum(), rel=1e-3)


@pytest.mark.usefixtures("isa")
def test_the_leading_singular_vectors_come_first_where_there_are_more():
    rng = np.random.default_rng(0)
    group = np.arange(400) % 4
    liked = rng.random((400, 80)) < np.where(group[:, None] == np.arange(80) % 4, 0.5, 0.02)
    data = Interactions.from_arrays(**dict(zip(("user", "item"), np.nonzero(liked), strict=True)))
    leading = np.linalg.svd(dense(data))[2][:4].T
    basis = np.linalg.qr(spectral_start(data, 16, 0, 2)[1].astype(float))[0]
    assert np.linalg.norm(leading - basis @ (basis.T @ leading), axis=0).max() < 0.05


def test_dimensions_that_the_data_does_not_have_start_at_random():
    users, items = spectral_start(low_rank_data(3), 10, 0, 1)
    assert not users.any()
    unused = items[:, 3:]
    assert (np.abs(unused).max(axis=0) > 0).all()
    assert unused.std() == pytest.approx(PAPERS_STDDEV / 10, rel=0.2)
    assert not np.array_equal(items, spectral_start(low_rank_data(3), 10, 1, 1)[1])  # another seed


LITTLE = {
    "one pair": {"user": [7], "item": [3]},
    "one user": {"user": [0, 0, 0], "item": [0, 1, 2]},
    "one item": {"user": [0, 1, 2], "item": [0, 0, 0]},
    "negative labels": {"user": [0, 0, 1], "item": [0, 1, 1], "label": [-1.0, 2.0, -3.0]},
    "labels of zero": {"user": [0, 0, 1], "item": [0, 1, 1], "label": [0.0, 0.0, 0.0]},
    "a row of zeros": {"user": [0, 0, 1], "item": [0, 1, 1], "label": [0.0, 0.0, 1.0]},
    "tiny numbers": {"user": [0, 0, 1], "item": [0, 1, 1], "label": [1e-40] * 3, "weight": [1e-40] * 3},
    "huge numbers": {"user": [0, 0, 1], "item": [0, 1, 1], "label": [1e38] * 3, "weight": [1e38] * 3},
    "both": {"user": [0, 0, 1], "item": [0, 1, 1], "label": [1e38, 1, 1e-38], "weight": [1, 1e38, 1e-38]},
    "ids without pairs": {"user": [2], "item": [1], "users": range(5), "items": range(4)},
}


@pytest.mark.parametrize("name", LITTLE)
@pytest.mark.parametrize("dim", [1, 2, 17])
def test_a_spectral_start_of_hardly_any_data_is_finite_and_can_move(name, dim):
    data = Interactions.from_arrays(**LITTLE[name])
    users, items = spectral_start(data, dim, 0, 2)
    assert not users.any()
    assert np.isfinite(items).all()
    assert (np.abs(items).max(axis=0) > 0).all()  # no dimension without a number to begin with


@given(st.data())
@drawn(30)
def test_a_fit_from_a_spectral_start_is_finite(data):
    n = data.draw(st.integers(1, 30))
    numbers = st.sampled_from([0.0, 1.0, -2.0, 1e-6, 1e4])
    draw = {
        "user": data.draw(st.lists(st.integers(0, 20), min_size=n, max_size=n)),
        "item": list(range(n)),
        "label": data.draw(st.lists(numbers, min_size=n, max_size=n)),
        "weight": np.abs(data.draw(st.lists(numbers, min_size=n, max_size=n))),
    }
    model = fitted(Interactions.from_arrays(**draw), dim=data.draw(st.sampled_from([1, 5, 40])), solver=None)
    assert is_finite(model)
    assert np.isfinite([record.loss for record in model.history]).all()


def test_orthonormal_columns_and_zeros_replace_columns_of_which_some_are_zero():
    factors = np.random.default_rng(0).normal(size=(50, 9)).astype(np.float32)
    factors[:, 4:] = 0
    span = np.linalg.qr(factors[:, :4].astype(float))[0]
    wanted = np.linalg.svd(factors.astype(float))[1] ** 0.5
    data = Interactions.from_arrays(user=[0], item=[0], items=range(50))
    values, rank = orthonormalize(Problem.of(data, Objective(), factors[:1].copy(), factors, 2).items)
    assert rank == 4
    assert values == pytest.approx(wanted, rel=1e-5, abs=1e-9)
    assert not factors[:, 4:].any()
    basis = factors[:, :4].astype(float)
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-4)
    np.testing.assert_allclose(span @ (span.T @ basis), basis, atol=1e-4)


def test_a_random_start_is_the_papers():
    data = make_data(users=2000)
    users, items = random_start(data, 16, 0.5, 3)
    assert (users.shape, items.shape) == ((2000, 16), (data.n_items, 16))
    assert users[data.by_user.counts > 0].std() == pytest.approx(0.5 / 4, rel=0.03)
    assert not np.array_equal(users[: data.n_items], items)
    assert np.array_equal(users, random_start(data, 16, 0.5, 3)[0])


@pytest.mark.parametrize("init", ["random", "spectral"])
@each_solver
def test_rows_without_interactions_start_and_stay_at_zero(solver, init):
    user, item = [0, 0, 1, 3], [0, 2, 0, 2]
    data = Interactions.from_arrays(user=user, item=item, users=range(5), items=range(4))
    made = make_model(dim=6, solver=solver, init=init).fit(data, progress=False)  # more than the rank
    for side, known in ((made.user_factors, [0, 1, 3]), (made.item_factors, [0, 2])):
        assert np.flatnonzero(side.any(axis=1)).tolist() == known
    users, items = made.initial_factors(data)
    assert np.flatnonzero(items.any(axis=1)).tolist() == [0, 2]
    assert np.flatnonzero(users.any(axis=1)).tolist() == ([0, 1, 3] if init == "random" else [])
