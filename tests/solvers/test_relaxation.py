"""Over-relaxation: the loss falls with any of it, and "auto" follows the rate at which it falls."""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.drawing import drawn
from support.models import fitted, make_data, same_bits
from support.problems import make_case

from ialspp import IALS, IALSpp, Objective, SpectralCG
from ialspp.solvers.relaxation import LARGEST, LARGEST_RISE, RAMP, next_relaxation

BY_BLOCK, BY_SIDE = (IALSpp(block_size=3, sweep=sweep) for sweep in ("block", "side"))
KINDS = [IALS(), BY_BLOCK, BY_SIDE, SpectralCG(), SpectralCG(steps=1), SpectralCG(tolerance=1e-5)]


# The loss


@st.composite
def hard_cases(draw):
    """Few rows, rows without interactions, and next to nothing that holds vectors in place."""
    exponent = draw(st.sampled_from([0.0, 0.5, 1.0]))
    objective = Objective(
        unobserved_weight=draw(st.sampled_from([0.02, 0.5] + [0.0] * (exponent == 0))),
        regularization=draw(st.sampled_from([1e-4, 0.05, 2.0])),
        exponent=exponent,
    )
    return make_case(
        users=draw(st.sampled_from([1, 2, 30])),
        items=draw(st.sampled_from([1, 3, 25])),
        dim=draw(st.sampled_from([3, 7, 12])),
        density=draw(st.sampled_from([0.1, 0.5, 0.9])),
        labels=draw(st.booleans()),
        weights=draw(st.booleans()),
        objective=objective,
        seed=draw(st.integers(0, 2**32 - 1)),
    )


@pytest.mark.parametrize("solver", KINDS)
@given(case=hard_cases(), relaxation=st.floats(0.01, 1.99))
@drawn(20)
def test_the_loss_never_rises_with_any_relaxation(solver, case, relaxation):
    problem, relaxed = case.problem(), replace(solver, relaxation=relaxation)
    losses = [case.reference().loss()]
    for _ in range(4):
        losses.append(problem.loss(relaxed.epoch(problem)).total)
    assert all(after <= before * (1 + 1e-6) + 1e-6 for before, after in itertools.pairwise(losses)), losses


@pytest.mark.parametrize("init", ["spectral", "random"])
@given(seed=st.integers(0, 2**32 - 1), precision=st.sampled_from(["single", "mixed"]))
@drawn(5)
def test_the_loss_never_rises_with_the_relaxation_that_is_chosen(init, seed, precision):
    model = fitted(make_data(seed=seed), solver=SpectralCG(precision=precision), init=init, epochs=10)
    losses = [record.loss for record in model.history]
    slack = 1e-6 if precision == "single" else 1e-3  # half precision has eleven bits
    assert all(after <= before * (1 + slack) for before, after in itertools.pairwise(losses)), losses


@pytest.mark.parametrize("solver", [IALS(), IALSpp(), BY_BLOCK, BY_SIDE])
def test_the_papers_solvers_relax_nothing_unless_told_to(solver):
    assert solver == replace(solver, relaxation=1.0) == replace(solver, relaxation=1)
    assert same_bits(fitted(solver=solver), fitted(solver=replace(solver, relaxation=1)))
    assert not same_bits(fitted(solver=solver), fitted(solver=replace(solver, relaxation=1.25)))
    assert [record.relaxation for record in fitted(solver=solver).history] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("solver", [IALS(), IALSpp(), SpectralCG()])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "relaxation must be > 0 and < 2, got 0"),
        (2, "relaxation must be > 0 and < 2, got 2"),
        (3.5, "relaxation must be > 0 and < 2, got 3.5"),
        (-1, "relaxation must be .*-1"),
        (np.nan, "relaxation must be .*nan"),
        (np.inf, "relaxation must be .*inf"),
        ("1.5", "relaxation must be a number, got '1.5'"),
        (True, "relaxation must be a number, got True"),
        (None, "relaxation must be a number, got None"),
    ],
)
def test_a_relaxation_that_could_raise_the_loss_is_refused(solver, value, message):
    with pytest.raises((TypeError, ValueError), match=message):
        replace(solver, relaxation=value)


@pytest.mark.parametrize("solver", [IALS, IALSpp])
def test_only_spectral_cg_chooses_a_relaxation(solver):
    with pytest.raises(TypeError, match="relaxation must be a number, got 'auto'"):
        solver(relaxation="auto")


# The choice


@dataclass(frozen=True)
class Past:
    """What the choice knows of an epoch."""

    loss: float
    relaxation: float


def past_of(losses, relaxation):
    return [Past(loss, relaxation) for loss in losses]


