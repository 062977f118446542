"""Every solver against the float64 reference: every instruction set, dimension, block and thread count."""

import contextlib
import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import drawn, on_some_isa
from support.judging import largest_error, newton_errors, steps_of
from support.problems import Case, cases, make_case, solvers_for
from support.reference import Reference

from ialspp import IALS, ICD, IALSpp, ImplicitMF, Interactions, Objective, SolveError, SpectralCG, solvers
from ialspp.solvers import Problem
from ialspp.solvers.spectral import balance_of

pytestmark = pytest.mark.usefixtures("isa")  # everything here once per instruction set

DIMS = (1, 7, 16, 33, 64, 130)
SOLVERS = [(dim, solver) for dim in DIMS for solver in solvers_for(dim)]
BY_BLOCK, BY_SIDE = (IALSpp(block_size=3, sweep=sweep) for sweep in ("block", "side"))
VARIANTS = {IALSpp: [BY_BLOCK, BY_SIDE], SpectralCG: [SpectralCG(), SpectralCG(tolerance=1e-5)]}
KINDS = [solver for kind in solvers.SOLVERS.values() for solver in VARIANTS.get(kind, [kind()])]
LONG = 40_000  # more than the 32,768 interactions from which a row is shared among threads

few = drawn(3, fixtures=True)


def ill_conditioned():
    """Its factors end 0.003 from where double precision does, each step of them as near as it can."""
    objective = Objective(unobserved_weight=0.02, regularization=0.05, exponent=0.0)
    return make_case(users=10, items=34, dim=130, density=0.88, objective=objective, seed=3369259135)


@pytest.mark.parametrize(("dim", "solver"), SOLVERS)
@given(data=st.data())
@few
def test_every_step_of_an_epoch_matches_the_reference(dim, solver, data):
    case, threads = data.draw(cases(dim)), data.draw(st.integers(1, 3))
    assert largest_error(solver, case, threads=threads) < 1


RELAXED = [IALS(), BY_BLOCK, BY_SIDE, SpectralCG(steps=3), SpectralCG(tolerance=1e-6)]
relaxations = st.floats(0.01, 1.99)


@pytest.mark.parametrize("solver", RELAXED)
@pytest.mark.parametrize("dim", [7, 33])
@given(data=st.data(), relaxation=relaxations)
@few
def test_relaxed_steps_match_the_reference(dim, solver, data, relaxation):
    relaxed = replace(solver, relaxation=relaxation)
    assert largest_error(relaxed, data.draw(cases(dim)), threads=data.draw(st.integers(1, 3))) < 1


@pytest.mark.parametrize("solver", solvers_for(130))
def test_ill_conditioned_steps_match_the_reference(solver):
    case = ill_conditioned()
    assert len(case.data) == 260
    assert largest_error(solver, case) < 1


def more_regularization(reference):
    reference.user_lambda *= 1.01


def a_neighbour_less(reference):
    columns, y, a = reference.by_user[5]
    reference.by_user[5] = columns[1:], y[1:], a[1:]


def larger_labels(reference):
    columns, y, a = reference.by_user[5]
    reference.by_user[5] = columns, 1.001 * y, a


@pytest.mark.parametrize("solver", KINDS)
@pytest.mark.parametrize("mistake", [more_regularization, a_neighbour_less, larger_labels])
def test_the_reference_notices_a_small_mistake(solver, mistake):
    case = make_case(users=40, items=30, dim=20, weights=True)
    reference = case.reference()
    mistake(reference)
    assert largest_error(solver, case, reference=reference) > 1


ALIKE = [(IALSpp(block_size=20, sweep=sweep), IALS()) for sweep in ("block", "side")]
ALIKE += [(IALSpp(block_size=1, sweep="block"), ICD())]


@pytest.mark.parametrize(("solver", "other"), ALIKE)
def test_a_solver_with_the_blocks_of_another_takes_its_steps(solver, other):
    case = make_case(users=40, items=30, dim=20, labels=True, weights=True)
    problem = case.problem()
    solver.epoch(problem)
    assert max(newton_errors(steps_of(other, dim=20), problem, case.reference())) < 1


