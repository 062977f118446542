"""--early-stop: fit finds the number of epochs on held-out pairs, evaluate on the validation users."""

import signal

import pytest
from support.commands import COLUMNS, answer, ialspp, refuses, write_log
from support.models import same_bits
from support.stores import posix

from ialspp import EarlyStopping, ImplicitMF, Interactions, evaluate, split
from ialspp.model.checkpoint import Checkpoint
from ialspp.model.checkpointer import Checkpointer

EARLY = ["--dim", "4", "--epochs", "9", "--early-stop", "recall@5", "--patience", "3"]
FIT = ["fit", "log.csv", *COLUMNS, *EARLY, "-o", "m"]


@pytest.fixture
def folder(tmp_path):
    write_log(tmp_path / "log.csv")
    return tmp_path


def read(folder):
    return Interactions.read(folder / "log.csv", user="who", item="what")


def searched(data):
    """How the library finds the number of epochs."""
    parts = split.random(data, test_share=0.1)
    stopping = EarlyStopping(parts.test, "recall@5", patience=3)
    ImplicitMF(4, epochs=9).fit(parts.train, callbacks=[stopping], progress=False)
    return parts, stopping


def test_fit_finds_the_number_of_epochs_and_then_trains_on_everything(folder):
    found, data = answer(*FIT, cwd=folder), read(folder)
    parts, stopping = searched(data)
    assert found["early_stopping"] == {
        "metric": "recall@5",
        "patience": 3,
        "held_out": {"users": stopping.users, "pairs": len(parts.test.wanted)},
        "users_evaluated": stopping.users,
        "scores": stopping.scores,
        "best_epoch": stopping.best_epoch,
    }
    assert len(found["history"]) == stopping.best_epoch
    whole = ImplicitMF(4, epochs=stopping.best_epoch).fit(data, progress=False)
    model = ImplicitMF.load(folder / "m")
    assert same_bits(model, whole)
    assert len(model.trained_on) == len(data)
    assert "early_stopping" not in answer("fit", "log.csv", *COLUMNS, "-o", "m", cwd=folder)


def test_people_read_what_was_held_out_and_what_was_found(folder):
    _, stopping = searched(read(folder))
    shown = " ".join(ialspp(*FIT, cwd=folder, COLUMNS="300").stdout.split())
    best, number = f"{stopping.best_score:.4f}", stopping.best_epoch
    assert (
        f"recall@5 {best} after epoch {number}, the best of {len(stopping.scores)}, on 72 held-out" in shown
    )
    assert f"pairs of {stopping.users} users; then trained on all pairs" in shown
    one = ["--dim", "4", "--epochs", "1", "--early-stop", "recall@5", "-o", "m"]
    shown = " ".join(ialspp("fit", "log.csv", *COLUMNS, *one, cwd=folder, COLUMNS="300").stdout.split())
    assert "more --epochs may be better; then trained on all pairs" in shown


def epochs_of_both_parts(folder):
    stopping = searched(read(folder))[1]
    return len(stopping.scores), stopping.best_epoch


def interrupted(monkeypatch, *arguments, at, cwd):
    """Run the command in this process; Ctrl-C comes after so many epochs of both parts."""
    keep, calls = Checkpointer.keep, []

    def keep_and_interrupt(checkpointer, users, items, history):
        keep(checkpointer, users, items, history)
        calls.append(len(history))
        if len(calls) == at:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Checkpointer, "keep", keep_and_interrupt)
        return ialspp(*arguments, cwd=cwd)


@posix
def test_interrupted_anywhere_in_both_parts_it_goes_on(folder, monkeypatch):
    facts = answer(*FIT, cwd=folder)
    whole = ImplicitMF.load(folder / "m")
    first, second = epochs_of_both_parts(folder)
    for at in range(1, first + second + 1):
        (folder / "m").unlink()
        done = interrupted(monkeypatch, *FIT, "--checkpoint", "c", at=at, cwd=folder)
        refuses("interrupted: c keeps epoch", "go on with: ialspp fit --resume c", code=130)(done)
        assert (Checkpoint.read(folder / "c").job.stopping is not None) == (at <= first)
        again = answer("fit", "--resume", "c", cwd=folder)
        assert again["early_stopping"] == facts["early_stopping"]
        assert same_bits(ImplicitMF.load(folder / "m"), whole)
        assert not (folder / "c").exists()


