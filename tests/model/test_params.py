"""Settings by name, copies of models, and many threads at one model."""

import copy
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.models import (
    DIM,
    N_ITEMS,
    N_USERS,
    each_solver,
    factors,
    fitted,
    make_data,
    make_model,
    same_bits,
)

from ialspp import IALS, ICD, IALSpp, ImplicitMF, Interactions, NotFittedError, Objective, SpectralCG

NAMES = ["dim", "solver", "objective", "epochs", "init", "init_stddev", "seed", "threads"]
OBJECTIVE = Objective(unobserved_weight=0.2, regularization=0.05, exponent=0.5)
SETTINGS = {
    "dim": 5,
    "solver": IALSpp(block_size=2, sweep="block", relaxation=1.5),
    "objective": OBJECTIVE,
    "epochs": 2,
    "init": "random",
    "init_stddev": 0.3,
    "seed": 7,
    "threads": 1,
}
PARTS = {
    "solver__block_size": 2,
    "solver__sweep": "block",
    "solver__relaxation": 1.5,
    "objective__unobserved_weight": 0.2,
    "objective__regularization": 0.05,
    "objective__exponent": 0.5,
}


def anew(model):
    return type(model)(**model.get_params(deep=False))


# Settings by name


def test_get_params_gives_the_settings_and_those_of_their_parts():
    model = ImplicitMF(**SETTINGS)
    assert model.get_params(deep=False) == SETTINGS
    assert model.get_params() == model.get_params(deep=True) == {**SETTINGS, **PARTS}
    assert list(ImplicitMF().get_params(deep=False)) == NAMES


@each_solver
def test_every_solver_has_its_parameters_listed(solver):
    params = ImplicitMF(solver=solver).get_params()
    parts = {name.removeprefix("solver__") for name in params if name.startswith("solver__")}
    assert {name: params[f"solver__{name}"] for name in parts} == {n: getattr(solver, n) for n in parts}
    assert type(solver)(**{name: params[f"solver__{name}"] for name in parts}) == solver


@pytest.mark.parametrize(("name", "value"), [*SETTINGS.items(), *PARTS.items()])
def test_set_params_sets_what_get_params_shows(name, value):
    init = "random" if name == "init_stddev" else "spectral"
    model = ImplicitMF(solver=IALSpp(), init=init)
    before = model.get_params()
    assert before[name] != value
    assert model.set_params(**{name: value}) is model
    after = model.get_params()
    assert after[name] == value
    head, _, part = name.partition("__")
    changed = {key for key in before if before[key] != after[key]}
    assert {key.partition("__")[0] for key in changed} == {head}
    if part:
        assert changed == {head, name}


def test_several_are_set_at_once():
    model = ImplicitMF(8).set_params(dim=5, objective__regularization=0.5, objective__exponent=0, seed=3)
    assert (model.dim, model.seed) == (5, 3)
    assert model.objective == Objective(regularization=0.5, exponent=0)
    assert model.set_params() is model
    assert model.get_params() == ImplicitMF(5, objective=model.objective, seed=3).get_params()


@pytest.mark.parametrize("order", [1, -1])
def test_a_new_part_and_its_parameters_are_set_in_that_order(order):
    params = {"solver": IALSpp(), "solver__block_size": 4, "objective": OBJECTIVE, "objective__exponent": 1}
    model = ImplicitMF(8).set_params(**dict(list(params.items())[::order]))
    assert model.solver == IALSpp(block_size=4)
    assert model.objective == Objective(unobserved_weight=0.2, regularization=0.05, exponent=1)


