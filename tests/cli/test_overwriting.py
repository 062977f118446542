"""No command replaces a file that is not of its own kind, unless --force says so."""

import numpy as np
import polars as pl
import pytest
from support.commands import COLUMNS, QUICK, answer, contents, ialspp, refuses, write_log

from ialspp import ImplicitMF, Interactions

FIT = ["fit", "log.csv", *COLUMNS, *QUICK]
RECOMMEND = ["recommend", "m.ialspp", "--user", "u1"]
UPDATE = ["update", "m.ialspp", "log.csv", *COLUMNS]
INDEX = ["export", "m.ialspp", "--ann", "usearch"]
PARQUET, NUMPY = ["export", "m.ialspp", "--parquet", "."], ["export", "m.ialspp", "--numpy", "."]


@pytest.fixture
def folder(tmp_path):
    """A log, a model, and files of other kinds."""
    write_log(tmp_path / "log.csv")
    answer(*FIT, "-o", "m.ialspp", cwd=tmp_path)
    (tmp_path / "notes.txt").write_text("do not lose me\n")
    (tmp_path / "ratings.csv").write_text("who,what\nu1,2\n")
    (tmp_path / "words.jsonl").write_text("not json\n")
    (tmp_path / "scores.csv").write_text("player,rank,score\nann,1,2.5\n")
    (tmp_path / "deep.jsonl").write_text("[" * 50_000)
    (tmp_path / "list.ndjson").write_text('["rank", "score"]\n')
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\n")
    (tmp_path / "broken.parquet").write_text("not parquet")
    pl.DataFrame({"id": [1], "name": ["Ann"]}).write_parquet(tmp_path / "items.parquet")
    (tmp_path / "item_factors.npy").write_text("not numpy")
    (tmp_path / "model.csv").write_bytes((tmp_path / "m.ialspp").read_bytes())
    return tmp_path


REFUSED = [
    ([*FIT, "-o", "notes.txt"], "notes.txt exists and is not a model of ialspp"),
    ([*UPDATE, "-o", "notes.txt"], "notes.txt exists and is not a model of ialspp"),
    ([*RECOMMEND, "-o", "ratings.csv"], "ratings.csv exists and is not a table of rankings"),
    ([*RECOMMEND, "-o", "scores.csv"], "scores.csv exists and is not a table of rankings"),
    ([*RECOMMEND, "-o", "words.jsonl"], "words.jsonl exists and is not a table of rankings"),
    ([*RECOMMEND, "-o", "deep.jsonl"], "deep.jsonl exists and is not a table of rankings"),
    ([*RECOMMEND, "-o", "list.ndjson"], "list.ndjson exists and is not a table of rankings"),
    ([*RECOMMEND, "-o", "bytes.csv"], "bytes.csv exists and is not a table of rankings"),
    ([*RECOMMEND, "-o", "broken.parquet"], "broken.parquet exists and is not a table of rankings"),
    ([*RECOMMEND, "-o", "model.csv"], "model.csv exists and is not a table of rankings"),
    (["similar", "m.ialspp", "--item", "1", "-o", "ratings.csv"], "ratings.csv exists"),
    ([*INDEX, "-o", "m.ialspp"], "m.ialspp exists and is not an index of ialspp"),
    ([*INDEX, "-o", "notes.txt"], "notes.txt exists and is not an index of ialspp"),
    (PARQUET, "items.parquet exists and is not a file of ids or vectors"),
    (NUMPY, "item_factors.npy exists and is not a file of ids or vectors"),
]


def test_files_of_another_kind_stay(folder):
    before = contents(folder)
    for arguments, said in REFUSED:
        refuses(said, "--force")(ialspp(*arguments, cwd=folder))
    assert contents(folder) == before


def test_files_of_the_same_kind_are_replaced(folder):
    (folder / "empty.ialspp").touch()
    answer(*FIT, "-o", "empty.ialspp", cwd=folder)
    short = (folder / "m.ialspp").read_bytes()[:200]
    (folder / "m.ialspp").write_bytes(short)
    answer(*FIT, "-o", "m.ialspp", cwd=folder)
    assert (folder / "m.ialspp").read_bytes() != short
    for table in ("t.csv", "t.jsonl", "t.parquet"):
        first, second = (answer(*RECOMMEND, "-k", k, "-o", table, cwd=folder)["rows"] for k in (3, 2))
        assert (first, second) == (3, 2)


def test_force_replaces_any_file(folder):
    answer(*FIT, "-o", "notes.txt", "--force", cwd=folder)
    assert len(ImplicitMF.load(folder / "notes.txt").users) == 60
    assert answer(*RECOMMEND, "--top", 3, "-o", "ratings.csv", "--force", cwd=folder)["rows"] == 3


def test_an_index_is_replaced_by_an_index(folder):
    pytest.importorskip("usearch")
    for _ in range(2):
        answer(*INDEX, "-o", "films.usearch", cwd=folder)
    answer(*INDEX, "-o", "notes.txt", "--force", cwd=folder)


def test_vectors_are_replaced_by_vectors(folder):
    for command in (PARQUET, NUMPY):
        answer(*command, "--force", cwd=folder)
        before = contents(folder)
        answer(*command, cwd=folder)
        assert contents(folder).keys() == before.keys()
    assert pl.read_parquet(folder / "items.parquet").columns == ["id", "vector"]
    assert np.load(folder / "item_factors.npy").shape == (len(np.load(folder / "item_ids.npy")), 4)


@pytest.mark.parametrize("command", ["evaluate", "fit"])
def test_a_model_is_not_data(folder, command):
    out = ["-o", "x.ialspp"] if command == "fit" else []
    done = ialspp(command, "m.ialspp", *out, cwd=folder)
    refuses(f"m.ialspp is a model, and {command} needs data", "ialspp info m.ialspp")(done)


@pytest.mark.parametrize(
    ("sources", "out"),
    [
        (["log.csv"], "log.csv"),
        (["lo*.csv"], "log.csv"),
        (["logs"], "logs/b.csv"),
        (["logs/*.csv"], "linked.csv"),
    ],
)
@pytest.mark.parametrize("command", ["fit", "prepare"])
def test_no_file_of_the_data_is_replaced_even_by_force(folder, command, sources, out):
    (folder / "logs").mkdir()
    for name in "ab":
        write_log(folder / f"logs/{name}.csv")
    (folder / "linked.csv").symlink_to(folder / "logs/a.csv")
    before = contents(folder)
    options = QUICK if command == "fit" else []
    done = ialspp(command, *sources, *COLUMNS, *options, "-o", out, "--force", cwd=folder)
    refuses(f"--out must not be a file of the data, got {out}")(done)
    assert contents(folder) == before


def test_no_further_file_of_the_data_is_replaced(folder):
    write_log(folder / "more.csv")
    before = contents(folder)
    done = ialspp("prepare", "log.csv", "more.csv", *COLUMNS, "-o", "more.csv", "--force", cwd=folder)
    refuses("--out must not be a file of the data, got more.csv")(done)
    with pytest.raises(ValueError, match="out must not be a file of the data"):
        Interactions.prepare(folder / "log.csv", folder / "log.csv", user="who", item="what")
    assert contents(folder) == before
