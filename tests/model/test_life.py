"""What may happen to a model between two answers: interruptions, copies, forks, ids under other names."""

import copy
import os
import pickle

import numpy as np
import pytest
from support.models import DIM, fitted, make_data, make_model, same_bits

from ialspp import IALS, IdMap, ImplicitMF, Interactions, SolveError, SpectralCG, _core
from ialspp.errors import IalsppError
from ialspp.system.locks import ProcessLock


class Broken:
    """A solver that turns the factors, as SpectralCG does, and then gives up, in its third epoch."""

    def __init__(self):
        self.epochs = 0

    def epoch(self, problem):
        self.epochs += 1
        if self.epochs < 3:
            return SpectralCG().epoch(problem)
        turn = np.linalg.qr(np.random.default_rng(0).normal(size=(DIM, DIM)))[0]
        _core.transform_both(problem.users.factors, turn, problem.items.factors, turn, 1)
        problem.users.factors[:] = problem.users.factors[::-1].copy()
        raise SolveError("on purpose")


def test_an_interrupted_fit_leaves_answers_that_fit_its_factors():
    model = make_model(solver=Broken(), epochs=9)

    def ask(model, _record):
        model.recommend(3)
        model.fold_in([["item-1"]])
        model.similar_items("item-1")

    with pytest.raises(SolveError, match="on purpose"):
        model.fit(make_data(), callbacks=[ask], progress=False)
    again = pickle.loads(pickle.dumps(model))  # which keeps nothing but the factors
    for user in range(5):
        assert model.recommend(user) == again.recommend(user)
        assert np.array_equal(model.recommend(user).scores, again.recommend(user).scores)
    assert np.array_equal(model.fold_in([["item-1"]]), again.fold_in([["item-1"]]))
    assert model.similar_items("item-1") == again.similar_items("item-1")


def test_a_copy_made_in_a_callback_is_of_that_epoch():
    kept = []
    last = fitted(epochs=3)
    model = make_model(epochs=3)
    model.fit(
        make_data(), callbacks=[lambda m, _: kept.append((copy.copy(m), copy.deepcopy(m)))], progress=False
    )
    for epoch, copies in enumerate(kept, 1):
        of_epoch = fitted(epochs=epoch)
        for made in copies:
            assert same_bits(made, of_epoch)
            assert np.shares_memory(made.user_factors, made.user_factors)  # it is not being trained
            made.update(Interactions.from_arrays(user=[3], item=["item-1"]))
    assert same_bits(model, last)


def test_an_update_cannot_be_lost_to_a_fit():
    news = Interactions.from_arrays(user=[99], item=["item-1"])
    with pytest.raises(RuntimeError, match="update must wait until fit is done"):
        make_model().fit(make_data(), callbacks=[lambda model, _: model.update(news)], progress=False)
    model = fitted()
    model.update(news)
    assert 99 in model.users


def test_a_solver_that_leaves_no_numbers_is_an_error():
    class Nan:
        def epoch(self, problem):
            problem.users.factors[3] = np.nan
            return 0.0

    with pytest.raises(SolveError, match="not finite after epoch 1"):
        make_model(solver=Nan()).fit(make_data(), progress=False)


def test_vectors_too_large_for_a_loss_are_an_error():
    class Huge:
        def epoch(self, problem):
            problem.users.factors[:] = 1e30
            return 0.0

    with pytest.raises(SolveError, match="not finite after epoch 1: vectors overflow single precision"):
        make_model(solver=Huge()).fit(make_data(), progress=False)


def test_new_users_of_new_items_start_with_the_next_fit():
    model = fitted()
    model.update(Interactions.from_arrays(user=[101, 102, 102], item=["new-1", "new-1", "new-2"]))
    strangers = model.users.rows([101, 102])
    assert not model.user_factors[strangers].any()
    model.fit(model.trained_on, warm_start=True, progress=False)
    assert model.user_factors[strangers].any(axis=1).all()


def test_ids_are_those_of_their_axis_under_any_name(tmp_path):
    data = Interactions.from_arrays(
        user=["a", "b"], item=["x", "y"], users=IdMap(["a", "b"]), items=IdMap(["x", "y"], name="thing")
    )
    assert (data.users.name, data.items.name) == ("user", "item")
    model = fitted(data, dim=2)
    model.save(tmp_path / "model")
    loaded = ImplicitMF.load(tmp_path / "model")
    assert (list(loaded.users), list(loaded.items)) == (["a", "b"], ["x", "y"])
    assert model.recommend(["a"]).to_frame().columns == ["user", "item", "rank", "score", "fallback"]


def test_a_table_needs_the_ids_in_it_and_no_others():
    data = Interactions.from_arrays(user=["a", "half \ud83d", "b"], item=["x", "y", "z"])
    model = fitted(data, dim=2)
    assert model.recommend(["a"], k=1).to_frame()["user"].to_list() == ["a"]
    with pytest.raises(IalsppError, match="has half of a surrogate pair"):
        model.recommend(["half \ud83d"]).to_frame()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_does_not_wait_for_its_parents_threads():
    lock = ProcessLock()
    with lock:
        child = os.fork()
        if child == 0:  # would wait for ever
            with lock:
                os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda m: m.fold_in([["item-1"]], weights=[1, 2]), TypeError, "each of weights must be a sequence"),
        (lambda m: m.fold_in([["item-1"]], weights=[[1], [2]]), ValueError, "each of 1 histories, got 2"),
        (
            lambda m: m.fold_in_items([[3], [3, 4]], labels=[[1], [2]]),
            ValueError,
            "one number per user of each history: history 1 has 2, got 1",
        ),
        (
            lambda m: m.recommend([3, 4], exclude=[np.ones(30, bool), np.ones(3, bool)]),
            ValueError,
            r"exclude: mask 1 must have shape \(30,\), got \(3,\)",
        ),
        (lambda m: m.recommend(3, candidates=["item-1", "no"]), KeyError, "candidates: unknown item: 'no'"),
    ],
)
def test_what_is_wrong_is_named(ask, error, message):
    with pytest.raises(error, match=message):
        ask(fitted(solver=IALS()))
