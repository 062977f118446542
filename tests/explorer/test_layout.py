"""The map: neighbours are close, the same model gives the same map, and any model has one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import drawn
from support.explorable import EACH, make_model, old_file

from ialspp import ImplicitMF, Interactions
from ialspp.errors import InvalidValueError
from ialspp.explorer import item_map
from ialspp.explorer.layout import FEW, laid_out, repulsion


def distances(places):
    return np.linalg.norm(places[:, None] - places[None], axis=2)


def test_items_of_one_taste_are_close(model):
    found = item_map(model, 1000)
    taste = (np.array(model.items.named(found.rows)) - 1000) // EACH
    apart = distances(np.column_stack([found.x, found.y]))
    near = np.argsort(apart, axis=1)[:, 1:6]
    assert np.mean(taste[near] == taste[:, None]) > 0.7  # by chance it is 0.33


def test_the_best_known_items_come_first(model):
    found = item_map(model, 20)
    counts = model.trained_on.by_user.column_counts
    assert found.users.tolist() == sorted(counts.tolist(), reverse=True)[:20]
    assert found.users.tolist() == counts[found.rows].tolist()


def test_a_map_fills_its_square_and_is_the_same_again(model):
    found, again = item_map(model), item_map(model)
    assert len(found.rows) == len(model.items)
    longer = max(np.ptp(found.x), np.ptp(found.y))
    assert longer == pytest.approx(2)
    assert np.abs([found.x, found.y]).max() <= 1
    np.testing.assert_array_equal([found.x, found.y], [again.x, again.y])


def test_threads_change_nothing(model, tmp_path):
    model.save(tmp_path / "model.ialspp")
    one, three = (ImplicitMF.load(tmp_path / "model.ialspp", threads=threads) for threads in (1, 3))
    np.testing.assert_array_equal(item_map(one).x, item_map(three).x)


def test_a_file_without_interactions_knows_the_number_of_users(model, tmp_path):
    model.save(tmp_path / "model.ialspp", interactions=False)
    found, whole = item_map(ImplicitMF.load(tmp_path / "model.ialspp"), 10), item_map(model, 10)
    assert found.rows.tolist() == whole.rows.tolist()
    assert found.users.tolist() == whole.users.tolist()


def test_in_an_old_file_without_interactions_the_longest_vectors_come_first(model, tmp_path):
    found = item_map(ImplicitMF.load(old_file(model, tmp_path / "model.ialspp")), 10)
    lengths = np.linalg.norm(model.item_factors, axis=1)
    assert found.users is None
    np.testing.assert_allclose(lengths[found.rows], np.sort(lengths)[::-1][:10], rtol=1e-6)


@pytest.mark.parametrize("items", [1, 2, 3, 5])
def test_few_items_have_a_map(items):
    data = Interactions.from_arrays(user=[0] * items, item=list(range(items)), users=[0], items=range(items))
    found = item_map(make_model(data, dim=2))
    assert len(found.rows) == len(found.x) == items
    assert np.isfinite([found.x, found.y]).all()


def test_nothing_has_a_layout():
    assert laid_out(np.empty((0, 0), dtype=np.int32), np.empty((0, 2)), np.empty(0)).shape == (0, 2)


def test_vectors_that_are_equal_or_zero_have_a_map():
    data = Interactions.from_arrays(user=[0, 0, 1, 1], item=[0, 1, 0, 1], items=range(30))
    found = item_map(make_model(data, dim=1))
    assert np.isfinite([found.x, found.y]).all()


def test_top_is_checked(model):
    with pytest.raises(InvalidValueError, match="top must be at least 1, got 0"):
        item_map(model, 0)


@drawn(10)
@given(st.integers(3, 60), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_any_graph_has_a_layout(points, k, seed):
    rng = np.random.default_rng(seed)
    neighbours = rng.integers(-1, points, (points, k)).astype(np.int32)
    places = laid_out(neighbours, rng.normal(size=(points, 2)) * rng.integers(0, 2), np.ones(points))
    assert places.shape == (points, 2)
    assert np.isfinite(places).all()
    assert np.abs(places).max() <= 1 + 1e-9


@drawn(10)
@given(st.integers(FEW + 1, 400), st.floats(1, 30), st.integers(0, 2**32 - 1))
def test_the_grid_agrees_with_the_sum_over_all_pairs(points, extent, seed):
    rng = np.random.default_rng(seed)
    places, mass = extent * rng.uniform(-1, 1, (points, 2)), rng.uniform(0.3, 3, points)
    apart = places[:, None] - places[None]
    kernel = 1 / (1 + (apart**2).sum(axis=2))
    pairs = mass[:, None] * mass[None] * kernel
    exact = ((pairs * kernel)[:, :, None] * apart).sum(axis=1) / (pairs.sum() - np.trace(pairs))
    assert np.linalg.norm(repulsion(places, mass) - exact) < 0.2 * np.linalg.norm(exact)
