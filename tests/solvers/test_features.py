"""Every solver with features, against the float64 reference: its steps, its loss, its bits on any threads."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import drawn
from support.features import KINDS, cases_with_features, drawn_features
from support.judging import largest_error
from support.problems import make_case, solvers_for
from support.reference import Reference

from ialspp import IALS, ICD, Features, IALSpp, Objective, SpectralCG, solvers
from ialspp.errors import InvalidValueError
from ialspp.solvers.spectral import balance_of

BY_BLOCK, BY_SIDE = (IALSpp(block_size=3, sweep=sweep) for sweep in ("block", "side"))
VARIANTS = {
    IALSpp: [BY_BLOCK, BY_SIDE],
    SpectralCG: [SpectralCG(), SpectralCG(tolerance=1e-5), SpectralCG(precision="mixed")],
}
EVERY = [solver for kind in solvers.SOLVERS.values() for solver in VARIANTS.get(kind, [kind()])]
RELAXED = [IALS(), BY_BLOCK, BY_SIDE, SpectralCG(steps=3), SpectralCG(tolerance=1e-6)]
SINGLE = [(dim, solver) for dim in (1, 33) for solver in solvers_for(dim)]


def described(case, kind="numbers", *, users=True, items=True, rho=1.0):
    """The case with features of both sides."""
    case.user_features = drawn_features(len(case.W), kind, 1, rho) if users else None
    case.item_features = drawn_features(len(case.H), kind, 2, rho) if items else None
    return case


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize(("dim", "solver"), SINGLE)
@given(data=st.data())
@drawn(3, fixtures=True)
def test_every_step_of_an_epoch_matches_the_reference(dim, solver, data):
    case, threads = data.draw(cases_with_features(dim)), data.draw(st.integers(1, 3))
    assert largest_error(solver, case, threads=threads) < 1


@pytest.mark.parametrize("solver", RELAXED)
@given(case=cases_with_features(7), relaxation=st.floats(0.01, 1.99))
@drawn(10)
def test_relaxed_steps_match_the_reference(solver, case, relaxation):
    assert largest_error(replace(solver, relaxation=relaxation), case) < 1


def other_features(reference):
    reference.user_map.F = reference.user_map.F * 1.01


def more_regularization(reference):
    reference.user_map.mu *= 1.05


@pytest.mark.parametrize("solver", [*RELAXED, ICD()])
@pytest.mark.parametrize("mistake", [other_features, more_regularization])
def test_the_reference_notices_a_small_mistake(solver, mistake):
    case = described(make_case(users=40, items=30, dim=20, weights=True), rho=10.0)
    reference = case.reference()
    mistake(reference)
    assert largest_error(solver, case, reference=reference) > 1


@pytest.mark.parametrize("solver", EVERY)
@given(case=cases_with_features(7))
@drawn(15)
def test_the_loss_is_the_stated_one_and_never_rises(solver, case):
    problem, losses = case.problem(), [case.reference().loss()]
    for _ in range(4):
        losses.append(problem.loss(solver.epoch(problem)).total)
        features = map_of(case)
        stated = Reference(case.data, case.objective, problem.users.factors, problem.items.factors, *features)
        slack = 1e-3 if getattr(solver, "precision", "") == "mixed" else 1e-5
        assert losses[-1] == pytest.approx(stated.loss(), rel=slack, abs=slack)
    rise = 1e-3 if getattr(solver, "precision", "") == "mixed" else 1e-6
    assert all(after <= before * (1 + rise) + rise for before, after in itertools.pairwise(losses)), losses


def map_of(case):
    reference = case.reference()
    return [(each.F, each.mu / each.lam.mean()) for each in (reference.user_map, reference.item_map)]


@pytest.mark.parametrize("solver", RELAXED)
@given(case=cases_with_features(7), relaxation=st.floats(0.01, 1.99))
@drawn(10)
def test_the_loss_never_rises_with_any_relaxation(solver, case, relaxation):
    problem, relaxed = case.problem(), replace(solver, relaxation=relaxation)
    losses = [case.reference().loss()]
    for _ in range(4):
        losses.append(problem.loss(relaxed.epoch(problem)).total)
    assert all(after <= before * (1 + 1e-6) + 1e-6 for before, after in itertools.pairwise(losses)), losses


@pytest.mark.parametrize("solver", EVERY)
@pytest.mark.parametrize("kind", ["numbers", "more than rows"])
def test_results_have_the_same_bits_on_any_number_of_threads(solver, kind):
    results = []
    for threads in (1, 2, 3):
        problem = described(make_case(users=70, items=40, dim=33), kind).problem(threads)
        for _ in range(2):
            loss = problem.loss(solver.epoch(problem))
        results.append((problem.users.factors.tobytes(), problem.items.factors.tobytes(), loss))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("solver", EVERY)
@pytest.mark.parametrize("kind", ["none", "all zero"])
def test_features_that_say_nothing_change_nothing(solver, kind):
    plain, empty = make_case(users=40, items=30, dim=9), described(make_case(users=40, items=30, dim=9), kind)
    problems = plain.problem(), empty.problem()
    losses = [problem.loss(solver.epoch(problem)) for problem in problems]
    assert losses[0] == losses[1]
    assert problems[0].users.factors.tobytes() == problems[1].users.factors.tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_states_the_loss_and_its_gradient(kind):
    case = described(make_case(users=20, items=15, dim=4, labels=True, weights=True), kind)
    features = {"user_features": case.user_features, "item_features": case.item_features}
    loss = case.objective.loss(case.data, case.W, case.H, **features)
    parts = case.reference().parts()
    assert (loss.observed, loss.unobserved, loss.regularization) == pytest.approx(parts, rel=1e-5)
    gradients = case.objective.gradient(case.data, case.W, case.H, **features)
    for side, found in zip(("users", "items"), gradients, strict=True):
        wanted = [2 * system.g for system in case.reference().systems(side, slice(None))]
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_penalties_with_features_scale_with_the_square_of_a_dimension():
    """This is what the balance of SpectralCG needs."""
    case = described(make_case(users=30, items=20, dim=5))
    problem = case.problem()
    before, balance = problem.penalties(problem.users), balance_of(problem, problem.users, problem.items)
    case.W *= np.float32([1, 2, 4, 0.5, 8])
    scaled = case.problem()
    np.testing.assert_allclose(scaled.penalties(scaled.users), before * [1, 4, 16, 0.25, 64], rtol=1e-5)
    again = balance_of(scaled, scaled.users, scaled.items)
    np.testing.assert_allclose(again, balance / np.sqrt([1, 2, 4, 0.5, 8]), rtol=1e-5)


def test_features_need_regularization():
    free = Objective(regularization=0.0)
    case = described(make_case(users=10, items=8, dim=3, objective=free), users=False)
    with pytest.raises(InvalidValueError, match="item features need regularization > 0 in the objective"):
        case.problem()


def test_features_that_overflow_are_refused():
    case = make_case(users=10, items=8, dim=3)
    case.item_features = Features.from_matrix(np.full((8, 1), 3e38))
    problem = case.problem()  # their squares fit double precision
    assert np.isfinite(problem.loss(IALS().epoch(problem)).total)
