"""Every solver against the float64 reference: every instruction set, dimension, block and thread count."""

import contextlib
import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.problems import (
    Case,
    cases,
    error,
    half_sweep,
    make_case,
    reference_epoch,
    reference_half_sweep,
    solvers_for,
)

from ialspp import IALS, ICD, IALSpp, ImplicitMF, Interactions, Objective, SolveError, SpectralCG, solvers
from ialspp.solvers import Problem

pytestmark = pytest.mark.usefixtures("isa")  # everything here once per instruction set

DIMS = (1, 7, 16, 33, 64, 130)
SOLVERS = [(dim, solver) for dim in DIMS for solver in solvers_for(dim)]
BY_BLOCK, BY_SIDE = (IALSpp(block_size=3, sweep=sweep) for sweep in ("block", "side"))
VARIANTS = {IALSpp: [BY_BLOCK, BY_SIDE], SpectralCG: [SpectralCG(), SpectralCG(tolerance=1e-5)]}
KINDS = [solver for kind in solvers.SOLVERS.values() for solver in VARIANTS.get(kind, [kind()])]
LONG = 40_000  # more than the 32,768 interactions from which a row is shared among threads

few = settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize(("dim", "solver"), SOLVERS)
@given(data=st.data())
@few
def test_a_half_sweep_matches_the_reference(dim, solver, data):
    case, threads = data.draw(cases(dim)), data.draw(st.integers(1, 3))
    check_half_sweep_of_users(solver, case, threads)
    check_half_sweep_of_items(solver, case, threads)


def check_half_sweep_of_users(solver, case, threads):
    problem, reference = case.problem(threads), case.reference()
    half_sweep(solver, problem, problem.users, problem.items)
    reference_half_sweep(solver, reference, "users")
    assert error(problem.users.factors, reference.W, case.W) < 1e-4


def check_half_sweep_of_items(solver, case, threads):
    problem, reference = case.problem(threads), case.reference()
    half_sweep(solver, problem, problem.items, problem.users)
    reference_half_sweep(solver, reference, "items")
    assert error(problem.items.factors, reference.H, case.H) < 1e-4


@pytest.mark.parametrize(("dim", "solver"), SOLVERS)
@given(data=st.data())
@few
def test_an_epoch_matches_the_reference(dim, solver, data):
    case = data.draw(cases(dim))
    problem, reference = case.problem(data.draw(st.integers(1, 3))), case.reference()
    observed = solver.epoch(problem)
    reference_epoch(solver, reference)
    if isinstance(solver, SpectralCG):  # in another basis
        scores = problem.users.factors @ problem.items.factors.T
        assert error(scores, reference.W @ reference.H.T, case.W @ case.H.T) < 1e-3
    else:
        assert error(problem.users.factors, reference.W, case.W) < 1e-3
        assert error(problem.items.factors, reference.H, case.H) < 1e-3
    assert observed == pytest.approx(reference.parts()[0], rel=1e-3, abs=1e-6)


@pytest.mark.parametrize(
    "solver", [*KINDS, IALSpp(block_size=7, sweep="block"), IALSpp(block_size=33), SpectralCG(steps=3)]
)
@pytest.mark.parametrize("weights", [False, True])
def test_very_long_rows_match_the_reference(solver, weights):
    case = make_case(users=3, items=LONG, dim=33, density=0.9, weights=weights, seed=4)
    assert case.data.by_user.counts.max() >= 32768
    check_half_sweep_of_users(solver, case, threads=3)

    case = make_case(users=LONG, items=2, dim=33, density=2.0, weights=weights)
    assert case.data.by_item.counts.min() >= 32768
    check_half_sweep_of_items(solver, case, threads=3)


def long_rows():
    """One user with every item among many with one, all of them sharing one item."""
    data = Interactions.from_arrays(
        user=np.concatenate([np.zeros(LONG, int), np.arange(1, LONG)]),
        item=np.concatenate([np.arange(LONG), np.full(LONG - 1, 3)]),
    )
    W, H = np.random.default_rng(0).normal(0, 0.1, (2, LONG, 9)).astype(np.float32)
    return Case(data, Objective(), W, H)


