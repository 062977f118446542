"""Factors in halves of their own memory: as good as a copy, and themselves again afterwards."""

import numpy as np
import pytest
from support.problems import make_case

from ialspp import _core
from ialspp.solvers.half import unit_of

WIDTHS = (16, 32, 64, 112)
pytestmark = pytest.mark.usefixtures("half_isa")


def improved_in_halves(case, H, *, unit=1.0, threads=2):
    """The users after a call that improves them with H in halves, and what the call returns"""
    users, spectrum = case.problem().users, np.full(case.dim, 0.1, np.float32)
    W = users.factors
    options = (spectrum, None, 3, 0.0, 1.3, threads)
    return W, _core.improve_rows_in_halves(users.rows, W, users.regularization, H, unit, *options)


def improved_by_copy(case, H, unit):
    users, spectrum = case.problem().users, np.full(case.dim, 0.1, np.float32)
    W, copy = users.factors, np.empty(H.shape, np.uint16)
    assert _core.copy_to_half(H, unit, copy, 1)
    return W, _core.improve_rows_by_half(
        users.rows, W, users.regularization, copy, unit, spectrum, None, 3, 0.0, 1.3, 1
    )


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("unit", [1.0, 2.0**-6])
def test_rows_are_those_that_a_copy_gives_to_the_bit(width, unit):
    case = make_case(users=60, items=50, dim=width, labels=True, weights=True)
    wanted, wanted_outcome = improved_by_copy(case, case.H, unit)
    for threads in (1, 2, 3):
        W, outcome = improved_in_halves(case, case.H.copy(), unit=unit, threads=threads)
        assert np.array_equal(W, wanted)
        assert outcome == wanted_outcome


@pytest.mark.parametrize("scale", [1.0, 2.0**-10, 2.0**12])
def test_factors_lose_their_last_bit_at_most(scale):
    case = make_case(users=5, items=4000, dim=16)
    H = case.H * np.float32(scale)
    before, unit = H.copy(), unit_of(float(np.mean(H**2)))
    improved_in_halves(case, H, unit=unit)
    assert (np.abs(H - before) <= 2.0**-23 * np.abs(before) + 2.0**-37 * unit).all()


def test_tiny_numbers_keep_an_accuracy_far_below_that_of_the_others():
    case = make_case(users=5, items=40, dim=16)
    H = np.random.default_rng(0).uniform(-1, 1, case.H.shape).astype(np.float32) * np.float32(2.0**-20)
    H[0] = [0.0, -0.0, *[2.0**-40] * 14]
    before = H.copy()
    improved_in_halves(case, H)
    assert np.abs(H - before).max() <= 2.0**-37  # a step of the low half, in units of the mean


@pytest.mark.parametrize("bad", [65536.0, -1e30, np.inf])
@pytest.mark.parametrize("place", [(0, 0), (20, 16), (36, 31)])
def test_factors_beyond_the_range_are_reported_and_left_as_they_were(bad, place):
    case = make_case(users=20, items=37, dim=32)
    H = np.random.default_rng(1).integers(-40, 40, case.H.shape).astype(np.float32)  # exact in halves
    H[place] = bad
    before = H.copy()
    W, outcome = improved_in_halves(case, H)
    assert outcome is None
    assert np.array_equal(H, before)
    assert np.array_equal(W, case.problem().users.factors)


@pytest.mark.parametrize("number", [32767.99, 32768.0, 32784.0, 65504.0])
def test_the_largest_numbers_stay_finite(number):
    case = make_case(users=20, items=37, dim=16)
    case.H[7, 3] = number
    fits = improved_in_halves(case, case.H)[1] is not None
    assert fits == (number < 32768)
    assert case.H[7, 3] == pytest.approx(number, rel=2.0**-23)


@pytest.mark.parametrize("bad", [1.0, 65536.0])
@pytest.mark.parametrize("threads", [1, 3])
def test_rounding_leaves_what_a_call_in_halves_leaves(bad, threads):
    case = make_case(users=20, items=37, dim=32)
    case.H[20, 5] = bad
    rounded = case.H.copy()
    fits = _core.round_to_halves(rounded, 1.0, threads)
    outcome = improved_in_halves(case, case.H, threads=threads)[1]
    assert fits == (outcome is not None) == (bad == 1)
    assert np.array_equal(case.H, rounded)
    again = rounded.copy()
    assert _core.round_to_halves(again, 1.0, threads) == fits
    assert np.array_equal(again, rounded)


def test_products_are_those_of_a_copy():
    case = make_case(users=60, items=50, dim=32, weights=True)
    rows, ones = case.data.by_user.native(), np.ones(50, np.float32)
    scales, copy = np.ones(60, np.float32), np.empty(case.H.shape, np.uint16)
    assert _core.copy_to_half(case.H, 0.5, copy, 1)
    wanted, found = (np.empty((60, 32), np.float32) for _ in range(2))
    _core.multiply_rows_by_half(rows, wanted, scales, copy, 0.5, ones, 2)
    assert _core.multiply_rows_in_halves(rows, found, scales, case.H, 0.5, ones, 2)
    assert np.array_equal(found, wanted)
    case.H[3, 3] = np.inf
    assert not _core.multiply_rows_in_halves(rows, found, scales, case.H, 0.5, ones, 2)


@pytest.mark.parametrize(
    ("width", "unit", "message"),
    [
        (17, 1.0, "rows in halves must be whole panels"),
        (16, 0.0, "unit must be a power of two"),
        (16, 0.75, "unit must be a power of two"),
        (16, -1.0, "unit must be a power of two"),
        (16, 2.0**-149, "unit must be a power of two, as must be 1 / unit"),
        (16, np.nan, "unit must be a power of two"),
        (16, np.inf, "unit must be a power of two"),
    ],
)
def test_what_cannot_be_in_halves_is_an_exception(width, unit, message):
    case = make_case(users=4, items=6, dim=width)
    with pytest.raises(ValueError, match=message):
        improved_in_halves(case, case.H.copy(), unit=unit)


def test_a_side_cannot_be_read_in_halves_while_it_changes():
    case = make_case(users=6, items=6, dim=16)
    users = case.problem().users
    W, ones = users.factors, np.ones(16, np.float32)
    with pytest.raises(ValueError, match="must not be the same array"):
        _core.improve_rows_in_halves(users.rows, W, users.regularization, W, 1.0, ones, None, 3, 0.0, 1.0, 1)
