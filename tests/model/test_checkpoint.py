"""A fit that goes on from a checkpoint has the same bits as one that was never interrupted."""

import threading

import numpy as np
import pytest
from support.checkpoints import (
    Interrupted,
    check_equal,
    check_golden,
    epochs_in,
    interrupted,
    interrupting,
    resumed,
)
from support.models import NUMBERS, each_solver, fitted, make_data, make_model, same_bits
from support.processes import wait_until

from ialspp import IALS, IALSpp, ImplicitMF, SpectralCG, store
from ialspp.model.checkpoint import Checkpoint
from ialspp.model.checkpointer import Checkpointer
from ialspp.model.training import Plan
from ialspp.solvers import SOLVERS

EPOCHS = 5


@each_solver
@pytest.mark.parametrize("init", ["spectral", "random"])
def test_a_resumed_fit_has_the_same_bits(tmp_path, solver, init):
    settings = {"solver": solver, "init": init, "epochs": EPOCHS}
    whole, data = fitted(**settings), make_data()
    for at in range(1, EPOCHS):
        path = tmp_path / f"{at}.checkpoint"
        interrupted(path, data, at=at, **settings)
        assert epochs_in(path) == at
        check_equal(resumed(path, data), whole)


def test_every_solver_of_the_library_is_tried():
    tried = {type(value) for value in each_solver.args[1]}
    assert tried == set(SOLVERS.values())


@pytest.mark.usefixtures("half_isa")
def test_half_precision(tmp_path):
    settings = {"solver": SpectralCG(precision="mixed"), "epochs": EPOCHS}
    whole, data = fitted(**settings), make_data()
    assert [record.precision for record in whole.history] == ["mixed"] * (EPOCHS - 1) + ["single"]
    for at in range(1, EPOCHS):
        interrupted(tmp_path / f"{at}", data, at=at, **settings)
        check_equal(resumed(tmp_path / f"{at}", data), whole)


@pytest.mark.parametrize("solver", [SpectralCG(), IALS(relaxation=1.4), IALSpp(relaxation=0.7)])
def test_relaxations_go_on(tmp_path, solver):
    settings = {"solver": solver, "epochs": 7}
    whole, data = fitted(**settings), make_data()
    for at in range(1, 7):
        interrupted(tmp_path / f"{at}", data, at=at, **settings)
        check_equal(resumed(tmp_path / f"{at}", data), whole)
    if solver == SpectralCG():
        assert len({record.relaxation for record in whole.history}) > 3


@pytest.mark.usefixtures("half_isa")
@pytest.mark.parametrize("solver", [SpectralCG(precision="mixed"), SpectralCG(precision="single")])
def test_a_resumed_fit_stops_where_the_first_would(tmp_path, solver):
    settings, data = {"solver": solver, "epochs": 60}, make_data()
    whole = make_model(**settings).fit(data, until=0.003, progress=False)
    epochs = len(whole.history)
    assert 3 <= epochs < 60
    for at in range(1, epochs + 1):
        interrupted(tmp_path / f"{at}", data, at=at, until=0.003, **settings)
        check_equal(resumed(tmp_path / f"{at}", data), whole)


def test_an_interrupt_after_the_last_epoch_loses_nothing(tmp_path):
    data = make_data()
    interrupted(tmp_path / "c", data, at=3, epochs=3)
    assert not Checkpoint.read(tmp_path / "c").is_finished
    check_equal(resumed(tmp_path / "c", data), fitted(data, epochs=3))
    assert Checkpoint.read(tmp_path / "c").is_finished


@pytest.mark.parametrize("numbers", NUMBERS)
def test_labels_and_weights(tmp_path, numbers):
    data = make_data(numbers=numbers, user_id=lambda u: f"user {u}")
    interrupted(tmp_path / "c", data, at=2, epochs=4)
    check_equal(resumed(tmp_path / "c", data), fitted(data, epochs=4))


@pytest.mark.parametrize("threads", [(1, 2), (2, 1), (3, None)])
def test_the_number_of_threads_may_change(tmp_path, threads):
    data, (before, after) = make_data(), threads
    interrupted(tmp_path / "c", data, at=2, epochs=4, threads=before)
    model = resumed(tmp_path / "c", data, threads=after)
    assert model.threads == after
    check_equal(model, fitted(data, epochs=4))


