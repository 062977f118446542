"""Checkpoints of other fits, damaged ones, full disks: a clear error, and nothing is overwritten."""

import errno
import json
import os
from contextlib import ExitStack

import numpy as np
import pytest
from support.checkpoints import check_equal, epochs_in, interrupted, resumed
from support.exports import files_no_larger_than
from support.models import ITEMS, fitted, make_data, make_model, same_bits
from support.processes import wait_until
from support.stores import names, posix

from ialspp import IALS, ImplicitMF, Interactions, store
from ialspp.files import container
from ialspp.files.container import Container
from ialspp.model.checkpoint import Checkpoint

DATA = make_data()


@pytest.fixture(name="path")
def checkpoint_of_two_epochs(tmp_path):
    path = tmp_path / "c.checkpoint"
    interrupted(path, DATA, at=2, epochs=4)
    return path


def refused(path, data=DATA, *, match, error=ValueError):
    """Neither read nor changed: the file is as it was, and so is the folder."""
    before, there = path.read_bytes(), sorted(names(path.parent))
    with pytest.raises(error, match=match) as caught:
        resumed(path, data)
    assert str(path) in str(caught.value)
    assert (path.read_bytes(), sorted(names(path.parent))) == (before, there)


# Other data


def changed(**columns):
    """The data with other numbers, ids or pairs."""
    rows = DATA.by_user
    found = {
        "user": DATA.users.ids[rows.row_numbers].tolist(),
        "item": DATA.items.ids[rows.columns].tolist(),
        "users": DATA.users.ids.tolist(),
        "items": DATA.items.ids.tolist(),
        "label": rows.labels,
        "weight": rows.weights,
    }
    return Interactions.from_arrays(**{**found, **columns})


def with_last(array):
    """The numbers, of which the last is a little larger."""
    return np.append(array[:-1], np.nextafter(array[-1], np.float32(10)))


def test_the_same_data_made_anew_goes_on(path):
    check_equal(resumed(path, changed()), fitted(DATA, epochs=4))


@pytest.mark.parametrize(
    ("data", "difference"),
    [
        (make_data(n=399), "400 pairs are required, got 399"),
        (make_data(users=41), "40 users are required, got 41"),
        (make_data(items=[*ITEMS, "one more"]), "30 items are required, got 31"),
        (
            make_data(users=9, n=100, items=ITEMS[:20]),
            "40 users .* got 9, 30 items .* got 20, 400 pairs .* got 100",
        ),
        (make_data(seed=1), "ids, pairs, labels or weights differ"),
        (make_data(user_id=str), "ids, pairs, labels or weights differ"),
        (make_data(numbers=("label",)), "ids, pairs, labels or weights differ"),
        (changed(label=with_last(DATA.by_user.labels)), "ids, pairs, labels or weights differ"),
        (changed(weight=with_last(DATA.by_user.weights)), "ids, pairs, labels or weights differ"),
        (changed(label=DATA.by_user.weights, weight=DATA.by_user.labels), "labels or weights differ"),
        (changed(users=[*range(1, 40), 0]), "ids, pairs, labels or weights differ"),
        (changed(items=[*ITEMS[:-2], "item-29", "item-28"]), "ids, pairs, labels or weights differ"),
        (changed(items=[*ITEMS[:-1], "item-x"]), "ids, pairs, labels or weights differ"),
    ],
)
def test_other_data_is_refused(path, data, difference):
    refused(path, data, match=f"belongs to a fit on other data: .*{difference}")


@pytest.mark.parametrize("ids", [range(40), [2**63 + n for n in range(40)], [10**30 + n for n in range(40)]])
def test_ids_of_every_kind_are_told_apart(tmp_path, ids):
    data = make_data(user_id=list(ids).__getitem__)
    other = make_data(user_id=[*ids[:-1], ids[0] + 100].__getitem__)
    interrupted(tmp_path / "c", data, at=1)
    refused(tmp_path / "c", other, match="ids, pairs, labels or weights differ")
    check_equal(resumed(tmp_path / "c", data), fitted(data))


