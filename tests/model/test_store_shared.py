"""Model files that others replace, overwrite or damage: no update is lost, and no damage becomes sound."""

import copy
import os
import pickle
import shutil

import numpy as np
import pytest
from support.models import fitted, make_data, same_bits
from support.processes import child, finish
from support.stores import answers, check_same, names, posix

from ialspp import ImplicitMF, Interactions, export, store
from ialspp.model import saving

NEWS = {name: Interactions.from_arrays(user=[name], item=["item-3"]) for name in ("ann", "bob")}


@pytest.fixture(name="path")
def model_file(tmp_path):
    path = tmp_path / "model"
    fitted(make_data(user_id=str, numbers=())).save(path)
    return path


def updated(path, name, **options):
    model = ImplicitMF.load(path, **options)
    model.update(NEWS[name], progress=False)
    return model


# Two writers


@pytest.mark.parametrize("mapped", [True, False])
def test_of_two_updates_of_one_file_the_second_is_refused(path, mapped):
    first, second = (updated(path, name, mapped=mapped) for name in NEWS)
    first.save(path)
    kept = path.read_bytes()
    with pytest.raises(store.FileChangedError, match="was replaced by another process since this"):
        second.save(path)
    assert (path.read_bytes(), names(path.parent)) == (kept, ["model"])
    again = updated(path, "bob")
    again.save(path)
    assert {"ann", "bob"} <= set(ImplicitMF.load(path).users)


def test_the_refused_update_can_be_saved_elsewhere(path, tmp_path):
    first, second = (updated(path, name) for name in NEWS)
    first.save(path)
    second.save(tmp_path / "other")
    check_same(second, ImplicitMF.load(tmp_path / "other"))
    with pytest.raises(store.FileChangedError):
        second.save(path)


def test_one_writer_may_save_as_often_as_it_likes(path):
    model = ImplicitMF.load(path)
    for name in (*NEWS, *NEWS):
        model.update(NEWS[name], progress=False)
        model.save(path)
        assert same_bits(ImplicitMF.load(path), model)


def test_a_model_of_ones_own_may_replace_any_file(path):
    """It was not read from the file, so it repeats nothing that is in there."""
    data = make_data(user_id=str, numbers=())
    model = fitted(data, seed=1)
    model.save(path)
    updated(path, "ann").save(path)
    with pytest.raises(store.FileChangedError):  # but it was saved there
        model.save(path)
    fitted(data, seed=2).save(path)


def test_a_file_that_is_gone_is_written_anew(path):
    model = updated(path, "ann")
    path.unlink()
    model.save(path)
    assert "ann" in ImplicitMF.load(path).users


@posix
def test_a_file_is_the_same_by_any_name(path, tmp_path, monkeypatch):
    link = tmp_path / "link"
    link.symlink_to(path)
    first, second = updated(link, "ann"), updated(path, "bob")
    monkeypatch.chdir(tmp_path)
    first.save("model")
    with pytest.raises(store.FileChangedError):
        second.save(link)


def test_a_copy_of_a_model_knows_its_file_too(path):
    copies = [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]
    for make in copies:
        model = make(updated(path, "bob"))
        updated(path, "ann").save(path)
        with pytest.raises(store.FileChangedError):
            model.save(path)


UPDATER = """
import sys
from ialspp import ImplicitMF, Interactions, store

path, name = sys.argv[1:]
news = Interactions.from_arrays(user=[name], item=["item-3"])
refused = 0
while True:
    model = ImplicitMF.load(path)
    model.update(news, progress=False)
    try:
        model.save(path)
        break
    except store.FileChangedError:
        refused += 1
print(refused)
"""


@posix
def test_updates_of_many_processes_are_all_in_the_file(path):
    names = [f"process-{n}" for n in range(4)]
    for process in [child(UPDATER, path, name) for name in names]:
        _, error = finish(process)
        assert (process.returncode, error) == (0, "")
    assert set(names) <= set(ImplicitMF.load(path, verify=True).users)


# Damage


@pytest.fixture(name="damaged")
def damaged_large_file(path, monkeypatch):
    """A file that is too large to be checked when it is opened, with another byte in a vector."""
    monkeypatch.setattr(saving, "VERIFIED", 100)
    with path.open("r+b") as file:
        place = path.read_bytes().find(bytes(ImplicitMF.load(path).user_factors[5].data))
        file.seek(place + 3)
        file.write(bytes([path.read_bytes()[place + 3] ^ 1]))
    ImplicitMF.load(path)  # which does not notice
    with pytest.raises(store.StoreError, match="checksum is wrong for 'user_factors'"):
        store.verify(path)
    return path