@posix
def test_between_the_parts_it_goes_on(folder, monkeypatch):
    """After the search has ended, and before an epoch of the second part has."""
    answer(*FIT, cwd=folder)
    whole, finish = ImplicitMF.load(folder / "m"), Checkpointer.__exit__

    def finish_and_interrupt(checkpointer, *error):
        finish(checkpointer, *error)
        signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Checkpointer, "__exit__", finish_and_interrupt)
        done = ialspp(*FIT, "--checkpoint", "c", "--every", "2", cwd=folder)
    refuses("the last; go on with: ialspp fit --resume c", code=130)(done)
    assert Checkpoint.read(folder / "c").is_finished
    done = interrupted(monkeypatch, "fit", "--resume", "c", at=1, cwd=folder)
    assert (done.returncode, Checkpoint.read(folder / "c").job.every) == (130, 2)
    refuses("--patience was 3, got 2")(ialspp("fit", "--resume", "c", "--patience", "2", cwd=folder))
    answer("fit", "--resume", "c", cwd=folder)
    assert same_bits(ImplicitMF.load(folder / "m"), whole)


@posix
def test_info_describes_such_a_checkpoint(folder, monkeypatch):
    interrupted(monkeypatch, *FIT, "--checkpoint", "c", at=1, cwd=folder)
    facts = answer("info", "c", "--verify", cwd=folder)
    assert (facts["format_version"], len(facts["scores"]), facts["verified"]) == (2, 1, True)
    assert facts["stopping"]["metric"] == "recall@5"
    assert ialspp("info", "c", cwd=folder).returncode == 0


def test_evaluate_stops_by_the_validation_users(folder):
    arguments = ["evaluate", "log.csv", *COLUMNS, "--protocol", "strong", *EARLY]
    found = answer(*arguments, cwd=folder)
    parts = split.strong(read(folder))
    stopping = EarlyStopping(parts.validation, "recall@5", patience=3)
    model = ImplicitMF(4, epochs=9).fit(parts.train, callbacks=[stopping], progress=False)
    assert found["early_stopping"]["scores"] == stopping.scores
    assert found["results"]["model"] == evaluate(model, parts).as_dict()["metrics"]
    assert (found["data"]["test_users"], found["data"]["validation_users"]) == (6, 6)
    shown = ialspp(*arguments, cwd=folder, COLUMNS="200").stdout
    assert "Held out: 6 users for the test, 6 for validation." in shown
    assert f"Stopped early: recall@5 {stopping.best_score:.4f} after epoch {stopping.best_epoch}, " in shown
    weak = ialspp("evaluate", "log.csv", *COLUMNS, "--protocol", "random", "--dim", "4", cwd=folder)
    assert "Held out: 144 pairs of " in weak.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "-o", "x", "--patience", "1"], "--patience is for --early-stop, which was not given"),
        (["fit", "-o", "x", "--early-stop", "f1"], "a metric must be one of"),
        (["fit", "-o", "x", "--early-stop", "novelty@5"], "how well test items are ranked"),
        (["fit", "-o", "x", "--early-stop", "auc", "--patience", "0"], "patience must be at least 1, got 0"),
        (["fit", "-o", "x", "--early-stop", "auc", "--epochs", "0"], "needs --epochs of at least 1, got 0"),
        (["evaluate", "--protocol", "random", "--early-stop", "auc"], "needs validation users, which --prot"),
    ],
)
def test_what_cannot_be_right_is_refused(folder, arguments, message):
    command, *options = arguments
    refuses(message)(ialspp(command, "log.csv", *COLUMNS, *options, cwd=folder))
    assert not (folder / "x").exists()
