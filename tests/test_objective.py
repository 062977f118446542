"""The loss, its parts and its gradient against the reference and finite differences."""

import numpy as np
import pytest
from hypothesis import given
from support.drawing import drawn
from support.problems import cases, make_case

from ialspp import ImplicitMF, Interactions, Objective
from ialspp.solvers import IALS, ICD, IALSpp, SpectralCG

few = drawn(15)


@given(case=cases(dim=9))
@few
def test_the_parts_of_the_loss_match_the_reference(case):
    loss = case.objective.loss(case.data, case.W, case.H)
    wanted = case.reference().parts()
    assert (loss.observed, loss.unobserved, loss.regularization) == pytest.approx(wanted, rel=1e-6, abs=1e-9)
    assert loss.total == pytest.approx(sum(wanted), rel=1e-6, abs=1e-9)


@given(case=cases(dim=3))
@few
def test_the_gradient_matches_finite_differences(case):
    dW, dH = case.objective.gradient(case.data, case.W, case.H)
    reference, step = case.reference(), 1e-4
    for factors, gradient in ((reference.W, dW), (reference.H, dH)):
        at = (len(factors) // 2, 1)
        factors[at] += step
        up = reference.loss()
        factors[at] -= 2 * step
        down = reference.loss()
        factors[at] += step
        assert gradient[at] == pytest.approx((up - down) / (2 * step), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("solver", [IALS(), ICD(), IALSpp(block_size=5), IALSpp(sweep="block"), SpectralCG()])
def test_the_history_holds_the_exact_loss(solver):
    case = make_case(users=200, items=100, dim=17, labels=True, weights=True)
    model = ImplicitMF(dim=17, solver=solver, objective=case.objective, epochs=3).fit(case.data)
    case.W, case.H = model.user_factors, model.item_factors
    last = model.history[-1]
    assert (last.observed, last.unobserved, last.regularization) == pytest.approx(
        case.reference().parts(), rel=1e-5
    )
    assert last.loss == pytest.approx(case.reference().loss(), rel=1e-6)


def test_rounding_makes_no_part_of_the_loss_negative():
    """A user and an item at right angles: the products of their Gramians sum up to 0, or -7e-8."""
    data, rng = Interactions.from_arrays(user=[0], item=[0]), np.random.default_rng(0)
    for _ in range(20):
        user, item = rng.normal(size=(2, 1, 7))
        item -= (item @ user.T) / (user @ user.T) * user
        assert Objective().loss(data, user, item).unobserved >= 0


def test_row_regularization_follows_the_counts():
    objective = Objective(unobserved_weight=0.5, regularization=0.1, exponent=2.0)
    assert objective.row_regularization(np.array([0, 3]), n_other=4).tolist() == pytest.approx([0.4, 2.5])


def test_exponent_zero_is_the_plain_regularizer():
    plain = Objective(unobserved_weight=0.0, regularization=0.1, exponent=0.0)
    assert plain.row_regularization(np.array([0, 30]), n_other=4).tolist() == pytest.approx([0.1, 0.1])


def test_regularization_that_overflows_is_an_error():
    with pytest.raises(ValueError, match=r"regularization 0\.1 with exponent 50\.0 overflows"):
        Objective(regularization=0.1, exponent=50).row_regularization(np.array([10]), n_other=10)


def test_no_regularization_has_no_exponent_to_overflow():
    objective = Objective(regularization=0, exponent=1000)
    assert objective.row_regularization(np.array([10]), n_other=10).tolist() == [0]


@pytest.mark.parametrize("value", [1e39, 10**400, float("nan"), -1, np.float64(np.inf)])
def test_settings_must_fit_single_precision(value):
    with pytest.raises(ValueError, match="unobserved_weight must be finite in single precision and >= 0"):
        Objective(unobserved_weight=value)


@pytest.mark.parametrize("value", [1j, np.complex64(1), "1", None, True])
def test_settings_must_be_numbers(value):
    with pytest.raises(TypeError, match="regularization must be a number"):
        Objective(regularization=value)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((5, 0), (4, 0)), "at least 1"),
        (((5, 2), (4, 3)), "two matrices of one width"),
        (((4, 2), (5, 2)), "must have 5 and 4 rows"),
        (((5,), (4, 2)), "two matrices of one width"),
    ],
)
def test_factors_of_the_wrong_shape_are_an_error(shapes, message):
    data = make_case(users=5, items=4, dim=2).data
    W, H = (np.ones(shape, dtype=np.float32) for shape in shapes)
    with pytest.raises(ValueError, match=message):
        Objective().loss(data, W, H)