@pytest.mark.parametrize("data", [None, [], "ratings.csv"])
def test_what_is_no_data_is_refused(path, data):
    with pytest.raises(TypeError, match="data must be Interactions, got"):
        ImplicitMF.resume(path, data)


# Other files


def test_every_cut_and_flipped_byte_is_noticed(path, tmp_path):
    whole = path.read_bytes()
    bad = tmp_path / "bad"
    for place in range(0, len(whole), 97):
        bad.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        refused(bad, match="corrupted|cut short|too many|safetensors", error=store.StoreError)
        bad.write_bytes(whole[:place])
        refused(bad, match="empty|cut short", error=store.StoreError)


def test_a_model_is_no_checkpoint(tmp_path):
    fitted().save(tmp_path / "m")
    refused(tmp_path / "m", match="is not a checkpoint of ialspp", error=store.StoreError)


def test_text_is_no_checkpoint(tmp_path):
    (tmp_path / "t").write_text("user,item\n1,2\n")
    refused(tmp_path / "t", match="it looks like text", error=store.StoreError)


def test_no_file_is_no_checkpoint(tmp_path):
    with pytest.raises(FileNotFoundError):
        resumed(tmp_path / "none", DATA)


def forged(path, *, arrays=None, metadata=None, **changes):
    """Write the checkpoint again with right checksums and other contents."""
    opened = Container.open(path, mapped=False)
    description = {**json.loads(opened.metadata["description"]), **changes}
    told = {
        name: text for name, text in opened.metadata.items() if name not in ("checksums", "header_checksum")
    }
    told = {**told, "description": json.dumps(description), **(metadata or {})}
    container.write(path, {**opened.arrays, **(arrays or {})}, told)


def test_a_newer_format_is_refused(path):
    forged(path, metadata={"format_version": "5", "written_by": "ialspp 9.0"})
    refused(path, match="format '5', written by ialspp 9.0; this version reads formats 1, 2, 3, 4")


RECORD = {
    "epoch": 1,
    "loss": 5.0,
    "observed": 3.0,
    "unobserved": 1.0,
    "regularization": 1.0,
    "seconds": 0.1,
    "relaxation": 1.0,
    "precision": "single",
}
COUNTS = {"users": 40, "items": 30, "pairs": 400}


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"plan": {"epochs": -1}}, "epochs must be at least 0, got -1"),
        ({"plan": {"epochs": 4, "until": 7}}, "until must be between 0 and 1"),
        ({"plan": {"epochs": 4, "earlier": "x"}}, "earlier must be an integer"),
        ({"plan": {"days": 4}}, "unexpected keyword argument 'days'"),
        ({"plan": None}, "does not hold a whole checkpoint"),
        ({"every": 0}, "every must be at least 1, got 0"),
        ({"every": "often"}, "every must be an integer, got 'often'"),
        ({"half": 1.0}, "a half epoch fits neither"),
        ({"every": 0.5, "half": -1.0}, "half must be"),
        ({"every": 0.5, "half": "x"}, "half must be a number, got 'x'"),
        ({"every": 0.5, "half": 1.0, "finished": True}, "a half epoch fits neither"),
        ({"note": 5}, "does not hold a whole checkpoint"),
        ({"settings": []}, "does not hold a whole checkpoint"),
        ({"settings": {"dim": 8}}, "does not hold a whole checkpoint"),
        ({"data": {**COUNTS, "sha256": 5}}, "sha256 must be of type str, got 5"),
        ({"data": {**COUNTS, "users": "40", "sha256": ""}}, "users must be of type int, got '40'"),
        ({"data": {**COUNTS, "users": 41, "sha256": ""}}, "do not fit 41 users"),
        ({"history": [{**RECORD, "epoch": 2}]}, "the record of epoch 1 is required, got that of 2"),
        ({"history": [{**RECORD, "loss": "low"}]}, "loss of an epoch must be a number, got str"),
        ({"history": [{**RECORD, "loss": float("nan")}]}, "loss of an epoch must be a number, got NaN"),
        ({"history": [{**RECORD, "loss": float("inf")}]}, "the loss of epoch 1 must be finite, got inf"),
        ({"history": [{**RECORD, "relaxation": 0}]}, "relaxation must be > 0 and < 2, got 0"),
        ({"history": [{**RECORD, "precision": "double"}]}, "precision must be"),
        ({"history": [{}]}, "missing 6 required positional arguments"),
        ({"history": 7}, "does not hold a whole checkpoint"),
    ],
)  # fmt: skip
def test_a_description_that_cannot_be_right_is_refused(path, changes, match):
    forged(path, **changes)
    refused(path, match=match, error=store.StoreError)


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("dim", 9, "40, 8.* do not fit .* 9 dimensions"),
        ("epochs", "many", "epochs must be an integer, got 'many'"),
        ("solver", {"name": "Magic"}, "the solver 'Magic' is not known to this version"),
        ("solver", {"name": "IALS", "power": 9}, "unexpected keyword argument 'power'"),
        ("colour", "red", "unexpected keyword argument 'colour'"),
    ],
)
def test_settings_that_cannot_be_right_are_refused(path, name, value, match):
    settings = json.loads(Container.open(path).metadata["description"])["settings"]
    forged(path, settings={**settings, name: value})
    refused(path, match=match, error=store.StoreError)


