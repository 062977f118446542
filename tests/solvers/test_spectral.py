"""SpectralCG: the coordinates of a half epoch, and copies in half precision."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import drawn, on_some_isa
from support.features import drawn_features
from support.judging import largest_error
from support.models import fitted, is_finite, losses, make_data, same_bits
from support.problems import Case, cases, make_case
from threadpoolctl import threadpool_limits

from ialspp import IALS, ImplicitMF, Interactions, Objective, SpectralCG, _core
from ialspp.errors import SolveError
from ialspp.solvers import spectral
from ialspp.solvers.half import LEAST_BYTES_TO_HALVE, unit_of
from ialspp.solvers.spectral import LARGEST_BALANCE, Rotation, balance_of, eigenbasis


def test_the_eigenbasis_has_the_same_bits_on_any_number_of_blas_threads():
    factors = np.random.default_rng(0).normal(size=(400, 200))
    gramian, found = factors.T @ factors, []
    for threads in (1, 4):
        with threadpool_limits(threads):
            values, basis = eigenbasis(gramian)
        found.append((values.tobytes(), basis.tobytes()))
    assert found[0] == found[1]


# Balanced penalties


def penalties(problem):
    """(the users', the items'), for every dimension"""
    return [side.regularization @ side.factors.astype(float) ** 2 for side in (problem.users, problem.items)]


def apply(rotation, problem):
    users, items = problem.users.factors.astype(float), problem.items.factors.astype(float)
    return users * rotation.balance @ rotation.basis, items / rotation.balance @ rotation.basis


@given(case=cases(dim=9), scale=st.sampled_from([1e-3, 1.0, 30.0]))
@drawn(30)
def test_coordinates_change_no_score_and_make_penalties_equal(case, scale):
    case.W *= np.float32(scale)
    problem = case.problem()
    rotation = Rotation.of(problem, problem.users, problem.items)
    W, H = apply(rotation, problem)
    scores = case.W.astype(float) @ case.H.astype(float).T
    np.testing.assert_allclose(W @ H.T, scores, rtol=0, atol=1e-6 * max(np.abs(scores).max(), 1e-30))
    np.testing.assert_allclose(H.T @ H, np.diag(rotation.values), rtol=0, atol=1e-5 * rotation.values.max())

    p, q = penalties(problem)
    balanced = rotation.balance**2 * p, q / rotation.balance**2
    np.testing.assert_allclose(*balanced, rtol=1e-5)
    assert sum(balanced).sum() <= (p + q).sum() * (1 + 1e-6)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("precision", ["single", "mixed"])
def test_a_half_epoch_rotates_as_its_coordinates_say(precision):
    case = make_case(users=60, items=40, dim=21, weights=True)
    problem = case.problem(threads=2)
    rotation = Rotation.of(problem, problem.users, problem.items)
    H = apply(rotation, problem)[1]
    SpectralCG(precision=precision).half_epoch(problem, problem.users, problem.items)
    np.testing.assert_allclose(problem.items.factors, H, rtol=0, atol=1e-6 * np.abs(H).max())
    np.testing.assert_allclose(problem.gramian(problem.items), np.diag(rotation.values))


def test_the_balance_of_one_side_is_the_inverse_of_the_others():
    problem = make_case(users=30, items=20, dim=6).problem()
    there = balance_of(problem, problem.users, problem.items)
    back = balance_of(problem, problem.items, problem.users)
    np.testing.assert_allclose(there * back, 1, rtol=1e-12)


def test_dimensions_that_are_zero_on_a_side_are_left_alone():
    case = make_case(users=30, items=20, dim=6)
    case.W[:, 1] = case.H[:, 2] = case.W[:, 3] = case.H[:, 3] = 0
    problem = case.problem()
    balance = balance_of(problem, problem.users, problem.items)
    assert balance[1] == balance[2] == balance[3] == 1
    assert (balance[[0, 4, 5]] != 1).all()


def test_sides_of_very_different_size_are_balanced_within_limits():
    case = make_case(users=30, items=20, dim=4)
    case.W[:, 0] *= np.float32(1e-18)
    case.H[:, 1] *= np.float32(1e-18)
    problem = case.problem()
    balance = balance_of(problem, problem.users, problem.items)
    assert balance[:2].tolist() == [LARGEST_BALANCE, 1 / LARGEST_BALANCE]


@pytest.mark.parametrize("unobserved_weight", [0.0, 0.1])
def test_without_regularization_there_is_nothing_to_balance(unobserved_weight):
    free = Objective(unobserved_weight=unobserved_weight, regularization=0.0)
    case = make_case(users=30, items=20, dim=6, objective=free)
    problem = case.problem()
    assert balance_of(problem, problem.users, problem.items).tolist() == [1] * 6
    model = fitted(solver=SpectralCG(), objective=free, epochs=6)
    assert is_finite(model)
    assert all(after <= before * (1 + 1e-5) for before, after in itertools.pairwise(losses(model)))


# Staying in the coordinates there are


def staying_case(dim, *, users=800, items=40, **options):
    """Two sides with diagonal Gramians, of which one has few rows."""
    case = make_case(users=users, items=items, dim=dim, **options)
    for factors in (case.W, case.H):
        factors[:] = np.linalg.qr(factors)[0] if len(factors) >= dim else factors
    return case


@pytest.fixture
def coupled(monkeypatch):
    """Let the side with few rows stay, whatever the Gramian of the other."""
    monkeypatch.setattr(spectral, "is_nearly_diagonal", lambda _: True)


def stays(solver, problem):
    """Whether the update of users, and that of items, stay"""
    return [
        solver.rotation(problem, *sides) is None
        for sides in ((problem.users, problem.items), (problem.items, problem.users))
    ]


def test_a_side_stays_if_it_has_few_rows_and_the_other_is_nearly_diagonal():
    assert stays(SpectralCG(), staying_case(9).problem()) == [False, True]
    assert stays(SpectralCG(), staying_case(9, users=40, items=800).problem()) == [True, False]
    assert stays(SpectralCG(), staying_case(9, users=800, items=401).problem()) == [False, False]
    assert stays(SpectralCG(), make_case(users=800, items=40, dim=9).problem()) == [False, False]  # by chance
    assert stays(SpectralCG(tolerance=1e-3), staying_case(9).problem()) == [False, False]
    slanted = staying_case(9)
    slanted.W[:, 1] += 0.1 * slanted.W[:, 0]
    assert stays(SpectralCG(), slanted.problem()) == [False, False]


def test_dimensions_that_are_zero_correlate_with_none():
    case = staying_case(9)
    case.W[:, [2, 5]] = 0
    assert stays(SpectralCG(), case.problem()) == [False, True]


STAYING = [
    (dim, solver, options)
    for dim in (1, 7, 33)
    for solver in (SpectralCG(steps=1), SpectralCG(steps=3, relaxation=1.7))
    for options in ({}, {"labels": True, "weights": True, "seed": 1})
]


@pytest.mark.usefixtures("isa", "coupled")
@pytest.mark.parametrize(("isa", "dim", "solver", "options"), on_some_isa(STAYING), indirect=["isa"])
def test_steps_of_rows_that_stay_match_the_reference(dim, solver, options):
    case = make_case(users=120, items=40, dim=dim, **options)
    assert stays(solver, case.problem()) == [False, True]
    assert largest_error(solver, case, threads=2, sides=["items"]) < 1


@pytest.mark.usefixtures("coupled")
def test_rows_that_stay_may_be_very_long():
    case = make_case(users=40_000, items=2, dim=20, density=2.0, weights=True)
    assert case.data.by_item.counts.min() >= 32768
    assert stays(SpectralCG(), case.problem()) == [False, True]
    assert largest_error(SpectralCG(), case, threads=3, sides=["items"]) < 1


@pytest.mark.usefixtures("coupled")
def test_rows_that_stay_are_pulled_to_the_centres_of_their_features():
    case = replace(make_case(users=120, items=40, dim=7), item_features=drawn_features(40, "numbers", seed=0))
    assert stays(SpectralCG(), case.problem()) == [False, True]
    assert largest_error(SpectralCG(), case, threads=2, sides=["items"]) < 1


@pytest.mark.parametrize("precision", ["single", "mixed"])
def test_a_half_epoch_that_stays_moves_no_row_of_the_other_side(precision):
    case = staying_case(21, weights=True)
    problem = case.problem(threads=2)
    SpectralCG(precision=precision).half_epoch(problem, problem.items, problem.users)
    assert np.array_equal(problem.users.factors, case.W)
    assert not np.array_equal(problem.items.factors, case.H)


@pytest.mark.usefixtures("coupled")
@pytest.mark.parametrize("precision", ["single", "mixed"])
@pytest.mark.parametrize("dim", [1, 21, 100])
def test_staying_has_the_same_bits_on_any_number_of_threads(dim, precision):
    case, results = make_case(users=2400, items=40, dim=dim, weights=True), []
    for threads in (1, 2, 3):
        problem, solver = case.problem(threads), SpectralCG(precision=precision)
        assert stays(solver, problem)[1]
        observed = solver.half_epoch(problem, problem.items, problem.users)
        results.append((problem.items.factors.tobytes(), observed))
    assert results.count(results[0]) == len(results)


@given(case=cases(dim=9), relaxation=st.floats(0.01, 1.99), steps=st.integers(1, 4))
@drawn(40)
def test_the_loss_never_rises_where_rows_stay_whatever_the_gramian(case, relaxation, steps):
    solver = SpectralCG(steps=steps, relaxation=relaxation)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spectral, "is_nearly_diagonal", lambda _: True)
        problem, found = case.problem(), [case.reference().loss()]
        for _ in range(4):
            found.append(problem.loss(solver.epoch(problem)).total)
    assert all(after <= before * (1 + 1e-6) + 1e-6 for before, after in itertools.pairwise(found)), found


def test_rows_that_stay_and_overflow_are_an_error_that_names_them():
    case = staying_case(9, labels=True)
    case.H[3] = 1e38
    problem = case.problem()
    with pytest.raises(SolveError, match="no finite solution for item 3"):
        SpectralCG().half_epoch(problem, problem.items, problem.users)


# Half precision


@pytest.mark.parametrize(
    ("mean_square", "unit"),
    [(1.0, 1.0), (0.0, 1.0), (4.0, 2.0), (1 / 64, 1 / 8), (1e300, 2.0**100), (1e-300, 2.0**-100), (3.0, 2.0)],
)
def test_the_unit_is_the_power_of_two_nearest_to_the_size_of_the_numbers(mean_square, unit):
    assert unit_of(mean_square) == unit


@pytest.mark.usefixtures("half_isa")
@pytest.mark.parametrize("relaxation", ["auto", 1.0])
def test_epochs_in_half_precision_end_where_those_in_single_precision_do(relaxation):
    data = make_data(n=600)
    mixed, single = (
        fitted(data, solver=SpectralCG(precision=precision, relaxation=relaxation), epochs=8)
        for precision in ("mixed", "single")
    )
    assert [record.precision for record in mixed.history] == ["mixed"] * 7 + ["single"]
    assert {record.precision for record in single.history} == {"single"}
    assert not same_bits(mixed, single)
    assert losses(mixed) == pytest.approx(losses(single), rel=1e-3)
    last, factors = mixed.history[-1], (mixed.user_factors, mixed.item_factors)
    assert last.loss == pytest.approx(mixed.objective.loss(data, *factors).total, rel=1e-5)


@pytest.mark.usefixtures("half_isa")
@pytest.mark.parametrize("dim", [1, 16, 21, 100])
def test_half_precision_has_the_same_bits_on_any_number_of_threads(dim):
    case = make_case(users=300, items=200, dim=dim, weights=True)
    results = []
    for threads in (1, 2, 3):
        problem, solver = case.problem(threads), SpectralCG(precision="mixed")
        found = [problem.loss(solver.epoch(problem)) for _ in range(2)]
        results.append((problem.users.factors.tobytes(), problem.items.factors.tobytes(), found))
    assert results.count(results[0]) == len(results)


@pytest.mark.usefixtures("half_isa")
def test_an_epoch_in_half_precision_is_that_of_the_rounded_factors():
    case = make_case(users=60, items=40, dim=21, labels=True, weights=True)
    mixed, single = case.problem(), case.problem()
    SpectralCG(precision="mixed").half_epoch(mixed, mixed.users, mixed.items)
    SpectralCG(precision="single").half_epoch(single, single.users, single.items)
    assert np.array_equal(mixed.items.factors, single.items.factors)
    error = np.linalg.norm(mixed.users.factors - single.users.factors)
    assert 0 < error < 1e-3 * np.linalg.norm(single.users.factors)


@pytest.mark.usefixtures("half_isa")
def test_numbers_beyond_half_precision_are_read_in_single_precision(monkeypatch, caplog):
    caplog.set_level("INFO", logger="ialspp")
    case = make_case(users=60, items=40, dim=6)
    mixed, single = case.problem(), case.problem()
    single_loss = SpectralCG(precision="single").epoch(single)
    monkeypatch.setattr(spectral, "unit_of", lambda _: 2.0**-60)
    assert SpectralCG(precision="mixed").epoch(mixed) == single_loss
    said = "the vectors of {}s exceed half precision; they are read in single precision"
    assert caplog.messages == [said.format("item"), said.format("user")]
    assert mixed.users.factors.tobytes() == single.users.factors.tobytes()
    assert mixed.items.factors.tobytes() == single.items.factors.tobytes()


@pytest.mark.usefixtures("half_isa")
@pytest.mark.parametrize("label", [1e6, 1e12, 1e17])
def test_huge_labels_do_not_stop_half_precision(label):
    rng = np.random.default_rng(0)
    user, item = np.divmod(rng.choice(30 * 20, 300, replace=False), 20)
    data = Interactions.from_arrays(user=user, item=item, label=label ** rng.random(300))
    mixed, single = (
        fitted(data, solver=SpectralCG(precision=precision), epochs=6) for precision in ("mixed", "single")
    )
    assert is_finite(mixed)
    assert losses(mixed)[-1] == pytest.approx(losses(single)[-1], rel=1e-2)


def test_a_tolerance_is_always_of_single_precision():
    model = fitted(solver=SpectralCG(tolerance=1e-5, precision="mixed"), epochs=3)
    assert [record.precision for record in model.history] == ["single"] * 3
    assert same_bits(model, fitted(solver=SpectralCG(tolerance=1e-5, precision="single"), epochs=3))


@pytest.mark.usefixtures("isa")
def test_kernels_without_half_precision_stay_in_single_precision():
    history = fitted(solver=SpectralCG(precision="mixed")).history
    expected = ["mixed", "mixed", "single"] if _core.has_half() else ["single"] * 3
    assert [record.precision for record in history] == expected


def test_auto_halves_large_factors_only():
    case = make_case(users=3, items=3, dim=2)
    solver = SpectralCG()
    assert solver.for_epoch(case.problem(), [], last=False).precision == "single"
    rows = LEAST_BYTES_TO_HALVE // (4 * 512)
    data = Interactions.from_arrays(user=[0], item=[0], users=range(rows), items=range(2))
    for dim, expected in ((511, "single"), (512, "mixed" if _core.has_half() else "single")):
        W, H = np.zeros((rows, dim), np.float32), np.ones((2, dim), np.float32)
        problem = Case(data, Objective(), W, H).problem()
        assert solver.for_epoch(problem, [], last=False).precision == expected
        assert solver.for_epoch(problem, [], last=True).precision == "single"


@pytest.mark.parametrize("precision", ["double", None, 16, True])
def test_a_precision_that_is_none_is_refused(precision):
    with pytest.raises(ValueError, match='precision must be "auto", "mixed" or "single"'):
        SpectralCG(precision=precision)


def test_solvers_without_a_choice_record_single_precision():
    assert {record.precision for record in fitted(solver=IALS()).history} == {"single"}
    assert replace(SpectralCG(), precision="mixed").precision == "mixed"
    assert ImplicitMF().solver == SpectralCG(relaxation="auto", precision="auto")