@pytest.mark.parametrize("relaxation", [0.6, 1.0, 1.7])
def test_conjugate_gradients_to_the_end_are_ials_from_balanced_factors(relaxation):
    case = make_case(users=40, items=30, dim=20, labels=True, weights=True)
    stepped = case.problem()
    balance = balance_of(stepped, stepped.users, stepped.items).astype(np.float32)
    exact = Case(case.data, case.objective, case.W * balance, case.H / balance)
    solved = exact.problem()
    IALS(relaxation=relaxation).epoch(solved)
    SpectralCG(tolerance=1e-6, relaxation=relaxation).half_epoch(stepped, stepped.users, stepped.items)
    scores, wanted = stepped.users.factors @ stepped.items.factors.T, solved.users.factors @ exact.H.T
    assert np.linalg.norm(scores - wanted) < 1e-5 * np.linalg.norm(wanted)


@pytest.mark.parametrize("solver", [SpectralCG(), SpectralCG(tolerance=1e-5)])
def test_an_epoch_of_conjugate_gradients_improves_users_then_items(solver):
    case = make_case(users=40, items=30, dim=20)
    at_once, in_halves = case.problem(), case.problem()
    observed = solver.epoch(at_once)
    solver.half_epoch(in_halves, in_halves.users, in_halves.items)
    assert solver.half_epoch(in_halves, in_halves.items, in_halves.users) == observed
    assert at_once.users.factors.tobytes() == in_halves.users.factors.tobytes()
    assert at_once.items.factors.tobytes() == in_halves.items.factors.tobytes()


LONG_ROWS = [*KINDS, IALSpp(block_size=7, sweep="block"), IALSpp(block_size=20), SpectralCG(steps=3)]


@pytest.mark.parametrize(
    ("isa", "solver", "weights"),
    on_some_isa([(solver, weights) for weights in (False, True) for solver in LONG_ROWS]),
    indirect=["isa"],
)
def test_very_long_rows_match_the_reference(solver, weights):
    case = make_case(users=3, items=LONG, dim=20, density=0.9, weights=weights, seed=4)
    assert case.data.by_user.counts.max() >= 32768
    assert largest_error(solver, case, threads=3, sides=["users"]) < 1

    case = make_case(users=LONG, items=2, dim=20, density=2.0, weights=weights)
    assert case.data.by_item.counts.min() >= 32768
    assert largest_error(solver, case, threads=3, sides=["items"]) < 1


def long_rows():
    """One user with every item among many with one, all of them sharing one item."""
    data = Interactions.from_arrays(
        user=np.concatenate([np.zeros(LONG, int), np.arange(1, LONG)]),
        item=np.concatenate([np.arange(LONG), np.full(LONG - 1, 3)]),
    )
    W, H = np.random.default_rng(0).normal(0, 0.1, (2, LONG, 9)).astype(np.float32)
    return Case(data, Objective(), W, H)


@pytest.mark.parametrize("solver", KINDS)
@given(case=cases(dim=20))
@few
def test_the_loss_of_an_epoch_is_that_of_its_factors(solver, case):
    problem = case.problem()
    for _ in range(2):
        loss = problem.loss(solver.epoch(problem))
    factors = problem.users.factors, problem.items.factors
    again = case.objective.loss(case.data, *factors)
    for part in ("unobserved", "regularization"):
        assert getattr(loss, part) == pytest.approx(getattr(again, part), rel=1e-4, abs=1e-6)
    slack = Reference(case.data, case.objective, *factors).residuals_slack(updates=2 * problem.dim)
    assert np.sqrt(loss.observed) == pytest.approx(np.sqrt(again.observed), abs=slack)


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
    # Such systems turn the last bits of the start into percents. The random one is the same with every BLAS.
    model = ImplicitMF(dim=48, solver=solver, objective=objective, epochs=12, init="random").fit(data)
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


@pytest.mark.parametrize("solver", KINDS)
def test_a_gramian_that_overflows_is_an_error_without_a_warning(solver):
    """Each vector's square fits single precision, and their sum does not."""
    data = Interactions.from_arrays(user=range(40), item=[0] * 40)
    W, H = (np.full((rows, 3), 1e19, np.float32) for rows in (40, 1))
    problem = Case(data, Objective(regularization=0), W, H).problem()
    with pytest.raises(SolveError, match=r"scale (its )?weights or labels down, or raise regularization"):
        solver.epoch(problem)


def test_a_spectrum_that_overflows_is_an_error_without_a_warning():
    data = Interactions.from_arrays(user=["a", "b", "b"], item=["x", "y", "x"])
    model = ImplicitMF(8, objective=Objective(unobserved_weight=3e38))
    with pytest.raises(SolveError, match="user 'a'"):
        model.fit(data)


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
        (lambda: SpectralCG(steps=10**25), "steps must be at most 2147483647, got 1"),
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