def test_a_warm_start_goes_on(tmp_path):
    data = make_data()
    first = fitted(data, solver=SpectralCG(), epochs=4)
    first.save(tmp_path / "m")
    whole = ImplicitMF.load(tmp_path / "m").fit(data, warm_start=True, until=1e-4, progress=False)
    for at in range(5, len(whole.history) + 1):
        path, model = tmp_path / f"{at}", ImplicitMF.load(tmp_path / "m")
        with pytest.raises(Interrupted):
            model.fit(
                data,
                warm_start=True,
                until=1e-4,
                checkpoint=path,
                callbacks=[interrupting(at)],
                progress=False,
            )
        assert Checkpoint.read(path).progress == f"epoch {at - 4} of 4"
        check_equal(resumed(path, data), whole)


def test_a_resumed_fit_can_be_interrupted_and_resumed_again(tmp_path):
    data, path = make_data(), tmp_path / "c"
    interrupted(path, data, at=1, solver=SpectralCG(), epochs=EPOCHS)
    for at in range(2, EPOCHS):
        with pytest.raises(Interrupted):
            resumed(path, data, callbacks=[interrupting(at)])
        assert epochs_in(path) == at
    check_equal(resumed(path, data), fitted(data, solver=SpectralCG(), epochs=EPOCHS))


def test_a_checkpoint_that_two_fits_go_on_from(tmp_path):
    data, whole = make_data(), fitted(epochs=4)
    interrupted(tmp_path / "c", data, at=2, epochs=4)
    (tmp_path / "copy").write_bytes((tmp_path / "c").read_bytes())
    check_equal(resumed(tmp_path / "c", data), whole)
    check_equal(resumed(tmp_path / "copy", data), whole)


# What a finished fit leaves


@pytest.mark.parametrize("epochs", [0, 1, 3])
def test_the_checkpoint_of_a_finished_fit_gives_its_model(tmp_path, epochs):
    data, path = make_data(), tmp_path / "c"
    whole = make_model(epochs=epochs).fit(data, checkpoint=path, progress=False)
    check_equal(whole, fitted(data, epochs=epochs))
    found, before = Checkpoint.read(path), path.read_bytes()
    assert (found.is_finished, found.progress) == (True, f"epoch {epochs} of {epochs}, the last")
    again = resumed(path, data)
    check_equal(again, whole)
    assert again.history == whole.history
    assert path.read_bytes() == before


def test_a_fit_that_a_callback_ended_stays_ended(tmp_path):
    data, path = make_data(), tmp_path / "c"
    stop = [lambda _, record: record.epoch == 3]
    whole = make_model(epochs=9).fit(data, checkpoint=path, callbacks=stop, progress=False)
    assert len(whole.history) == 3
    check_equal(resumed(path, data), whole)
    assert Checkpoint.read(path).progress == "epoch 3 of 9, the last"


def test_callbacks_go_on(tmp_path):
    data, path, seen = make_data(), tmp_path / "c", []
    interrupted(path, data, at=2, epochs=6)

    def stop(model, record):
        seen.append((record.epoch, len(model.recommend(model.users[0], 2))))
        return record.epoch == 4

    model = resumed(path, data, callbacks=[stop])
    assert seen == [(3, 2), (4, 2)]
    check_equal(model, make_model(epochs=6).fit(data, callbacks=[stop], progress=False))


def test_a_resumed_model_answers_updates_and_saves_as_any_other(tmp_path):
    data = make_data()
    interrupted(tmp_path / "c", data, at=1)
    model, whole = resumed(tmp_path / "c", data), fitted(data)
    for each in (model, whole):
        each.update(make_data(seed=1, n=30))
    assert same_bits(model, whole)
    model.save(tmp_path / "m")
    assert same_bits(ImplicitMF.load(tmp_path / "m"), whole)
    assert model.trained_on is not None
    model.fit(data, warm_start=False, progress=False)
    assert same_bits(model, fitted(data))


def test_a_finished_checkpoint_makes_place_for_the_next_fit(tmp_path):
    data, path = make_data(), tmp_path / "c"
    for seed in range(3):
        model = make_model(seed=seed).fit(data, checkpoint=path, progress=False)
        assert same_bits(resumed(path, data), model)


