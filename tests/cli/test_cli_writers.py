"""ialspp update beside others that write the same file: no update is lost, and no damage becomes sound."""

import pytest
from support.commands import COLUMNS, QUICK, answer, contents, ialspp, ialspp_process, refuses, write_log
from support.processes import PATIENCE
from support.stores import posix
from support.terminal import PIPES, start

from ialspp import ImplicitMF, store
from ialspp.model import saving

USERS = {"first.csv": "u100", "second.csv": "u200"}


@pytest.fixture
def folder(tmp_path):
    """A model, and two days of new interactions."""
    write_log(tmp_path / "log.csv")
    answer("fit", "log.csv", *COLUMNS, *QUICK, "-o", "m.ialspp", cwd=tmp_path)
    for file, user in USERS.items():
        write_log(tmp_path / file, users=3, first_user=int(user[1:]))
    return tmp_path


def update(file, *options):
    return "update", "m.ialspp", file, *COLUMNS, *options


def known(folder):
    return set(ImplicitMF.load(folder / "m.ialspp", verify=True).users)


@posix
def test_updates_of_two_processes_are_both_in_the_file(folder):
    children = [start(*update(file), cwd=folder, **PIPES) for file in USERS]
    for child in children:
        _, err = child.communicate(timeout=PATIENCE)
        assert child.returncode == 0, err
    assert set(USERS.values()) <= known(folder)


def overtaken_update(folder, monkeypatch):
    """Run an update, while which another one runs from its start to its end."""
    plain, others = ImplicitMF.update, ["second.csv"]

    def overtaken(model, data, **options):
        done = plain(model, data, **options)
        if others:
            other = ialspp_process(*update(others.pop()), cwd=folder)
            assert other.returncode == 0, other.stderr
        return done

    monkeypatch.setattr(ImplicitMF, "update", overtaken)
    return ialspp(*update("first.csv"), cwd=folder)


def test_an_update_that_another_one_overtook_is_repeated(folder, monkeypatch):
    before = (folder / "m.ialspp").read_bytes()
    answer(*update("second.csv"), cwd=folder)
    answer(*update("first.csv"), cwd=folder)
    one_after_the_other = (folder / "m.ialspp").read_bytes()
    (folder / "m.ialspp").write_bytes(before)
    done = overtaken_update(folder, monkeypatch)
    said = "another process has replaced m.ialspp; the update is repeated on the new file\n"
    assert (done.returncode, done.stderr) == (0, said)
    assert set(USERS.values()) <= known(folder)
    assert (folder / "m.ialspp").read_bytes() == one_after_the_other


def test_an_update_of_a_damaged_large_file_changes_nothing(folder, monkeypatch):
    """Its vectors are not checked when it is opened; they are before they are written again."""
    monkeypatch.setattr(saving, "VERIFIED", 100)
    file = folder / "m.ialspp"
    whole = bytearray(file.read_bytes())
    whole[whole.index(ImplicitMF.load(file).item_factors.tobytes()) + 3] ^= 1
    file.write_bytes(whole)
    before = contents(folder)
    said = "m.ialspp is corrupted: the checksum is wrong for 'item_factors'"
    refuses(said)(ialspp(*update("first.csv"), cwd=folder))
    refuses(said)(ialspp(*update("first.csv", "-o", "new.ialspp"), cwd=folder))
    for way in (["--parquet", "vectors"], ["--numpy", "vectors"], ["--ann", "usearch", "-o", "index"]):
        refuses(said)(ialspp("export", "m.ialspp", *way, cwd=folder))
    assert contents(folder) == before
    with pytest.raises(store.StoreError):
        store.verify(file)


def test_rows_of_a_damaged_large_file_are_told_from_wrong_data(folder, monkeypatch):
    monkeypatch.setattr(saving, "VERIFIED", 100)
    file = folder / "m.ialspp"
    columns = ImplicitMF.load(file).trained_on.by_user.columns
    whole = bytearray(file.read_bytes())
    whole[whole.index(columns.tobytes()) + 2] ^= 1  # 65,536 more
    file.write_bytes(whole)
    before = contents(folder)
    said = "columns must be from 0 to", "the file that holds them is damaged"
    refuses(*said)(ialspp(*update("first.csv"), cwd=folder))
    refuses(*said)(ialspp("recommend", "m.ialspp", "--all", cwd=folder))
    assert contents(folder) == before
