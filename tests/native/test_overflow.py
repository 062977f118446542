"""Scores beyond single precision: whether they become infinite or NaN, the ranking is refused, not wrong."""

import numpy as np
import pytest

from ialspp import _core

USER = np.array([[1e30, 1e30]], dtype=np.float32)
LONG = {"inf": [1e30, 1e30], "-inf": [-1e30, -1e30], "nan": [1e30, -1e30]}  # by the score
PLACE = 7  # of the long vector
pytestmark = [pytest.mark.parametrize("n_items", [20, 3000]), pytest.mark.usefixtures("isa")]


def packed(n_items, long):
    items = np.linspace(1, 2, 2 * n_items, dtype=np.float32).reshape(-1, 2)[::-1].copy()
    items[PLACE] = long
    return _core.PackedItems(items, 1)


def rank(items, *, hidden=None, eligible=None, wanted=None, k=3):
    return _core.rank(USER, items, hidden, None, eligible, wanted, k, 3 if wanted else 0, 1)


@pytest.mark.parametrize("long", LONG.values(), ids=LONG)
def test_a_score_that_overflows_is_an_error(n_items, long):
    items = packed(n_items, long)
    row = _core.Rows(np.array([0, 1]), np.array([2], dtype=np.int32), n_items)
    for wrong in (lambda: rank(items), lambda: rank(items, wanted=row, k=0)):
        with pytest.raises(OverflowError, match="a score overflows single precision"):
            wrong()


@pytest.mark.parametrize("long", LONG.values(), ids=LONG)
def test_items_that_are_not_ranked_may_overflow(n_items, long):
    items = packed(n_items, long)
    row = _core.Rows(np.array([0, 1]), np.array([PLACE], dtype=np.int32), n_items)
    eligible = np.ones(n_items, dtype=np.uint8)
    eligible[PLACE] = 0
    for options in ({"hidden": row}, {"eligible": eligible}):
        best, scores, _ = rank(items, **options, k=8)
        assert best.tolist() == [[0, 1, 2, 3, 4, 5, 6, 8]]
        assert np.isfinite(scores).all()


def test_long_vectors_whose_scores_fit_are_ranked(n_items):
    users, items = np.array([[1e25, 0]], np.float32), packed(n_items, [3, 3e25])
    best, scores, _ = _core.rank(users, items, None, None, None, None, 2, 0, 1)
    assert best.tolist() == [[PLACE, 0]]
    assert scores[0].tolist() == pytest.approx([3e25, 2e25], rel=0.1)
