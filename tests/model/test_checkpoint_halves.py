"""A fit that keeps half epochs goes on from the middle of one, with the same bits."""

import json

import numpy as np
import pytest
from support.checkpoints import (
    Interrupted,
    check_equal,
    check_golden,
    epochs_in,
    interrupted,
    interrupted_halves,
    resumed,
)
from support.models import fitted, make_data, make_model

from ialspp import IALS, ICD, IALSpp, SpectralCG
from ialspp.model.checkpoint import Checkpoint
from ialspp.model.checkpointer import Checkpointer

EPOCHS = 4
SOLVERS = [SpectralCG(), SpectralCG(precision="mixed"), IALS(relaxation=1.3), IALSpp(block_size=3)]


@pytest.fixture
def interrupting_halves(monkeypatch):
    return interrupted_halves(monkeypatch)


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_a_fit_goes_on_from_the_middle_of_an_epoch(tmp_path, solver, interrupting_halves):
    settings = {"solver": solver, "epochs": EPOCHS}
    whole, data = fitted(**settings), make_data()
    for epoch in range(1, EPOCHS + 1):
        path = tmp_path / f"{epoch}"
        interrupting_halves[:] = [epoch]
        with pytest.raises(Interrupted):
            make_model(**settings).fit(data, checkpoint=path, every=0.5, progress=False)
        assert Checkpoint.read(path).progress == f"epoch {epoch - 1} of {EPOCHS}, and half of the next"
        interrupting_halves.clear()
        check_equal(resumed(path, data), whole)


def test_a_fit_with_features_goes_on_from_the_middle_of_an_epoch(tmp_path, interrupting_halves):
    data = make_data()
    features = {"item_features": np.random.default_rng(0).normal(size=(data.n_items, 3))}
    whole = make_model(epochs=EPOCHS).fit(data, **features, progress=False)
    interrupting_halves[:] = [2]
    with pytest.raises(Interrupted):
        make_model(epochs=EPOCHS).fit(data, **features, checkpoint=tmp_path / "c", every=0.5, progress=False)
    interrupting_halves.clear()
    check_equal(resumed(tmp_path / "c", data, **features), whole)


def test_it_can_be_interrupted_in_the_middle_of_every_epoch(tmp_path, interrupting_halves):
    data, path = make_data(), tmp_path / "c"
    interrupting_halves[:] = [1]
    with pytest.raises(Interrupted):
        make_model(epochs=EPOCHS).fit(data, checkpoint=path, every=0.5, progress=False)
    for epoch in range(2, EPOCHS + 1):
        interrupting_halves[:] = [epoch]
        with pytest.raises(Interrupted):
            resumed(path, data)
    interrupting_halves.clear()
    check_equal(resumed(path, data), fitted(data, epochs=EPOCHS))
    assert Checkpoint.read(path).is_finished


def test_whole_epochs_are_kept_as_well(tmp_path):
    data = make_data()
    interrupted(tmp_path / "c", data, at=2, every=0.5, epochs=EPOCHS)
    assert (epochs_in(tmp_path / "c"), Checkpoint.read(tmp_path / "c").half) == (2, None)
    check_equal(resumed(tmp_path / "c", data), fitted(data, epochs=EPOCHS))


def test_every_half_is_in_the_file_while_training_goes_on(tmp_path, monkeypatch):
    keep_half, found = Checkpointer.keep_half, []

    def keep_and_look(self, *state):
        keep_half(self, *state)
        self._wait()
        kept = Checkpoint.read(tmp_path / "c")
        found.append((len(kept.history), kept.half))

    monkeypatch.setattr(Checkpointer, "keep_half", keep_and_look)
    model = make_model(epochs=EPOCHS).fit(make_data(), checkpoint=tmp_path / "c", every=0.5, progress=False)
    assert [epochs for epochs, _ in found] == [0, 1, 2, 3]
    assert all(0 < half < record.seconds for (_, half), record in zip(found, model.history, strict=True))


def test_the_seconds_of_both_halves_count(tmp_path, interrupting_halves):
    interrupting_halves[:] = [1]
    with pytest.raises(Interrupted):
        make_model(epochs=1).fit(make_data(), checkpoint=tmp_path / "c", every=0.5, progress=False)
    interrupting_halves.clear()
    half = Checkpoint.read(tmp_path / "c").half
    assert resumed(tmp_path / "c", make_data()).history[0].seconds > half > 0


def test_without_every_the_middle_of_an_epoch_is_not_kept(tmp_path, interrupting_halves):
    interrupting_halves[:] = [2]  # it is never called
    make_model(epochs=EPOCHS).fit(make_data(), checkpoint=tmp_path / "c", progress=False)
    assert Checkpoint.read(tmp_path / "c").info()["format_version"] == 1


@pytest.mark.parametrize("solver", [ICD(), IALSpp(sweep="block", block_size=3)], ids=repr)
def test_solvers_that_go_to_and_fro_have_no_halves(tmp_path, solver):
    with pytest.raises(ValueError, match="needs a solver that updates all users and then all items"):
        make_model(solver=solver).fit(make_data(), checkpoint=tmp_path / "c", every=0.5, progress=False)
    assert not (tmp_path / "c").exists()


def test_what_a_file_tells_of_a_half_epoch(tmp_path, interrupting_halves):
    interrupting_halves[:] = [3]
    with pytest.raises(Interrupted):
        make_model(epochs=EPOCHS).fit(make_data(), checkpoint=tmp_path / "c", every=0.5, progress=False)
    facts = json.loads(json.dumps(Checkpoint.read(tmp_path / "c").info()))
    assert (facts["format_version"], facts["every"], len(facts["history"])) == (4, 0.5, 2)
    assert facts["half"] > 0


# The file that golden/make_halves.py made once; whatever changes, it can be read


def test_format_4_goes_on(tmp_path):
    found = check_golden("checkpoint-v4", tmp_path)
    assert (found.progress, found.job.every) == ("epoch 2 of 4, and half of the next", 0.5)
