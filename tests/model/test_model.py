"""Training: settings, history, callbacks, warm starts, bad and extreme input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.models import (
    DIM,
    ITEMS,
    N_ITEMS,
    N_USERS,
    NUMBERS,
    each_solver,
    factors,
    fitted,
    is_finite,
    losses,
    make_data,
    make_model,
    properties,
    same_bits,
    seen,
)

from ialspp import (
    IALS,
    ICD,
    IALSpp,
    ImplicitMF,
    Interactions,
    NotFittedError,
    Objective,
    SolveError,
    SpectralCG,
)

# Fitting


def test_fit_returns_the_model_with_read_only_factors_in_row_order():
    data, model = make_data(), make_model()
    assert model.fit(data, progress=False) is model
    assert model.users == data.users
    assert model.items == data.items
    for array, n in (model.user_factors, N_USERS), (model.item_factors, N_ITEMS):
        assert array.dtype == np.float32
        assert array.shape == (n, DIM)
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


@each_solver
@pytest.mark.parametrize("numbers", NUMBERS)
def test_history_holds_the_loss_of_the_factors_in_its_parts(solver, numbers):
    objective = Objective(unobserved_weight=0.2, regularization=0.05, exponent=0.5)
    data = make_data(numbers=numbers)
    model = fitted(data, solver=solver, objective=objective, epochs=4)
    assert [r.epoch for r in model.history] == [1, 2, 3, 4]
    assert all(r.seconds > 0 for r in model.history)
    for r in model.history:
        assert r.loss == pytest.approx(r.observed + r.unobserved + r.regularization, rel=1e-12)
    W, H = (f.astype(float) for f in factors(model))
    S, scores = data.by_user, W @ H.T
    a, y = (1 if x is None else x for x in (S.weights, S.labels))
    observed = a * (scores[np.repeat(np.arange(N_USERS), S.counts), S.columns] - y) ** 2
    last = model.history[-1]
    assert last.observed == pytest.approx(observed.sum(), rel=1e-4)
    assert last.unobserved == pytest.approx(0.2 * np.sum(scores**2), rel=1e-4)
    lam_users = 0.05 * (S.counts + 0.2 * N_ITEMS) ** 0.5
    lam_items = 0.05 * (data.by_item.counts + 0.2 * N_USERS) ** 0.5
    penalty = lam_users @ np.sum(W**2, axis=1) + lam_items @ np.sum(H**2, axis=1)
    assert last.regularization == pytest.approx(penalty, rel=1e-4)


@given(
    seed=st.integers(0, 2**32),
    n=st.integers(1, 400),
    numbers=st.sampled_from(NUMBERS),
    dim=st.integers(1, 12),
    solver=st.sampled_from([IALS(), ICD(), IALSpp(), IALSpp(block_size=1, sweep="block"), SpectralCG()]),
    unobserved_weight=st.sampled_from([0, 0.1, 1]),
    regularization=st.sampled_from([0.001, 0.1, 1]),
    exponent=st.sampled_from([0, 0.5, 1]),
)
@properties
def test_the_loss_never_goes_up(seed, n, numbers, dim, solver, unobserved_weight, regularization, exponent):
    objective = Objective(
        unobserved_weight=unobserved_weight, regularization=regularization, exponent=exponent
    )
    model = fitted(
        make_data(seed=seed, n=n, numbers=numbers), dim=dim, solver=solver, objective=objective, epochs=5
    )
    assert is_finite(model)
    assert (np.diff(losses(model)) <= 1e-5 * losses(model)[0]).all()


@each_solver
@pytest.mark.parametrize("numbers", NUMBERS)
def test_the_number_of_threads_changes_no_bit(solver, numbers):
    data = make_data(numbers=numbers)
    one = fitted(data, solver=solver, threads=1)
    for threads in 2, 3, 16:
        other = fitted(data, solver=solver, threads=threads)
        assert same_bits(one, other)
        assert losses(one) == losses(other)


def test_the_seed_and_nothing_else_is_the_randomness():
    assert same_bits(fitted(seed=5), fitted(seed=5))
    assert not same_bits(fitted(seed=5), fitted(seed=6))


def test_initial_factors_come_from_independent_streams():
    streams = [f for seed in range(4) for f in factors(fitted(epochs=0, init="random", seed=seed))]
    leading = {f[0].tobytes() for f in streams}
    assert len(leading) == len(streams)
    rows = np.array([f[:N_ITEMS].ravel() for f in streams])
    correlation = np.corrcoef(rows) - np.eye(len(rows))
    assert np.abs(correlation).max() < 5 / np.sqrt(rows.shape[1])


def test_no_epochs_leave_the_random_initial_factors():
    data = make_data(users=1000)
    model = fitted(data, epochs=0, init="random", init_stddev=0.3)
    assert model.history == []
    known = data.by_user.counts > 0
    assert model.user_factors[known].mean() == pytest.approx(0, abs=0.01)
    assert model.user_factors[known].std() == pytest.approx(0.3 / np.sqrt(DIM), rel=0.05)
    assert not model.user_factors[~known].any()
    assert len(model.recommend(0, 5)) == 5


@each_solver
def test_a_warm_start_goes_on_where_the_last_fit_was(solver):
    data = make_data()
    whole = fitted(data, solver=solver, epochs=4)
    halves = fitted(data, solver=solver, epochs=2).fit(data, warm_start=True, progress=False)
    assert same_bits(whole, halves)
    assert [r.epoch for r in halves.history] == [1, 2, 3, 4]
    assert losses(halves) == losses(whole)


def test_a_second_fit_without_warm_start_begins_anew():
    first, second = make_data(seed=1), make_data(seed=2)
    again = fitted(first).fit(second, progress=False)
    assert same_bits(again, fitted(second))
    assert [r.epoch for r in again.history] == [1, 2, 3]


def test_a_warm_start_takes_new_interactions_of_the_same_ids():
    model = fitted(make_data(seed=1)).fit(make_data(seed=2), warm_start=True, progress=False)
    assert len(model.history) == 6
    assert seen(make_data(seed=2), 0).isdisjoint(model.recommend(0, N_ITEMS))


@pytest.mark.parametrize(
    ("axis", "other"),
    [
        ("user", make_data(users=N_USERS + 1)),
        ("user", make_data(user_id=str)),
        ("item", make_data(items=ITEMS[::-1])),
    ],
)
def test_a_warm_start_with_other_ids_is_an_error_and_changes_nothing(axis, other):
    model = fitted()
    before = factors(model)
    with pytest.raises(ValueError, match=f"warm_start.*{axis}s"):
        model.fit(other, warm_start=True, progress=False)
    assert all(np.array_equal(a, b) for a, b in zip(before, factors(model), strict=True))
    assert len(model.history) == 3
    assert len(model.recommend(0, 2)) == 2


def test_callbacks_get_the_model_and_each_record():
    calls, model = [], make_model(epochs=3)
    model.fit(
        make_data(),
        callbacks=[lambda m, r: calls.append(("a", m, r)), lambda m, r: calls.append(("b", m, r))],
        progress=False,
    )
    assert [(name, r.epoch) for name, _, r in calls] == [(c, e) for e in (1, 2, 3) for c in "ab"]
    assert all(m is model for _, m, _ in calls)
    assert [r for name, _, r in calls if name == "a"] == model.history


def test_a_callback_sees_the_factors_of_its_epoch():
    seen_bits = []
    fitted_model = make_model(epochs=2).fit(
        make_data(), callbacks=[lambda m, _: seen_bits.append(m.user_factors.tobytes())], progress=False
    )
    assert seen_bits == [fitted(epochs=1).user_factors.tobytes(), fitted_model.user_factors.tobytes()]


def test_a_callback_that_returns_true_stops_the_fit():
    model = make_model(epochs=9).fit(make_data(), callbacks=[lambda _, r: r.epoch == 2], progress=False)
    assert same_bits(model, fitted(epochs=2))
    assert len(model.history) == 2


def test_an_interrupted_fit_leaves_a_usable_model():
    def interrupt(_, record):
        if record.epoch == 2:
            raise KeyboardInterrupt

    data, model = make_data(), make_model(epochs=4)
    with pytest.raises(KeyboardInterrupt):
        model.fit(data, callbacks=[interrupt], progress=False)
    assert same_bits(model, fitted(data, epochs=2))
    assert len(model.recommend(0, 3)) == 3
    model.fit(data, warm_start=True, progress=False)
    assert same_bits(model, fitted(data, epochs=6))
    assert [r.epoch for r in model.history] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("progress", [False, None])
def test_no_progress_is_drawn_off_a_terminal(progress, capfd):
    make_model().fit(make_data(), progress=progress)
    assert "".join(capfd.readouterr()) == ""


# Bad and extreme input


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: m.user_factors,
        lambda m: m.item_factors,
        lambda m: m.users,
        lambda m: m.items,
        lambda m: m.recommend(1),
        lambda m: m.recommend_for([["item-1"]]),
        lambda m: m.similar_items("item-1"),
        lambda m: m.fold_in([["item-1"]]),
        lambda m: m.fit(make_data(), warm_start=True),
    ],
)
def test_a_model_that_is_not_fitted_says_so(ask):
    with pytest.raises(NotFittedError, match="fit"):
        ask(make_model())


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: ImplicitMF(0), ValueError, "dim.*0"),
        (lambda: ImplicitMF(2.5), TypeError, r"dim.*2\.5"),
        (lambda: ImplicitMF("8"), TypeError, "dim.*'8'"),
        (lambda: ImplicitMF(True), TypeError, "dim.*True"),
        (lambda: ImplicitMF(8, epochs=-1), ValueError, "epochs.*-1"),
        (lambda: ImplicitMF(8, epochs=1.0), TypeError, r"epochs.*1\.0"),
        (lambda: ImplicitMF(8, threads=0), ValueError, "threads.*0"),
        (lambda: ImplicitMF(8, threads=1.5), TypeError, r"threads.*1\.5"),
        (lambda: ImplicitMF(8, seed="x"), TypeError, "seed.*'x'"),
        (lambda: ImplicitMF(8, seed=-1), ValueError, "seed.*-1"),
        (lambda: ImplicitMF(8, init="random", init_stddev=np.nan), ValueError, "init_stddev.*nan"),
        (lambda: ImplicitMF(8, init="random", init_stddev=1e39), ValueError, r"init_stddev.*1e\+39"),
        (lambda: ImplicitMF(8, init="random", init_stddev="x"), TypeError, "init_stddev.*'x'"),
        (lambda: ImplicitMF(8, solver="ials"), TypeError, "solver.*'ials'"),
        (lambda: ImplicitMF(8, solver=IALS), TypeError, "solver.*IALS"),
        (lambda: ImplicitMF(8, objective=0.1), TypeError, r"objective.*0\.1"),
        (lambda: Objective(regularization=-1), ValueError, "regularization.*-1"),
        (lambda: Objective(regularization=np.nan), ValueError, "regularization.*nan"),
        (lambda: Objective(regularization="x"), TypeError, "regularization.*'x'"),
        (lambda: Objective(unobserved_weight=-0.1), ValueError, r"unobserved_weight.*-0\.1"),
        (lambda: Objective(unobserved_weight=np.inf), ValueError, "unobserved_weight.*inf"),
        (lambda: Objective(unobserved_weight=None), TypeError, "unobserved_weight.*None"),
        (lambda: Objective(exponent=np.nan), ValueError, "exponent.*nan"),
        (lambda: IALSpp(block_size=0), ValueError, "block_size.*0"),
        (lambda: IALSpp(block_size=2.5), TypeError, r"block_size.*2\.5"),
        (lambda: IALSpp(block_size="all"), TypeError, "block_size.*'all'"),
        (lambda: IALSpp(sweep="rows"), ValueError, "sweep.*'rows'"),
    ],
)
def test_bad_settings_are_errors_that_name_them(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("settings", "data", "error", "message"),
    [
        ({"solver": IALSpp(block_size=9)}, make_data(), ValueError, "block_size.*8.*9"),
        ({}, Interactions.from_arrays(user=[], item=[]), ValueError, "no interactions"),
        ({}, Interactions.from_arrays(user=[], item=[], users=[1], items=[2]), ValueError, "no interactions"),
        ({}, np.ones((2, 2)), TypeError, "Interactions.*ndarray"),
        ({}, None, TypeError, "Interactions.*None"),
    ],
)
def test_what_cannot_be_fitted_is_an_error(settings, data, error, message):
    with pytest.raises(error, match=message):
        make_model(**settings).fit(data, progress=False)


def test_integer_settings_may_be_numpy_integers():
    eight = np.int64(8)
    model = fitted(
        dim=eight, solver=IALSpp(block_size=eight), epochs=np.int32(2), seed=eight, threads=np.int8(2)
    )
    assert same_bits(model, fitted(solver=IALSpp(block_size=8), epochs=2, seed=8))


@each_solver
@pytest.mark.parametrize("weight", [0, 1e-38, 1])
def test_without_any_regularization_factors_stay_finite(solver, weight):
    data = Interactions.from_arrays(
        user=[0, 0, 1, 2], item=[0, 1, 1, 3], weight=[weight] * 4, users=range(6), items=range(5)
    )
    model = fitted(data, solver=solver, objective=Objective(unobserved_weight=0, regularization=0), epochs=6)
    assert is_finite(model)
    assert np.isfinite(losses(model)).all()
    assert all(np.isfinite(ranking.scores).all() for ranking in model.recommend(range(6), 5))


@each_solver
@pytest.mark.parametrize("objective", [Objective(), Objective(unobserved_weight=0, regularization=0)])
@pytest.mark.parametrize(("weight", "label"), [(1e30, 1), (3e38, 1), (1, 1e20), (3e38, 3e38)])
def test_enormous_numbers_stay_finite_or_are_an_error_naming_the_row(solver, objective, weight, label):
    rng = np.random.default_rng(0)
    pairs = np.unique(rng.integers(0, 20, (150, 2)), axis=0)
    weights, labels = (np.where(rng.random(len(pairs)) < 0.2, x, 1) for x in (weight, label))
    user, item = ([f"{kind}{n}" for n in column] for kind, column in zip("ui", pairs.T, strict=True))
    data = Interactions.from_arrays(user=user, item=item, weight=weights, label=labels)
    model, message = make_model(solver=solver, objective=objective), None
    try:
        model.fit(data, progress=False)
    except SolveError as error:
        message = str(error)
    assert message is None or any(repr(name) in message for name in {*user, *item})
    if model.history:
        assert is_finite(model)
        assert np.isfinite(losses(model)).all()


@each_solver
def test_a_row_that_overflows_is_named_and_leaves_no_nan_behind(solver):
    user, item = ["good"] * 3 + ["bad", "fine", "fine"], [1, 2, 3, 2, 1, 3]
    extreme = [1, 1, 1, 3e38, 1, 1]
    data = Interactions.from_arrays(user=user, item=item, weight=extreme, label=extreme)
    model = make_model(solver=solver)
    with pytest.raises(SolveError, match="user 'bad'"):
        model.fit(data, progress=False)
    with pytest.raises(NotFittedError):
        model.recommend("good")


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    good = Interactions.from_arrays(user=[1, 1, 2], item=[1, 2, 2])
    bad = Interactions.from_arrays(user=[1, 2], item=[1, 1], weight=[3e38, 1], label=[3e38, 1])
    model = fitted(good)
    before, history = model.user_factors.tobytes(), list(model.history)
    with pytest.raises(SolveError):
        model.fit(bad, progress=False)
    assert model.user_factors.tobytes() == before
    assert model.history == history
    model.solver = IALSpp(block_size=model.dim + 1)
    with pytest.raises(ValueError, match="block_size must be at most dim"):
        model.fit(good, progress=False)
    assert model.user_factors.tobytes() == before


def test_factors_kept_by_a_callback_stay_as_they_were():
    data = Interactions.from_arrays(user=[1, 1, 2, 3], item=[1, 2, 2, 3])
    kept = []
    make_model().fit(data, callbacks=[lambda model, _: kept.append(model.user_factors)])
    assert not np.array_equal(kept[0], kept[1])


def test_any_true_answer_of_a_callback_stops():
    data = Interactions.from_arrays(user=[1, 1, 2], item=[1, 2, 2])
    model = make_model(epochs=9).fit(data, callbacks=[lambda _, record: np.bool_(record.epoch == 2)])
    assert len(model.history) == 2
