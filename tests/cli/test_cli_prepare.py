"""ialspp prepare, and prepared data as the data of other commands."""

import json

import polars as pl
import pytest
from support.commands import COLUMNS, ialspp

from ialspp import ImplicitMF, Interactions

ROWS = {"who": [1, 1, 2, 2, 3, 3, 4], "what": ["a", "b", "a", "b", "a", "c", "a"], "n": [1, 2, 3, 4, 5, 6, 7]}


@pytest.fixture(name="files")
def files_with_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame(ROWS)
    frame[:3].write_parquet("one.parquet")
    frame[3:].write_parquet("two.parquet")
    return tmp_path


def run(*arguments, code=0):
    done = ialspp(*arguments)
    assert done.returncode == code, done.stderr
    return done


def refused(*arguments):
    """The message of a command that fails."""
    return " ".join(run(*arguments, code=2).stderr.split())


@pytest.mark.usefixtures("files")
def test_users_without_pairs_stay_unless_an_option_leaves_them_out():
    data = Interactions.from_arrays(user=[1, 2], item=[5, 6], users=[1, 2, 3], items=[5, 6, 7])
    data.save("data.ialsdata")
    for options, users in (([], [1, 2, 3]), (["--min-user", "1"], [1, 2])):
        run("fit", "data.ialsdata", "--dim", "2", *options, "-o", "model.ialspp")
        assert list(ImplicitMF.load("model.ialspp").users) == users


@pytest.mark.usefixtures("files")
def test_prepared_data_takes_the_place_of_its_files():
    done = run(
        "prepare", "one.parquet", "two.parquet", *COLUMNS, "--weight", "n", "-o", "data.ialsdata", "--json"
    )
    facts = json.loads(done.stdout)
    assert (facts["users"], facts["items"], facts["pairs"]) == (4, 3, 7)
    assert facts["source"]["more"] == ["two.parquet"]
    fitted = [
        json.loads(run("fit", *data, "--dim", "2", "-o", f"model-{number}", "--json").stdout)
        for number, data in enumerate([("data.ialsdata",), ("*.parquet", *COLUMNS, "--weight", "n")])
    ]
    assert fitted[0]["history"][-1]["loss"] == fitted[1]["history"][-1]["loss"]
    assert fitted[0]["data"] == fitted[1]["data"]
    for command in (("data", "show", "data.ialsdata"), ("update", "model-0", "data.ialsdata")):
        assert run(*command).returncode == 0
    message = refused("evaluate", "data.ialsdata", "--protocol", "random", "--dim", "2")
    assert "1 of 7 pairs are held out" in message  # too few for an evaluation, but they were read


@pytest.mark.usefixtures("files")
def test_options_of_reading_are_refused_with_prepared_data():
    run("prepare", "one.parquet", *COLUMNS, "-o", "data.ialsdata")
    message = refused("fit", "data.ialsdata", "--user", "who", "--min-rating", "3", "-o", "m")
    assert "data.ialsdata is prepared data; leave out --user, --min-rating" in message


@pytest.mark.usefixtures("files")
def test_a_core_is_taken_of_prepared_data():
    run("prepare", "*.parquet", *COLUMNS, "-o", "data.ialsdata")
    answer = json.loads(
        run("fit", "data.ialsdata", "--min-item", "2", "--dim", "2", "-o", "m", "--json").stdout
    )
    assert answer["data"]["items"] == 2
    run("prepare", "data.ialsdata", "--min-item", "2", "-o", "smaller.ialsdata")
    assert Interactions.open("smaller.ialsdata").n_items == 2


def test_known_data_can_be_prepared(files):
    (files / "user_artists.dat").write_text("userID\tartistID\tweight\n2\t51\t100\n3\t51\t1\n")
    known = ("lastfm", "--path", "user_artists.dat")
    run("prepare", *known, "-o", "data.ialsdata")
    assert Interactions.open("data.ialsdata").n_users == 2
    message = refused("prepare", *known, "one.parquet", "-o", "data.ialsdata")
    assert "lastfm is no file of rows, and cannot be joined with one.parquet" in message