def refuses(path, call, *, others=()):
    before = path.read_bytes()
    with pytest.raises(store.StoreError, match=f"{path} is corrupted: .* wrong for 'user_factors'"):
        call()
    assert path.read_bytes() == before
    assert sorted(names(path.parent)) == sorted([path.name, *others])


def test_a_damaged_file_is_not_saved_as_a_sound_one(damaged, tmp_path):
    for target in (damaged, tmp_path / "elsewhere"):
        refuses(damaged, lambda target=target: ImplicitMF.load(damaged).save(target))
        refuses(damaged, lambda target=target: ImplicitMF.load(damaged).save(target, interactions=False))


def test_an_update_does_not_make_damage_sound(damaged, tmp_path):
    model = updated(damaged, "ann")
    for target in (damaged, tmp_path / "elsewhere"):
        refuses(damaged, lambda target=target: model.save(target))


@pytest.mark.parametrize(
    "make", [copy.copy, copy.deepcopy, pickle.dumps, lambda model: model.trained_on, ImplicitMF.verify]
)
def test_a_copy_does_not_make_damage_sound(damaged, make):
    refuses(damaged, lambda: make(ImplicitMF.load(damaged)))
    refuses(damaged, lambda: make(updated(damaged, "ann")))


def test_training_does_not_make_damage_sound(damaged):
    model = ImplicitMF.load(damaged)
    data = make_data(user_id=str, numbers=())
    refuses(damaged, lambda: model.fit(data, warm_start=True, progress=False))
    model.fit(data, progress=False)  # from its own start: nothing of the file is in it
    model.save(damaged)
    store.verify(damaged)


@pytest.mark.parametrize("write", [export.to_parquet, export.to_numpy])
def test_tables_are_not_made_of_damage(damaged, tmp_path, write):
    refuses(damaged, lambda: write(ImplicitMF.load(damaged), tmp_path / "tables"))


@pytest.mark.parametrize("kind", ["usearch", "faiss"])
def test_no_index_is_made_of_damage(damaged, tmp_path, kind):
    refuses(damaged, lambda: export.build_index(ImplicitMF.load(damaged), tmp_path / "index", kind=kind))


@posix
@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("use", [ImplicitMF.verify, copy.copy, lambda model: model.save("other")])
def test_a_file_that_is_overwritten_in_place_after_it_was_read_is_not_saved(
    path, tmp_path, monkeypatch, verify, use
):
    monkeypatch.chdir(tmp_path)
    model = ImplicitMF.load(path, verify=verify)
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\xff")
    with pytest.raises(store.StoreError, match="corrupted"):
        use(model)
    assert not (tmp_path / "other").exists()


# Replaced, deleted, overwritten


@posix
@pytest.mark.parametrize("mapped", [True, False])
def test_a_model_survives_the_replacing_and_the_deleting_of_its_file(path, mapped):
    model = ImplicitMF.load(path, mapped=mapped)
    expected = answers(ImplicitMF.load(path))
    fitted(make_data(n=10, users=9), dim=1).save(path)
    assert answers(model) == expected
    path.unlink()
    assert answers(model) == expected
    model.save(path)
    assert answers(ImplicitMF.load(path)) == expected


@posix
def test_a_model_that_was_read_into_memory_survives_anything(path, tmp_path):
    """cp writes into the file that is there: a mapped one becomes shorter, and reading it would be SIGBUS."""
    model = ImplicitMF.load(path, mapped=False)
    expected = answers(ImplicitMF.load(path))
    small = tmp_path / "small"
    fitted(make_data(n=10, users=9), dim=1).save(small)
    inode = path.stat().st_ino
    shutil.copyfile(small, path)
    assert path.stat().st_ino == inode
    assert answers(model) == expected
    with path.open("r+b") as file:
        file.truncate(0)
    assert answers(model) == expected
    model.save(tmp_path / "again")
    assert answers(ImplicitMF.load(tmp_path / "again")) == expected


@pytest.mark.parametrize("verify", [None, True, False])
def test_a_file_in_memory_gives_the_same_model(path, verify):
    in_memory = ImplicitMF.load(path, mapped=False, verify=verify)
    check_same(in_memory, ImplicitMF.load(path))
    assert not in_memory.user_factors.flags.writeable
    assert store.load(path, mapped=False).users == in_memory.users


def test_a_damaged_file_is_not_read_into_memory(damaged):
    with pytest.raises(store.StoreError, match="corrupted"):
        ImplicitMF.load(damaged, mapped=False)
    model = ImplicitMF.load(damaged, mapped=False, verify=False)
    refuses(damaged, lambda: model.save(damaged))
    assert np.isfinite(model.item_factors).all()
