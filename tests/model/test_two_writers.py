"""Two models of one file: neither overwrites what the other has saved since."""

import pickle
import shutil

import pytest
from support.models import make_data
from support.stores import file_of, model_of_strings

from ialspp import ImplicitMF
from ialspp.errors import InvalidStateError
from ialspp.store import FileChangedError

NEW = make_data(n=5, seed=9, users=12, user_id="new {}".format, items=["z", "é", "a", "b"])


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "m.ialspp"
    file.write_bytes(file_of(model_of_strings))
    return file


def updated(path):
    model = ImplicitMF.load(path, threads=1)
    model.update(NEW)
    return model


@pytest.mark.parametrize("mapped", [True, False])
def test_a_file_that_another_has_replaced_is_not_overwritten(path, mapped):
    model = ImplicitMF.load(path, mapped=mapped, threads=1)
    updated(path).save(path)
    theirs = path.read_bytes()
    with pytest.raises(FileChangedError, match=r"m\.ialspp was replaced by another process") as caught:
        model.save(path)
    assert isinstance(caught.value, InvalidStateError)
    assert path.read_bytes() == theirs
    assert list(path.parent.iterdir()) == [path]
    model.save(path.with_name("other.ialspp"))  # where nobody else has written


def test_a_model_replaces_its_own_files(path):
    model = updated(path)
    for _ in range(3):
        model.save(path)
    pickle.loads(pickle.dumps(model)).save(path)
    model.save(path.with_name("other.ialspp"))
    model.save(path.with_name("other.ialspp"))


def test_a_new_model_replaces_any_file(path):
    model_of_strings().save(path.with_name("first.ialspp"))
    fresh = pickle.loads(pickle.dumps(model_of_strings()))
    fresh.save(path)


def test_a_file_that_is_gone_is_written_again(path):
    model = updated(path)
    path.unlink()
    model.save(path)
    assert path.exists()


def test_a_copy_over_the_file_is_noticed(path):
    model = ImplicitMF.load(path, mapped=False, threads=1)
    updated(path).save(path.with_name("other.ialspp"))
    shutil.copy(path.with_name("other.ialspp"), path)  # the same file with other contents
    with pytest.raises(FileChangedError):
        model.save(path)


def test_a_link_that_leads_to_another_file_now_is_noticed(path):
    link, other = path.with_name("latest"), path.with_name("other.ialspp")
    link.symlink_to(path)
    model = updated(link)
    shutil.copy(path, other)
    link.unlink()
    link.symlink_to(other)
    theirs = other.read_bytes()
    with pytest.raises(FileChangedError):
        model.save(link)
    assert other.read_bytes() == theirs
    model.save(path)


def test_a_link_and_its_file_are_one(path):
    link = path.with_name("latest")
    link.symlink_to(path)
    model = updated(link)
    model.save(path)
    model.save(link)
    stale = ImplicitMF.load(path, threads=1)
    model.save(link)
    with pytest.raises(FileChangedError):
        stale.save(path)