def test_info_describes_and_verifies_prepared_data(files):
    run("prepare", "one.parquet", *COLUMNS, "-o", "data.ialsdata")
    facts = json.loads(run("info", "data.ialsdata", "--verify", "--json").stdout)
    assert (facts["format"], facts["pairs"], facts["verified"]) == ("ialspp data", 3, True)
    assert "ids of users" in run("info", "data.ialsdata").stdout
    assert "2 users, 2 items" in run("info", ".").stdout
    damaged = bytearray((files / "data.ialsdata").read_bytes())
    damaged[-1] ^= 1
    (files / "data.ialsdata").write_bytes(damaged)
    assert "corrupted: the checksum is wrong" in refused("info", "data.ialsdata", "--verify")


def test_no_other_file_is_replaced(files):
    (files / "notes.txt").write_text("mine")
    message = refused("prepare", "one.parquet", *COLUMNS, "-o", "notes.txt")
    assert "notes.txt exists and is not prepared data of ialspp" in message
    assert run("prepare", "one.parquet", *COLUMNS, "-o", "notes.txt", "--force").returncode == 0
    assert run("prepare", "two.parquet", *COLUMNS, "-o", "notes.txt").returncode == 0
    message = refused("fit", "one.parquet", *COLUMNS, "-o", "notes.txt")
    assert "exists and is not a model of ialspp" in message


@pytest.mark.usefixtures("files")
def test_memory_that_is_no_size_is_an_error():
    message = refused("prepare", "one.parquet", *COLUMNS, "-o", "x", "--memory", "lots")
    assert "memory must be a number of bytes or a size" in message


@pytest.mark.usefixtures("files")
def test_names_are_prepared_with_the_data(files):
    (files / "titles.csv").write_text("id,title\na,Alien\nc,Casablanca\n")
    named = ("--item-names", "titles.csv", "--name-columns", "id,title")
    facts = json.loads(run("prepare", "*.parquet", *COLUMNS, *named, "-o", "data.ialsdata", "--json").stdout)
    assert facts["names"] == {"items": {"named": 2, "of": 3}}
    assert list(Interactions.open("data.ialsdata").items.names) == ["Alien", "", "Casablanca"]
    run("prepare", "data.ialsdata", "--item-names", "titles.csv", "-o", "again.ialsdata")
    assert list(Interactions.open("again.ialsdata").items.names) == ["Alien", "", "Casablanca"]
    (files / "few.csv").write_text("id,title\na,Alien\n")
    done = run("prepare", "*.parquet", *COLUMNS, "--item-names", "few.csv", "-o", "few.ialsdata")
    assert "for 1 of 3 items" in done.stdout
    assert "2 of 3 items have no name; are the ids in few.csv those of the data?" in done.stderr


@pytest.mark.usefixtures("files")
def test_names_that_cannot_be_used_are_refused_before_anything_is_written(files):
    message = refused("prepare", "*.parquet", *COLUMNS, "--name-columns", "0,1", "-o", "data.ialsdata")
    assert "--name-columns needs a file of names" in message
    (files / "others.csv").write_text("id,title\nz,Zelig\n")
    message = refused("prepare", "*.parquet", *COLUMNS, "--item-names", "others.csv", "-o", "data.ialsdata")
    assert "that have a name is the id of one of the 3 items" in message
    assert not (files / "data.ialsdata").exists()


@pytest.mark.usefixtures("files")
def test_good_data_is_not_replaced_by_none(files):
    run("prepare", "one.parquet", *COLUMNS, "-o", "data.ialsdata")
    before = (files / "data.ialsdata").read_bytes()
    for options in (["--where", "n > 99"], ["--min-user", "9"]):
        message = refused("prepare", "one.parquet", *COLUMNS, *options, "-o", "data.ialsdata")
        assert "data.ialsdata is not written, because no row of the data is left" in message
    (files / "empty.csv").write_text("who,what\n")
    assert "no row" in refused("prepare", "empty.csv", *COLUMNS, "-o", "new.ialsdata")
    message = refused("prepare", "data.ialsdata", "--min-item", "9", "-o", "other.ialsdata")
    assert "data.ialsdata has no interactions" in message
    assert (files / "data.ialsdata").read_bytes() == before
    assert not list(files.glob("*other*")) + list(files.glob("*new*"))


@pytest.mark.usefixtures("files")
def test_times_are_named_when_data_is_prepared():
    run("prepare", "one.parquet", *COLUMNS, "-o", "data.ialsdata")
    message = refused("evaluate", "data.ialsdata", "--protocol", "last-item")
    assert "--time must name their column, when the data is prepared" in message
