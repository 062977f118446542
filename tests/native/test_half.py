"""Copies in half precision: against numpy's, and rows improved by them, on every set that has them."""

import numpy as np
import pytest
from support.problems import make_case

from ialspp import _core

WIDTHS = (1, 7, 15, 16, 17, 31, 64, 100)
pytestmark = pytest.mark.usefixtures("half_isa")


def halved(x, unit=1.0, threads=2):
    """(whether all fit, the copy's bits)"""
    out = np.full((len(x), _core.padded(x.shape[1])), 0xFFFF, np.uint16)
    return _core.copy_to_half(x, unit, out, threads), out


def check_copy(x, unit):
    fits, out = halved(x, unit)
    assert fits
    width = x.shape[1]
    wanted = (x / np.float32(unit)).astype(np.float16)
    assert np.array_equal(out[:, :width], wanted.view(np.uint16))
    assert not out[:, width:].any()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("unit", [1.0, 2.0**-9, 2.0**20])
def test_copies_are_numpys_and_padded_with_zeros(width, unit):
    rng = np.random.default_rng(0)
    check_copy((unit * rng.normal(size=(37, width))).astype(np.float32), unit)


def test_subnormal_numbers_powers_of_two_and_ties_are_numpys():
    powers = np.ldexp(np.float32(1), np.arange(-30, 16))
    subnormal = np.random.default_rng(0).uniform(-1, 1, 200) * 2.0**-14
    ties = 1 + (2 * np.arange(64) + 1) * 2.0**-11
    numbers = np.concatenate([powers, -powers, subnormal, ties, [0.0, -0.0, 65504.0, -65504.0]])
    check_copy(numbers.astype(np.float32).reshape(1, -1), 1.0)
    check_copy(numbers.astype(np.float32).reshape(-1, 1), 1.0)


@pytest.mark.parametrize("bad", [65536.0, -65536.0, 1e30, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (20, 16), (36, 18)])
def test_a_number_beyond_the_range_is_reported(bad, place):
    x = np.ones((37, 19), np.float32)
    assert halved(x)[0]
    x[place] = bad
    assert not halved(x)[0]
    if np.isfinite(bad):
        assert halved(x, 2.0**90)[0]


@pytest.mark.parametrize(
    ("x", "out"),
    [
        (np.ones((3, 5), np.float32), np.zeros((2, 16), np.uint16)),
        (np.ones((3, 5), np.float32), np.zeros((3, 5), np.uint16)),
        (np.ones((3, 17), np.float32), np.zeros((3, 16), np.uint16)),
        (np.ones((3, 5), np.float32), np.zeros((3, 16), np.float32)),
    ],
)
def test_copies_that_do_not_fit_are_exceptions(x, out):
    with pytest.raises((TypeError, ValueError)):
        _core.copy_to_half(x, 1.0, out, 2)


def improved(by_half, case, H, *, unit=1.0, coupling=None, steps=3, relaxation=1.3, threads=2):
    """The users after a call that improves them, given H in the precision named"""
    problem, spectrum = case.problem(), np.full(case.dim, 0.1, np.float32)
    W = problem.users.factors
    call, other = (
        (_core.improve_rows_by_half, (halved(H, unit)[1], unit)) if by_half else (_core.improve_rows, (H,))
    )
    users = problem.users
    options = (spectrum, coupling, steps, 0.0, relaxation, threads)
    outcome = call(users.rows, W, users.regularization, *other, *options)
    return W, outcome


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("unit", [1.0, 2.0**-6])
def test_rows_improved_by_a_copy_are_those_of_the_rounded_factors(width, weights, unit):
    case = make_case(users=40, items=60, dim=width, labels=True, weights=weights)
    rounded = (case.H / np.float32(unit)).astype(np.float16).astype(np.float32) * np.float32(unit)
    assert width == 1 or not np.array_equal(rounded, case.H)
    found, (observed, failed) = improved(True, case, case.H, unit=unit)
    wanted, (wanted_observed, _) = improved(False, case, rounded)
    assert failed == -1
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-5 * np.abs(wanted).max())
    assert observed == pytest.approx(wanted_observed, rel=1e-4)


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_improved_by_a_copy_have_the_same_bits_on_any_number_of_threads(width):
    case = make_case(users=200, items=60, dim=width, weights=True)
    results = [improved(True, case, case.H, threads=threads) for threads in (1, 2, 3)]
    assert len({(W.tobytes(), outcome) for W, outcome in results}) == 1


def test_a_very_long_row_is_improved_by_a_copy_with_the_same_bits_on_any_number_of_threads():
    case = make_case(users=3, items=40_000, dim=5, density=0.9, seed=4)
    assert case.data.by_user.counts.max() > 32768
    results = [improved(True, case, case.H, threads=threads) for threads in (1, 2, 3)]
    assert len({(W.tobytes(), outcome) for W, outcome in results}) == 1
    rounded = case.H.astype(np.float16).astype(np.float32)
    wanted = improved(False, case, rounded)[0]
    np.testing.assert_allclose(results[0][0], wanted, rtol=0, atol=1e-4 * np.abs(wanted).max())


@pytest.mark.parametrize("relaxation", [0.0, 2.0, -1.0, np.nan])
def test_a_relaxation_that_could_raise_the_loss_is_an_exception(relaxation):
    case = make_case(users=4, items=6, dim=3)
    for by_half in (False, True):
        with pytest.raises(ValueError, match="relaxation must be between 0 and 2"):
            improved(by_half, case, case.H, relaxation=relaxation)


def test_a_copy_of_another_width_is_an_exception():
    case = make_case(users=4, items=6, dim=17)
    with pytest.raises(ValueError, match="other's rows must be 32, got 16"):
        improved(True, case, case.H[:, :16].copy())
