"""Rankings by bounds are those of plain scores, to the bit: the judge scores every item and sorts."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.drawing import drawn

from ialspp import _core

SCALES = [1.0, 1e-3, 1e-12, 1e-20, 1e-30, 1e-38, 1e-42, 1e9, 1e17]
LARGEST = 1e37  # score: others would overflow
TOO_LONG = 1e25  # for bounds


def normal(rng, rows, dim):
    return rng.standard_normal((rows, dim))


def whole_numbers(rng, rows, dim):
    return rng.integers(-2, 3, (rows, dim))  # many equal scores


def few_different(rng, rows, dim):
    return rng.standard_normal((3, dim))[rng.integers(0, 3, rows)]


def mostly_zero(rng, rows, dim):
    return rng.standard_normal((rows, dim)) * (rng.random((rows, 1)) < 0.02)


def one_large_number(rng, rows, dim):
    vectors = rng.standard_normal((rows, dim)) * 1e-4
    vectors[np.arange(rows), rng.integers(0, dim, rows)] = 1
    return vectors


def many_lengths(rng, rows, dim):
    return rng.standard_normal((rows, dim)) * 10.0 ** rng.uniform(-35, 15, (rows, 1))


def nearly_equal(rng, rows, dim):
    return 1 + 1e-6 * rng.standard_normal((rows, dim))  # far closer than bounds can tell apart


KINDS = [normal, whole_numbers, few_different, mostly_zero, one_large_number, many_lengths, nearly_equal]


@st.composite
def problems(draw):
    """Users, items, k and depth: enough items for bounds, whose number and dimension fill no vector."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_items, dim = draw(st.integers(513, 2200)), draw(st.integers(1, 40))
    x, y = (
        draw(st.sampled_from(KINDS))(rng, rows, dim) * draw(st.sampled_from(SCALES))
        for rows in (draw(st.sampled_from([1, 2, 13, 30])), n_items)
    )
    x *= min(1.0, LARGEST / max(dim * np.abs(x).max() * np.abs(y).max(), LARGEST))
    return x.astype(np.float32), y.astype(np.float32), draw(st.integers(1, n_items // 8)), rng


def sparse(mask):
    offsets = np.concatenate([[0], mask.sum(axis=1).cumsum()])
    return _core.Rows(offsets, np.nonzero(mask)[1].astype(np.int32), mask.shape[1])


def plain_scores(x, y):
    """Return the score of every user and item: with k = all items, nothing is left out by bounds."""
    best, scores, _ = _core.rank(x, _core.PackedItems(y, 1), None, None, None, None, len(y), 0, 1)
    plain = np.empty_like(scores)
    np.put_along_axis(plain, best, scores, axis=1)
    return plain


def check(x, y, k, *, hidden, wanted, candidates=None, eligible=None, threads=2):
    allowed = ~hidden
    if candidates is not None:
        allowed &= candidates
    if eligible is not None:
        allowed &= eligible
    best, scores, standings = _core.rank(
        x,
        _core.PackedItems(y, threads),
        sparse(hidden),
        None if candidates is None else sparse(candidates),
        None if eligible is None else eligible.astype(np.uint8),
        sparse(wanted),
        k,
        k,
        threads,
    )
    places = iter(standings.tolist())
    for user, plain in enumerate(np.where(allowed, plain_scores(x, y), -np.inf)):
        order = [i for i in np.argsort(-plain, kind="stable") if allowed[user, i]][:k]
        missing = k - len(order)
        assert best[user].tolist() == order + [-1] * missing
        assert scores[user].tolist() == plain[order].tolist() + [-np.inf] * missing
        for item in np.flatnonzero(wanted[user]):
            above, same = (plain > plain[item]).sum(), plain == plain[item]
            expected = [above, same.sum() - 1, same[:item].sum()] if above < k else [k, 0, 0]
            assert next(places) == expected
    assert next(places, None) is None


@pytest.mark.usefixtures("isa")
@drawn(25, fixtures=True)
@given(problems())
def test_the_best_and_the_places_are_those_of_plain_scores(problem):
    x, y, k, rng = problem
    hidden, wanted = (rng.random((len(x), len(y))) < share for share in (0.1, 0.02))
    check(x, y, k, hidden=hidden, wanted=wanted)


@pytest.mark.usefixtures("isa")
@drawn(25, fixtures=True)
@given(problems(), st.sampled_from([0.0, 0.002, 0.3, 1.0]))
def test_filters_leave_the_same_as_sorting_what_they_leave(problem, share):
    x, y, k, rng = problem
    candidates, hidden, wanted = (rng.random((len(x), len(y))) < part for part in (share, 0.1, 0.02))
    eligible = rng.random(len(y)) < 0.7
    check(x, y, k, hidden=hidden, wanted=wanted, candidates=candidates, eligible=eligible)


@pytest.mark.usefixtures("isa")
@drawn(10, fixtures=True)
@given(problems())
@example((np.full((1, 1), 3e-39, np.float32), np.full((600, 1), 1.0, np.float32), 1, None))
def test_results_depend_neither_on_threads_nor_on_who_is_ranked_together(problem):
    x, y, k, _ = problem
    items = _core.PackedItems(y, 1)
    together = _core.rank(x, items, None, None, None, None, k, 0, 3)
    for user in range(len(x)):
        alone = _core.rank(x[user : user + 1], items, None, None, None, None, k, 0, 1)
        for found, expected in zip(alone[:2], together[:2], strict=True):
            assert np.array_equal(found[0], expected[user])


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("side", ["users", "items"])
def test_vectors_too_long_for_bounds_are_ranked_by_their_scores(side):
    rng = np.random.default_rng(0)
    x, y = (rng.integers(1, 4, (n, 3)).astype(np.float32) for n in (30, 700))
    if side == "users":
        x[7] *= TOO_LONG
    else:
        y[7] *= TOO_LONG
    none = np.zeros((30, 700), dtype=bool)
    check(x, y, 20, hidden=none, wanted=none)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("dim", [1, 3, 16, 100, 1000])
def test_long_vectors_are_ranked_as_exactly(dim):
    rng = np.random.default_rng(dim)
    x, y = (rng.standard_normal((n, dim), dtype=np.float32) for n in (30, 3000))
    hidden, wanted = (rng.random((30, 3000)) < share for share in (0.1, 0.02))
    check(x, y, 100, hidden=hidden, wanted=wanted)


def test_items_are_not_copied_and_stay_alive():
    y = np.random.default_rng(0).standard_normal((2000, 8), dtype=np.float32)
    x = y[:5].copy()
    expected = _core.rank(x, _core.PackedItems(y, 1), None, None, None, None, 3, 0, 1)[0]
    items = _core.PackedItems(y.copy(), 1)  # nobody else holds this array
    assert np.array_equal(_core.rank(x, items, None, None, None, None, 3, 0, 1)[0], expected)