@given(case=cases(dim=20))
@few
def test_one_block_of_everything_is_ials(case):
    exact, blocked = case.problem(), case.problem()
    IALS().epoch(exact)
    IALSpp(block_size=20, sweep="block").epoch(blocked)
    assert error(blocked.items.factors, exact.items.factors, case.H) < 1e-3


@given(case=cases(dim=20))
@few
def test_blocks_of_one_are_icd(case):
    scalar, blocked = case.problem(), case.problem()
    ICD().epoch(scalar)
    IALSpp(block_size=1, sweep="block").epoch(blocked)
    assert error(blocked.items.factors, scalar.items.factors, case.H) < 1e-3


@given(case=cases(dim=20))
@few
def test_conjugate_gradients_to_the_end_are_ials(case):
    exact, stepped = case.problem(), case.problem()
    IALS().epoch(exact)
    SpectralCG(tolerance=1e-6).epoch(stepped)
    scores = [problem.users.factors @ problem.items.factors.T for problem in (stepped, exact)]
    assert error(*scores, case.W @ case.H.T) < 1e-4


@pytest.mark.parametrize("solver", KINDS)
@given(case=cases(dim=20))
@few
def test_the_loss_of_an_epoch_is_that_of_its_factors(solver, case):
    problem = case.problem()
    for _ in range(2):
        loss = problem.loss(solver.epoch(problem))
    again = case.objective.loss(case.data, problem.users.factors, problem.items.factors)
    for part in ("observed", "unobserved", "regularization"):
        assert getattr(loss, part) == pytest.approx(getattr(again, part), rel=1e-4, abs=1e-6)


@given(case=cases(dim=12))
@few
def test_the_gradient_is_zero_after_an_exact_update(case):
    problem = case.problem()
    _, before = case.objective.gradient(case.data, case.W, case.H)
    IALS().epoch(problem)
    _, after = case.objective.gradient(case.data, problem.users.factors, problem.items.factors)
    assert np.linalg.norm(after) <= 1e-4 * max(np.linalg.norm(before), 1)


@pytest.mark.parametrize("solver", KINDS)
@given(case=cases(dim=12))
@few
def test_the_loss_never_rises(solver, case):
    problem = case.problem()
    losses = [case.reference().loss()]
    for _ in range(4):
        losses.append(problem.loss(solver.epoch(problem)).total)
    assert all(after <= before * (1 + 1e-6) + 1e-6 for before, after in itertools.pairwise(losses))


@pytest.mark.parametrize("solver", KINDS)
@pytest.mark.parametrize("make", [lambda: make_case(users=300, items=200, dim=21, weights=True), long_rows])
def test_bits_are_equal_on_any_number_of_threads(solver, make):
    case = make()
    results = []
    for threads in (1, 2, 3, 16):
        problem = case.problem(threads)
        losses = [problem.loss(solver.epoch(problem)) for _ in range(2)]
        results.append((problem.users.factors.tobytes(), problem.items.factors.tobytes(), losses))
    assert results.count(results[0]) == len(results)


@pytest.mark.parametrize("solver", KINDS)
def test_nothing_to_hold_a_row_in_place_still_gives_finite_factors(solver):
    free = Objective(unobserved_weight=0.0, regularization=0.0)
    case = make_case(users=30, items=6, dim=20, density=0.2, objective=free)
    assert (case.data.by_user.counts == 0).any()
    problem = case.problem()
    before = case.reference().loss()
    for _ in range(5):
        solver.epoch(problem)
        assert np.isfinite(problem.users.factors).all()
        assert np.isfinite(problem.items.factors).all()
    assert free.loss(case.data, problem.users.factors, problem.items.factors).total <= before


@pytest.mark.parametrize("solver", KINDS)
@pytest.mark.parametrize("weight", [1e-30, 1e10, 1e20, 3e38])
def test_extreme_weights_give_finite_factors_or_name_the_row(solver, weight):
    data = Interactions.from_arrays(user=["a", "a", "b"], item=["x", "y", "y"], weight=[weight, 1.0, weight])
    model, failure = ImplicitMF(dim=9, solver=solver, epochs=6), "user 'a'"
    try:
        model.fit(data)
    except SolveError as error:
        failure = str(error)
    assert any(name in failure for name in ("user 'a'", "user 'b'", "item 'x'", "item 'y'"))
    if model.history:
        assert np.isfinite(model.user_factors).all()
        assert np.isfinite(model.item_factors).all()