def shrinkage(rho, w):
    """The factor of the error in an epoch: the larger root s of (s + w - 1)^2 = s w^2 rho."""
    b = (w**2 * rho - 2 * (w - 1)) / 2
    return b + math.sqrt(b**2 - (w - 1) ** 2)


def test_the_first_epochs_take_a_ramp_whatever_their_losses_are():
    for losses in ([], [5.0], [5.0, 7.0]):
        assert next_relaxation(past_of(losses, 1.0)) == RAMP[len(losses)]


@given(rho=st.floats(0.3, 0.97), start=st.floats(0.1, 1e6), lowest=st.floats(0, 1e6), share=st.floats(0, 1))
@example(rho=0.5, start=1.0, lowest=10.0, share=0.0)
def test_the_relaxation_approaches_the_best_one_of_the_rate(rho, start, lowest, share):
    best = 2 / (1 + math.sqrt(1 - rho))
    w = 1 + share * (best - 1) * 0.99  # below the best one the error shrinks by a real factor
    s = shrinkage(rho, w)
    losses = [lowest + start * s ** (2 * k) for k in range(4)]
    if losses[2] - losses[3] < 1e-6 * losses[0]:
        return  # nothing but rounding is left of such a fall
    wanted = min(max(best, w), w + LARGEST_RISE, LARGEST)
    assert next_relaxation(past_of(losses, w)) == pytest.approx(wanted, abs=0.02)


def test_the_estimate_is_the_best_relaxation_once_it_is_reached():
    rho = 0.8
    best = 2 / (1 + math.sqrt(1 - rho))
    w = best - 0.01
    s = shrinkage(rho, w)
    assert next_relaxation(past_of([100 * s ** (2 * k) for k in range(3)], w)) == pytest.approx(
        best, abs=1e-9
    )


@given(
    losses=st.lists(st.floats(1e-3, 1e9), min_size=3, max_size=8),
    relaxation=st.floats(1.0, LARGEST),
)
@example(losses=[3.0, 2.0, 1.0], relaxation=LARGEST)
@example(losses=[1.0, 1.0, 1.0], relaxation=1.5)
def test_a_choice_moves_little_and_stays_between_1_and_the_largest(losses, relaxation):
    past = past_of(losses, relaxation)
    chosen = next_relaxation(past)
    assert 1 <= chosen <= LARGEST
    assert relaxation <= chosen <= relaxation + LARGEST_RISE + 1e-12
    assert next_relaxation(past) == chosen  # nothing is remembered


@pytest.mark.parametrize(
    "losses", [[5, 5, 5], [5, 4, 4], [5, 5, 4], [4, 5, 4], [5, 4, 6], [3, 4, 5], [0, 0, 0]]
)
def test_losses_that_do_not_fall_keep_the_relaxation(losses):
    assert next_relaxation(past_of([9, *losses], 1.37)) == 1.37


def test_a_fall_that_grows_is_the_slowest_rate():
    assert next_relaxation(past_of([10, 9, 5], 1.5)) == pytest.approx(1.5 + LARGEST_RISE)
    assert next_relaxation(past_of([10, 9, 5], LARGEST)) == LARGEST


@pytest.mark.parametrize("w", [1.1, 1.5, 1.8])
def test_past_the_best_relaxation_the_choice_stays(w):
    """There the error shrinks by w - 1, whatever the rate would be with relaxation 1."""
    losses = [5 + (w - 1) ** (2 * k) for k in range(3)]
    assert next_relaxation(past_of(losses, w)) == pytest.approx(w, abs=1e-6)


# In a fit


def test_a_fit_records_the_relaxations_that_follow_from_its_losses():
    model = fitted(solver=SpectralCG(), epochs=8)
    for done, record in enumerate(model.history):
        assert record.relaxation == next_relaxation(model.history[:done])
    assert [record.relaxation for record in model.history[:3]] == list(RAMP)
    assert {record.relaxation for record in fitted(solver=SpectralCG(relaxation=0.9)).history} == {0.9}


@pytest.mark.parametrize("first", [1, 3, 5])
def test_a_fit_in_two_parts_chooses_as_a_fit_in_one(first):
    data, solver = make_data(), SpectralCG(precision="single")
    whole = fitted(data, solver=solver, epochs=6)
    parts = fitted(data, solver=solver, epochs=first)
    parts.set_params(epochs=6 - first).fit(data, warm_start=True, progress=False)
    assert same_bits(whole, parts)
    for record, other in zip(whole.history, parts.history, strict=True):
        assert replace(record, seconds=0) == replace(other, seconds=0)