# When they are written


@pytest.mark.parametrize("every", [1, 2, 3, 10])
def test_a_checkpoint_is_written_every_so_many_epochs(tmp_path, every):
    """Beside the training, so a callback waits for it. That of the last epoch comes after the callbacks."""
    path, seen = tmp_path / "c", []

    def look(_model, record):
        expected = min(record.epoch, 6) // every * every
        wait_until(lambda: expected == 0 or (path.exists() and epochs_in(path) >= expected))
        seen.append(epochs_in(path) if path.exists() else 0)

    make_model(epochs=7).fit(make_data(), checkpoint=path, every=every, callbacks=[look], progress=False)
    assert seen == [min(epoch, 6) // every * every for epoch in range(1, 8)]
    assert epochs_in(path) == 7


@pytest.mark.parametrize("at", range(1, 7))
def test_an_interrupt_writes_the_last_epoch_whatever_every_is(tmp_path, at):
    data, path = make_data(), tmp_path / "c"
    interrupted(path, data, at=at, every=4, epochs=6)
    assert epochs_in(path) == at
    check_equal(resumed(path, data), fitted(data, epochs=6))
    assert Checkpoint.read(path).job.every == 4


def test_an_error_in_an_epoch_keeps_the_epoch_before(tmp_path, monkeypatch):
    """The factors in memory are then half updated."""
    data, path = make_data(), tmp_path / "c"
    whole, epoch, calls = fitted(data, epochs=5), IALS.epoch, []

    def failing(solver, problem):
        calls.append(problem)
        if len(calls) == 3:
            problem.users.factors[:] = np.nan
            raise Interrupted
        return epoch(solver, problem)

    with monkeypatch.context() as patch:
        patch.setattr(IALS, "epoch", failing)
        with pytest.raises(Interrupted):
            make_model(epochs=5).fit(data, checkpoint=path, every=5, progress=False)
    assert epochs_in(path) == 2
    check_equal(resumed(path, data), whole)


def test_an_interrupt_while_the_state_is_copied_keeps_that_epoch(tmp_path, monkeypatch):
    data, path = make_data(), tmp_path / "c"
    whole, copied, calls = fitted(data, epochs=5), Checkpointer._copied, []

    def interrupted_half_way(checkpointer, state):
        calls.append(state)
        if len(calls) == 3:
            checkpointer._copies[0][:20] = state.users[:20]
            raise Interrupted
        return copied(checkpointer, state)

    with monkeypatch.context() as patch:
        patch.setattr(Checkpointer, "_copied", interrupted_half_way)
        with pytest.raises(Interrupted):
            make_model(epochs=5).fit(data, checkpoint=path, every=5, progress=False)
    assert epochs_in(path) == 3
    check_equal(resumed(path, data), whole)


def test_progress_that_fails_keeps_the_epoch(tmp_path):
    data, path = make_data(), tmp_path / "c"

    def fail(event):
        if event.done == 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        make_model(epochs=4).fit(data, checkpoint=path, progress=fail)
    assert epochs_in(path) == 2
    check_equal(resumed(path, data), fitted(data, epochs=4))


def test_no_thread_is_left(tmp_path):
    before = set(threading.enumerate())  # those of other tests may end meanwhile
    interrupted(tmp_path / "c", make_data(), at=2)
    resumed(tmp_path / "c", make_data())
    left = set(threading.enumerate()) - before
    assert [thread for thread in left if not isinstance(thread, threading._DummyThread)] == []


def test_a_fit_with_checkpoints_is_the_same_fit(tmp_path):
    data = make_data()
    with_file = make_model(epochs=4).fit(data, checkpoint=tmp_path / "c", progress=False)
    check_equal(with_file, fitted(data, epochs=4))
    with pytest.raises(store.StoreError, match="not a model of ialspp"):
        ImplicitMF.load(tmp_path / "c")


# The file of format 1, which golden/make_checkpoint.py made once; whatever changes, it can be read


def test_format_1_goes_on(tmp_path):
    found = check_golden("checkpoint-v1", tmp_path)
    assert (found.progress, found.written_by) == ("epoch 2 of 4", "ialspp 0.1.0")
    assert (found.job.plan, found.job.every, found.job.note) == (Plan(4, 1e-9), 1, {})
