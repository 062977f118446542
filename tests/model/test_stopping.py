"""How long a fit goes on, what it starts from, and what its history keeps of that."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from support.models import each_solver, factors, fitted, is_finite, losses, make_data, make_model, same_bits

from ialspp import IALS, ImplicitMF, SpectralCG
from ialspp.files.arrays import Arrays
from ialspp.model.state import Trained, arrays_of, described, restored
from ialspp.solvers import Problem, for_epoch
from ialspp.solvers.start import random_start, spectral_start


def falls(model):
    found = losses(model)
    return [(before - after) / before for before, after in itertools.pairwise(found)]


# Until the loss hardly falls


@each_solver
@pytest.mark.parametrize("until", [0.5, 0.05, 0.003])
def test_a_fit_stops_at_the_first_small_fall(solver, until):
    model = make_model(solver=solver, epochs=60).fit(make_data(), until=until, progress=False)
    assert 2 <= len(model.history) < 60
    *before, last = falls(model)
    assert last < until
    assert all(fall >= until for fall in before)
    whole = fitted(solver=solver, epochs=len(model.history))
    assert same_bits(model, whole)
    assert losses(model) == losses(whole)


def test_until_is_no_more_than_a_reason_to_stop_earlier():
    model = make_model(epochs=3).fit(make_data(), until=1e-12, progress=False)
    assert same_bits(model, fitted(epochs=3))
    one = make_model(epochs=1).fit(make_data(), until=0.99, progress=False)
    assert len(one.history) == 1
    none = make_model(epochs=0).fit(make_data(), until=0.99, progress=False)
    assert none.history == []


def test_one_epoch_has_nothing_to_be_compared_with():
    model = make_model(epochs=9).fit(make_data(), until=0.999, progress=False)
    assert len(model.history) == 2


@pytest.mark.usefixtures("half_isa")
@pytest.mark.parametrize("until", [0.5, 0.003])
def test_after_half_precision_one_more_epoch_in_single_precision_is_the_last(until):
    solver = SpectralCG(precision="mixed")
    model = make_model(solver=solver, epochs=60).fit(make_data(), until=until, progress=False)
    precisions = [record.precision for record in model.history]
    assert precisions == ["mixed"] * (len(precisions) - 1) + ["single"]
    assert 3 <= len(precisions) < 60
    *before, small, _ = falls(model)
    assert small < until
    assert all(fall >= until for fall in before)
    assert same_bits(model, fitted(solver=solver, epochs=len(precisions)))


@pytest.mark.usefixtures("half_isa")
def test_epochs_are_never_more_than_asked_for():
    solver = SpectralCG(precision="mixed")
    for epochs in (2, 3):
        model = make_model(solver=solver, epochs=epochs).fit(make_data(), until=0.999, progress=False)
        assert len(model.history) == epochs
        assert model.history[-1].precision == "single"


def test_a_warm_start_compares_its_own_epochs():
    data = make_data()
    model = fitted(data, epochs=40)
    model.fit(data, warm_start=True, until=0.01, progress=False)
    assert len(model.history) == 42


def test_a_callback_stops_before_until_does():
    model = make_model(epochs=20)
    model.fit(make_data(), until=1e-9, callbacks=[lambda _, record: record.epoch == 4], progress=False)
    assert len(model.history) == 4


@pytest.mark.parametrize(
    ("until", "message"),
    [
        (0, "until must be between 0 and 1, both excluded, got 0"),
        (1, "until must be between 0 and 1, both excluded, got 1"),
        (-0.1, "until must be .*-0.1"),
        (np.nan, "until must be .*nan"),
        ("0.1", "until must be a number, got '0.1'"),
        (True, "until must be a number, got True"),
    ],
)
def test_an_until_that_is_no_share_is_refused_before_anything_is_done(until, message):
    model = fitted()
    before = factors(model)
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(make_data(seed=1), until=until)
    assert all(np.array_equal(a, b) for a, b in zip(before, factors(model), strict=True))


# The start


def test_the_default_start_is_spectral_and_of_eight_epochs():
    model, data = ImplicitMF(6, threads=2), make_data()
    assert (model.init, model.init_stddev, model.epochs) == ("spectral", None, 8)
    for found, wanted in zip(model.initial_factors(data), spectral_start(data, 6, 0, 1), strict=True):
        assert found.tobytes() == wanted.tobytes()
    assert len(model.fit(data, progress=False).history) == 8


def test_a_random_start_has_the_papers_stddev_unless_told_another():
    data = make_data()
    for stddev, said in ((0.1, {}), (0.1, {"init_stddev": 0.1}), (3.0, {"init_stddev": 3})):
        model = ImplicitMF(6, init="random", seed=4, **said)
        for found, wanted in zip(model.initial_factors(data), random_start(data, 6, stddev, 4), strict=True):
            assert found.tobytes() == wanted.tobytes()


@each_solver
@pytest.mark.parametrize("init", ["spectral", "random"])
def test_every_solver_trains_from_either_start(solver, init):
    model = fitted(solver=solver, init=init, epochs=6)
    assert is_finite(model)
    assert losses(model) == sorted(losses(model), reverse=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"init": "zeros"}, 'init must be "spectral" or "random", got \'zeros\''),
        ({"init": None}, 'init must be "spectral" or "random", got None'),
        ({"init": 1}, 'init must be "spectral" or "random", got 1'),
        ({"init_stddev": 0.1}, "init_stddev belongs to init=\"random\", got init='spectral'"),
        ({"init": "random", "init_stddev": 0}, "init_stddev must be > 0 and < 1e\\+06, got 0"),
        ({"init": "random", "init_stddev": 1e6}, "init_stddev must be > 0 and < 1e\\+06"),
        ({"init": "random", "init_stddev": -1}, "init_stddev must be .*-1"),
        ({"init": "random", "init_stddev": True}, "init_stddev must be a number, got True"),
    ],
)
def test_starts_that_are_none_are_refused(settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        ImplicitMF(8, **settings)


def test_a_stddev_without_a_random_start_is_refused_also_when_set_later():
    model = ImplicitMF(8, init="random", init_stddev=0.5)
    with pytest.raises(ValueError, match='init_stddev belongs to init="random"'):
        model.set_params(init="spectral")
    assert (model.init, model.init_stddev) == ("random", 0.5)
    model.set_params(init="spectral", init_stddev=None)
    assert (model.init, model.init_stddev) == ("spectral", None)


# Epochs of one's own


def test_epochs_of_ones_own_are_those_of_a_fit():
    data, model = make_data(), make_model(solver=SpectralCG(), epochs=6)
    problem = Problem.of(data, model.objective, *model.initial_factors(data), 2)
    past = []
    for epoch in range(6):
        past.append(model.run_epoch(problem, past, last=epoch == 5))
    model.fit(data, progress=False)
    assert [replace(record, seconds=0) for record in past] == [
        replace(record, seconds=0) for record in model.history
    ]
    assert problem.users.factors.tobytes() == model.user_factors.tobytes()


def test_an_epoch_without_a_past_is_the_first():
    data, model = make_data(), make_model(solver=SpectralCG())
    problem = Problem.of(data, model.objective, *model.initial_factors(data), 2)
    record = model.run_epoch(problem)
    assert (record.epoch, record.relaxation) == (1, 1.1)
    assert for_epoch(IALS(), problem, [], last=True) == IALS()


# Files


@pytest.mark.parametrize("start", [{}, {"init": "random"}, {"init": "random", "init_stddev": 0.25}])
def test_files_keep_the_start_and_the_history(tmp_path, start):
    model = fitted(solver=SpectralCG(precision="mixed"), epochs=5, **start)
    model.save(tmp_path / "model")
    loaded = ImplicitMF.load(tmp_path / "model")
    assert (loaded.init, loaded.init_stddev) == (model.init, model.init_stddev)
    assert loaded.solver == loaded.fitted_solver == SpectralCG(precision="mixed")
    assert loaded.history == model.history
    assert len({record.relaxation for record in loaded.history}) > 1


def test_a_description_from_before_there_were_starts_and_relaxations_is_read():
    model = fitted(solver=IALS(), init="random", init_stddev=0.5)
    settings = model.get_params(deep=False)
    del settings["threads"]
    trained = Trained(settings, model._fitted(), model.history, model.fitted_solver)
    description = json.loads(json.dumps(described(trained, interactions=False)))
    del description["settings"]["init"]
    for solver in (description["settings"]["solver"], description["fitted_solver"]):
        del solver["relaxation"]
    for record in description["history"]:
        del record["relaxation"], record["precision"]
    arrays = Arrays(arrays_of(model._fitted(), interactions=False))
    found = restored(arrays, description)
    assert found.settings == settings
    assert found.history == model.history
    assert found.fitted_solver == IALS()