@pytest.mark.parametrize(
    ("array", "match"),
    [
        (np.zeros((40, 7), np.float32), "40, 7.* do not fit 40 users"),
        (np.zeros((40, 8), np.float64), "must be float32 of 2 dimensions, got float64"),
        (np.zeros(320, np.float32), "must be float32 of 2 dimensions"),
        (np.full((40, 8), np.nan, np.float32), "its factors must be finite"),
        (np.full((40, 8), np.inf, np.float32), "its factors must be finite"),
    ],
)
def test_factors_that_cannot_be_right_are_refused(path, array, match):
    forged(path, arrays={"user_factors": array})
    refused(path, match=match, error=store.StoreError)


# Beginning a fit


def test_an_unfinished_fit_is_not_overwritten(path):
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match="keeps epoch 2 of 4 of a fit that has not ended; resume it"):
        make_model().fit(DATA, checkpoint=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"user,item\n", "model", "cut"])
def test_no_other_file_is_overwritten(tmp_path, path, content):
    other = tmp_path / "other"
    if content == "model":
        fitted().save(other)
    else:
        other.write_bytes(path.read_bytes()[:-1] if content == "cut" else content)
    before, model = other.read_bytes(), make_model()
    with pytest.raises(ValueError, match="is not a checkpoint that can be read, and will not be overwritten"):
        model.fit(DATA, checkpoint=other)
    assert other.read_bytes() == before
    assert model.history == []


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"checkpoint": "c", "every": 0}, ValueError, "every must be at least 1, got 0"),
        ({"checkpoint": "c", "every": 1.5}, ValueError, "every must be 0.5 or a whole number .*, got 1.5"),
        ({"checkpoint": "c", "every": True}, TypeError, "every must be an integer, got True"),
        ({"checkpoint": "c", "every": float("nan")}, ValueError, "every must be 0.5 or a whole number"),
        ({"every": 2}, ValueError, "every=2 is for checkpoint=, which was not given"),
        ({"checkpoint": "none/c"}, FileNotFoundError, "none"),
        ({"checkpoint": "."}, IsADirectoryError, "this is a folder"),
    ],
)
def test_options_that_cannot_be_right_are_refused_before_the_training(
    tmp_path, monkeypatch, options, error, match
):
    monkeypatch.chdir(tmp_path)
    model = make_model()
    with pytest.raises(error, match=match):
        model.fit(DATA, **options)
    assert (model.history, names(tmp_path)) == ([], [])