@pytest.mark.parametrize("solver", [IALS(), IALSpp(block_size=24)])
def test_the_loss_does_not_rise_where_systems_are_nearly_singular(solver):
    rng = np.random.default_rng(0)
    data = Interactions.from_arrays(
        user=rng.integers(0, 60, 900), item=rng.integers(0, 40, 900), weight=10 ** rng.uniform(-6, 6, 900)
    )
    objective = Objective(unobserved_weight=0.1, regularization=0.0)
    model = ImplicitMF(dim=48, solver=solver, objective=objective, epochs=12).fit(data)
    losses = [record.loss for record in model.history]
    # rows with weights from 1e-6 to 1e6 leave single precision a percent of slack
    assert all(after <= 1.01 * before for before, after in itertools.pairwise(losses)), losses


@pytest.mark.parametrize("label", [3e18, 1e30, 3e38])
@pytest.mark.parametrize("solver", KINDS)
def test_extreme_labels_give_finite_factors_or_an_error(solver, label):
    data = Interactions.from_arrays(user=["a", "b"], item=["x", "y"], label=[label, 1.0])
    model = ImplicitMF(dim=8, solver=solver, epochs=4)
    with contextlib.suppress(SolveError):
        model.fit(data)
    if model.history:
        assert np.isfinite(model.user_factors).all()
        assert np.isfinite(model.item_factors).all()


def test_curvature_that_overflows_is_an_error_not_a_row_left_alone():
    data = Interactions.from_arrays(user=[0], item=[0], weight=[1e38], label=[0.1])
    W, H = np.full((2, 1, 2), 2, np.float32)
    problem = Case(data, Objective(), W, H).problem()
    with pytest.raises(SolveError, match="user 0"):
        SpectralCG().epoch(problem)


def test_a_row_that_overflows_is_named_with_a_remedy():
    data = Interactions.from_arrays(
        user=["fine", "bad"], item=["x", "x"], label=[1.0, 3e38], weight=[1.0, 3e38]
    )
    with pytest.raises(SolveError, match=r"user 'bad' \(user row 0\).*scale its weights or labels down"):
        ImplicitMF(dim=3, solver=IALS(), epochs=1).fit(data)


def test_one_user_and_one_item():
    for solver in KINDS:
        data = Interactions.from_arrays(user=[7], item=[-3])
        model = ImplicitMF(dim=8, solver=solver, epochs=12).fit(data)
        assert 0.5 < (model.user_factors @ model.item_factors.T).item() < 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IALSpp(block_size=0), "at least 1, got 0"),
        (lambda: IALSpp(block_size=2.5), 'an integer or "auto", got 2.5'),
        (lambda: IALSpp(block_size=True), 'an integer or "auto", got True'),
        (lambda: SpectralCG(steps=0), "steps must be at least 1, got 0"),
        (lambda: SpectralCG(steps=1.5), "steps must be an integer, got 1.5"),
        (lambda: SpectralCG(tolerance=-1e-3), "tolerance must be finite in single precision and >= 0"),
        (lambda: IALSpp(sweep="rows"), '"side" or "block", got \'rows\''),
        (
            lambda: IALSpp(block_size=17).epoch(make_case(users=3, items=3, dim=16).problem()),
            r"dim \(16\), got 17",
        ),
    ],
)
def test_bad_options_say_what_is_required(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: IALS(block_size=4),
        lambda: ICD(sweep="side"),
        lambda: IALSpp(steps=2),
        lambda: SpectralCG(block_size=4),
    ],
)
def test_options_a_solver_does_not_use_are_not_accepted(make):
    with pytest.raises(TypeError):
        make()


def test_unweighted_data_carries_no_weights_or_labels():
    data = Interactions.from_arrays(user=[0, 1], item=[0, 1], label=[1, 1], weight=[1.0, 1.0])
    assert data.by_user.labels is None
    assert data.by_item.weights is None
    assert isinstance(Problem.of(data, Objective(), np.ones((2, 1), "f4"), np.ones((2, 1), "f4"), 1), Problem)
