"""Shards: the same cuts for the same data, even in cost, and sums that can be made piece by piece."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import drawn
from support.problems import make_case

from ialspp import _core
from ialspp.solvers.shards import LEAST, MOST, PAIRS, ROWS, bounds_of, count_of, halves

counts = st.lists(st.integers(0, 40), max_size=300)


def offsets_of(counts):
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


@given(counts=counts)
@drawn(50)
def test_shards_cover_all_rows_in_order(counts):
    bounds = bounds_of(offsets_of(counts))
    assert (bounds[0], bounds[-1]) == (0, len(counts))
    assert (np.diff(bounds) >= 0).all()


@pytest.mark.parametrize(("rows", "shards"), [(1, LEAST), (40 * ROWS, 40), (10**6, MOST)])
def test_the_number_of_shards_follows_the_rows(rows, shards):
    assert len(bounds_of(np.arange(rows + 1))) == shards + 1


def test_very_many_interactions_have_more_shards():
    assert count_of(10**8, 10**9) == 10**9 // PAIRS
    assert count_of(100, 10**9) == 100


def test_no_shard_has_more_than_twice_its_share_of_rows_or_interactions():
    counts = np.sort(np.random.default_rng(0).pareto(1.1, 50_000) * 5).astype(int)[::-1]  # popular ones first
    offsets = offsets_of(np.minimum(counts, 300))
    bounds = bounds_of(offsets)
    shards = len(bounds) - 1
    assert np.diff(bounds).max() <= 2 * len(counts) / shards + 1
    assert np.diff(offsets[bounds]).max() <= 2 * offsets[-1] / shards + 300


def tree_sum(totals, node):
    if node in totals:
        return totals[node]
    first, second = halves(node)
    return tree_sum(totals, first) + tree_sum(totals, second)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("level", range(6))
def test_sums_over_parts_of_the_shards_add_up_to_the_bits_of_the_whole(level):
    nodes = [(0, 22)]
    for _ in range(level):
        nodes = [half for node in nodes for half in (halves(node) if node[1] - node[0] > 1 else [node])]
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(5000, 19)).astype(np.float32), rng.uniform(0, 3, 5000).astype(np.float32)
    bounds = np.sort(np.concatenate([[0, 5000], rng.integers(0, 5000, 21)]))
    gramians, squares = {}, {}
    for node in nodes:
        part = bounds[node[0] : node[1] + 1]
        rows = slice(part[0], part[-1])
        gramians[node] = _core.gramian(x[rows], 0, 19, 2, part - part[0])
        squares[node] = _core.weighted_column_squares(x[rows], weights[rows], 1, part - part[0])
    assert np.array_equal(tree_sum(gramians, (0, 22)), _core.gramian(x, 0, 19, 3, bounds))
    assert np.array_equal(tree_sum(squares, (0, 22)), _core.weighted_column_squares(x, weights, 3, bounds))


@pytest.mark.parametrize(
    ("shards", "message"),
    [
        (np.zeros(0, np.int64), "shards must not be empty"),
        (np.array([0, 7]), "shards must run from 0 to the number of rows, 8"),
        (np.array([1, 8]), "shards must run from 0"),
        (np.array([0, 5, 3, 8]), "shards must not decrease"),
    ],
)
def test_shards_that_do_not_fit_the_rows_are_exceptions(shards, message):
    rows = make_case(users=8, items=5, dim=2).data.by_user
    calls = [
        lambda: rows.native(shards),
        lambda: _core.gramian(np.ones((8, 2), np.float32), 0, 2, 1, shards),
        lambda: _core.weighted_column_squares(np.ones((8, 2), np.float32), np.ones(8, np.float32), 1, shards),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=message):
            call()