def test_a_solver_of_ones_own_cannot_be_named_in_a_file(tmp_path):
    class Own:
        def epoch(self, problem):
            return IALS().epoch(problem)

    model = make_model(solver=Own())
    with pytest.raises(
        ValueError, match=r"a fit with the solver <.*Own.*> cannot have checkpoints: a model file can name"
    ):
        model.fit(DATA, checkpoint=tmp_path / "c")
    assert (model.history, names(tmp_path)) == ([], [])


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_an_error_before_the_training(tmp_path):
    tmp_path.chmod(0o500)
    model = make_model()
    with pytest.raises(PermissionError, match="cannot be written to"):
        model.fit(DATA, checkpoint=tmp_path / "c")
    assert model.history == []


# While the fit goes on


@posix
def test_a_disk_that_is_full_from_some_epoch_on_is_an_error_that_keeps_the_file(tmp_path):
    path, model, kept, full = tmp_path / "c", make_model(epochs=6), [], ExitStack()

    def fill(_model, record):
        if record.epoch == 3:
            wait_until(lambda: epochs_in(path) == 3)  # written beside the training
            kept.append(path.read_bytes())
            full.enter_context(files_no_larger_than(1000))

    with full, pytest.raises(OSError, match="c") as caught:
        model.fit(DATA, checkpoint=path, callbacks=[fill], progress=False)
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(path))
    assert (path.read_bytes(), names(tmp_path)) == (kept[0], ["c"])
    assert len(model.history) == 5  # epoch 4 was not written, which the end of epoch 5 told
    assert same_bits(model, fitted(DATA, epochs=5))
    check_equal(resumed(path, DATA), fitted(DATA, epochs=6))


@posix
def test_a_disk_that_is_full_at_the_end_is_an_error_too(tmp_path):
    path, model = tmp_path / "c", make_model(epochs=3)
    with files_no_larger_than(1000), pytest.raises(OSError, match="c"):
        model.fit(DATA, checkpoint=path, every=3, progress=False)
    assert names(tmp_path) == []
    assert same_bits(model, fitted(DATA, epochs=3))


@posix
def test_the_first_error_matters_more_than_that_of_the_disk(tmp_path):
    def fail(*_):
        raise ZeroDivisionError

    with files_no_larger_than(1000), pytest.raises(ZeroDivisionError):
        make_model(epochs=5).fit(DATA, checkpoint=tmp_path / "c", every=5, callbacks=[fail], progress=False)
    assert names(tmp_path) == []


def test_two_fits_with_one_file_are_noticed(path):
    """The second may have it: the first is refused when it writes again."""

    def go_on_too(_model, record):
        if record.epoch == 3:
            wait_until(lambda: epochs_in(path) == 3)
            resumed(path, DATA)

    whole = fitted(DATA, epochs=4)
    copy = path.read_bytes()
    with pytest.raises(RuntimeError, match=r"was replaced by another process.*needs a file of its own"):
        resumed(path, DATA, callbacks=[go_on_too])
    assert Checkpoint.read(path).is_finished
    check_equal(resumed(path, DATA), whole)
    path.write_bytes(copy)
    check_equal(resumed(path, DATA), whole)


def test_a_checkpoint_that_is_deleted_meanwhile_is_written_again(path):
    def delete(_model, record):
        if record.epoch == 3:
            path.unlink()

    check_equal(resumed(path, DATA, callbacks=[delete]), fitted(DATA, epochs=4))
    assert Checkpoint.read(path).is_finished


def test_an_error_before_the_end_of_the_first_epoch_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(IALS, "epoch", fail)
    with pytest.raises(ZeroDivisionError):
        make_model().fit(DATA, checkpoint=tmp_path / "c", progress=False)
    assert names(tmp_path) == []