def test_none_is_the_default_solver_and_objective():
    model = ImplicitMF(8, solver=ICD(), objective=OBJECTIVE).set_params(solver=None, objective=None)
    assert model.get_params() == ImplicitMF(8).get_params()
    assert model.set_params(solver=None, solver__steps=3).solver == SpectralCG(steps=3)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"nothing": 1}, ValueError, "'nothing'.*dim.*epochs"),
        ({"history": []}, ValueError, "'history'"),
        ({"solver__nothing": 1}, ValueError, "solver.*nothing"),
        ({"solver__block_size": 2}, ValueError, "solver.*block_size"),  # another solver's
        ({"dim__nothing": 1}, ValueError, "dim__nothing"),
        ({"objective__": 1}, ValueError, "objective__"),
        ({"__exponent": 1}, ValueError, "__exponent"),
        ({"objective__exponent__x": 1}, ValueError, "objective__exponent__x"),
        ({"dim": 0}, ValueError, "dim.*0"),
        ({"dim": "5"}, TypeError, "dim.*'5'"),
        ({"epochs": -1}, ValueError, "epochs.*-1"),
        ({"threads": 0}, ValueError, "threads.*0"),
        ({"seed": None}, TypeError, "seed.*None"),
        ({"solver": "ials"}, TypeError, "solver.*'ials'"),
        ({"solver": IALS}, TypeError, "solver.*IALS"),
        ({"objective": 3}, TypeError, "objective.*3"),
        ({"objective__regularization": -1}, ValueError, "regularization.*-1"),
        ({"solver__steps": 0}, ValueError, "steps.*0"),
    ],
)
def test_a_bad_parameter_is_an_error_and_sets_none(params, error, message):
    model = fitted(solver=SpectralCG(), seed=1)
    before, bits = model.get_params(), factors(model)
    good = {"dim": 3, "seed": 9, "objective__unobserved_weight": 0.9, "solver__tolerance": 0.1}
    for asked in params, {**good, **params}, {**params, **good, **params}:
        with pytest.raises(error, match=message):
            model.set_params(**asked)
        assert model.get_params() == before
    assert all(np.array_equal(a, b) for a, b in zip(bits, factors(model), strict=True))


def test_what_was_learned_stays_until_the_next_fit():
    model, before = fitted(), fitted()
    model.set_params(dim=DIM - 3, epochs=1, seed=5, solver=ICD())
    assert same_bits(model, before)
    assert model.recommend(3, 5) == before.recommend(3, 5)
    assert np.array_equal(model.fold_in([["item-3"]]), before.fold_in([["item-3"]]))
    model.update(Interactions.from_arrays(user=[3], item=["new"]))
    assert model.item_factors.shape == (N_ITEMS + 1, DIM)
    model.fit(make_data(), progress=False)
    assert same_bits(model, fitted(dim=DIM - 3, epochs=1, seed=5, solver=ICD()))


def test_settings_show_in_the_name():
    model = ImplicitMF(**SETTINGS)
    for part in "dim=5", repr(SETTINGS["solver"]), repr(OBJECTIVE):
        assert part in repr(model)
    assert "fitted" not in repr(model)
    shown = repr(fitted())
    assert f"{N_USERS} users" in shown
    assert f"{N_ITEMS} items" in shown


# Copies


def test_a_model_of_the_same_settings_is_not_fitted_and_fits_the_same():
    model = fitted(**SETTINGS)
    other = anew(model)
    assert other.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        other.recommend(3)
    assert same_bits(other.fit(make_data(), progress=False), model)


def test_scikit_learn_clones_it():
    from sklearn.base import clone

    for model in ImplicitMF(), fitted(**SETTINGS):
        other = clone(model)
        assert other is not model
        assert type(other) is ImplicitMF
        assert other.get_params() == model.get_params()
        assert other.trained_on is None


def answers(model):
    """Some of each question, as plain values."""
    rankings = [
        model.recommend([3, 1, N_USERS - 1], 6),
        model.recommend(k=4),
        model.recommend_for([["item-3", "item-4"], []], 6),
        model.similar_items(["item-3", "item-29"], 6, metric="dot"),
        model.similar_users([3], 6),
    ]
    vectors = [model.fold_in([["item-3", "item-4"]]), model.fold_in_items([[3, 4]]), *factors(model)]
    explanation = model.explain(3, "item-1")
    return (
        [(list(map(list, found)), found.scores.tolist()) for found in rankings],
        [array.tobytes() for array in vectors],
        (list(explanation), explanation.score, explanation.rest),
    )


