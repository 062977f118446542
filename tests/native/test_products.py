"""The interactions as a matrix, and sums over the columns of factors: against plain loops."""

import numpy as np
import pytest
from support.problems import make_case
from support.reference import rows_of

from ialspp import _core

LONG = 40_000  # more than the 32,768 interactions from which a row is shared among threads


def long_case(**numbers):
    case = make_case(users=3, items=LONG, dim=1, density=2.0, **numbers)
    assert case.data.by_user.counts.max() > 32768
    return case


def small_case(**numbers):
    case = make_case(users=50, items=40, dim=1, **numbers)
    assert case.data.by_user.counts.min() == 0
    return case


CASES = [
    (make, labels, weights)
    for make in (small_case, long_case)
    for labels, weights in ((False, False), (True, False), (False, True), (True, True))
]


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize(("make", "labels", "weights"), CASES)
@pytest.mark.parametrize("width", [1, 7, 16, 17, 33])
def test_products_match_loops_with_the_same_bits_on_any_number_of_threads(make, labels, weights, width):
    data, rng = make(labels=labels, weights=weights).data, np.random.default_rng(1)
    native = data.by_user.native()
    row_scales, column_scales = (
        rng.uniform(0, 2, n).astype(np.float32) for n in (data.n_users, data.n_items)
    )
    x = rng.normal(size=(data.n_items, width)).astype(np.float32)
    found = []
    for threads in (1, 2, 3):
        out = np.full((data.n_users, width), np.nan, np.float32)
        _core.multiply_rows(native, out, row_scales, x, column_scales, threads)
        found.append(out)
    assert len({out.tobytes() for out in found}) == 1
    for row, (columns, y, a) in enumerate(rows_of(data.by_user)):
        terms = float(row_scales[row]) * (a * y * column_scales[columns])[:, None] * x[columns].astype(float)
        slack = 1e-6 * np.sqrt(len(columns) + 1) * np.abs(terms).max(initial=1)
        np.testing.assert_allclose(found[0][row], terms.sum(axis=0), rtol=0, atol=slack)


@pytest.mark.parametrize(("make", "labels", "weights"), CASES)
def test_absolute_sums_match_loops_with_the_same_bits_on_any_number_of_threads(make, labels, weights):
    data = make(labels=labels, weights=weights).data
    found = [_core.absolute_row_sums(data.by_user.native(), threads) for threads in (1, 2, 3)]
    assert len({sums.tobytes() for sums in found}) == 1
    wanted = [np.sum(np.abs(a * y)) for _, y, a in rows_of(data.by_user)]
    np.testing.assert_allclose(found[0], wanted, rtol=1e-12)


def test_absolute_sums_have_room_for_products_that_single_precision_has_not():
    rows = _core.Rows(
        np.array([0, 2, 3]),
        np.array([0, 1, 1], np.int32),
        2,
        np.float32([1e38, -1, 1e-40]),
        np.float32([1e38, 2, 1e-40]),
    )
    labels, weights = np.float32([1e38, 1e-40]).astype(float), np.float32([1e38, 1e-40]).astype(float)
    assert _core.absolute_row_sums(rows, 1) == pytest.approx(labels * weights, rel=1e-9)


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (2, np.ones(3, np.float32)),
        (4, np.ones(2, np.float32)),
        (3, np.ones((2, 4), np.float32)),
        (3, np.ones((3, 5), np.float32)),
        (1, np.ones((3, 4), np.float32)),
        (1, np.ones((2, 5), np.float32)),
        (1, np.ones((2, 4))),
    ],
)
def test_products_of_things_that_do_not_fit_are_exceptions(place, wrong):
    rows = _core.Rows(np.array([0, 2, 3]), np.array([0, 2, 1], np.int32), 3)
    ones = [np.ones(shape, np.float32) for shape in ((2, 4), 2, (3, 4), 3)]
    arguments = [rows, *ones, 2]
    _core.multiply_rows(*arguments)
    arguments[place] = wrong
    with pytest.raises((TypeError, ValueError)):
        _core.multiply_rows(*arguments)


@pytest.mark.parametrize(("n", "width"), [(0, 3), (1, 1), (15, 7), (16, 16), (5000, 33)])
def test_weighted_squares_of_columns_match_numpys(n, width):
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(n, width)).astype(np.float32), rng.uniform(0, 3, n).astype(np.float32)
    found = [_core.weighted_column_squares(x, weights, threads) for threads in (1, 2, 3)]
    assert len({squares.tobytes() for squares in found}) == 1
    np.testing.assert_allclose(found[0], weights.astype(float) @ x.astype(float) ** 2, rtol=1e-12)
    if n:
        with pytest.raises(ValueError, match="length of weights"):
            _core.weighted_column_squares(x, weights[:-1], 1)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("width", [1, 7, 16, 33, 130])
def test_both_sides_are_multiplied_each_by_its_own_matrix(width):
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(2, width, width))
    before = [rng.normal(size=(n, width)).astype(np.float32) for n in (101, 53)]
    found = []
    for threads in (1, 2, 3):
        x, y = (side.copy() for side in before)
        _core.transform_both(x, p, y, q, threads)
        found.append((x.tobytes(), y.tobytes()))
    assert len(set(found)) == 1
    for side, start, matrix in ((x, before[0], p), (y, before[1], q)):
        np.testing.assert_allclose(side, start @ matrix, rtol=0, atol=1e-5 * np.sqrt(width))
    alone = before[0].copy()
    _core.transform(alone, p, 2)
    assert np.array_equal(alone, x)