@each_solver
@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_a_copy_of_a_fitted_model_gives_the_same_answers_and_goes_its_own_way(solver, copied):
    model = fitted(solver=solver)
    other, before = copied(model), answers(model)
    assert other.get_params() == model.get_params()
    assert other.history == model.history
    assert other.fitted_solver == model.fitted_solver
    assert answers(other) == before
    with pytest.raises(ValueError, match="read-only"):
        other.user_factors[0, 0] = 1
    new = Interactions.from_arrays(user=[3, 99], item=["item-1", "new"])
    other.update(new)
    assert answers(model) == before
    assert same_bits(other, fit_and_update(solver, new))
    other.fit(make_data(seed=4), progress=False)
    assert answers(model) == before


def fit_and_update(solver, new):
    model = fitted(solver=solver)
    model.update(new)
    return model


@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, anew])
def test_a_copy_of_a_model_that_is_not_fitted_can_be_fitted(copied):
    other = copied(make_model())
    with pytest.raises(NotFittedError):
        other.recommend(3)
    assert same_bits(other.fit(make_data(), progress=False), fitted())


# Many threads


def asked_in_turn(model):
    """Questions whose answers change with every update, each as a value to compare."""

    def ranked(found):
        return [(list(ranking), ranking.scores) for ranking in found]

    def explained(found):
        return [list(found), found.score, found.rest]

    return {
        "recommend": lambda: ranked(model.recommend([3, 30, 4], 7)),
        "all": lambda: ranked(model.recommend(k=3)),
        "recommend_for": lambda: ranked(model.recommend_for([["item-1"], ["item-2", "item-3"]], 7)),
        "fold_in": lambda: model.fold_in([["item-1"], ["item-2", "item-3"]]).tolist(),
        "fold_in_items": lambda: model.fold_in_items([[3, 4]]).tolist(),
        "similar_items": lambda: ranked(model.similar_items(["item-1", "item-9"], 5)),
        "similar_users": lambda: ranked(model.similar_users([3, 5], 5)),
        "explain": lambda: explained(model.explain(3, "item-2")),
    }


@pytest.fixture
def hurried():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def small_updates():
    rng = np.random.default_rng(0)
    for n in range(25):
        items = [f"item-{i}" for i in rng.choice(N_ITEMS, 2, replace=False)]
        yield Interactions.from_arrays(user=[3, 4, 50 + n], item=[*items, f"new-{n}"])


@pytest.mark.usefixtures("hurried")
def test_questions_are_answered_from_one_state_while_another_thread_updates():
    model, twin, updates = fitted(), fitted(), list(small_updates())
    states = [{name: ask() for name, ask in asked_in_turn(twin).items()}]
    for new in updates:
        twin.update(new)
        states.append({name: ask() for name, ask in asked_in_turn(twin).items()})
    questions = asked_in_turn(model)
    start, done = threading.Barrier(len(questions) + 1), threading.Event()

    def keep_asking(name):
        start.wait()
        got = [questions[name]()]
        while not done.is_set():
            got.append(questions[name]())
        return got

    with ThreadPoolExecutor(len(questions)) as pool:
        asking = {name: pool.submit(keep_asking, name) for name in questions}
        start.wait()
        try:
            for new in updates:
                model.update(new)
        finally:
            done.set()
    for name, future in asking.items():
        right = [state[name] for state in states]
        numbers = [right.index(answer) for answer in future.result()]  # a ValueError: an answer of no state
        assert numbers == sorted(numbers), name
    assert {name: ask() for name, ask in questions.items()} == states[-1]
    assert same_bits(model, twin)


def test_many_threads_ask_one_model_at_once():
    model = fitted()
    right = {name: ask() for name, ask in asked_in_turn(model).items()}
    questions = asked_in_turn(model)
    names = list(questions) * 8
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda name: questions[name](), names))
    assert answers == [right[name] for name in names]
