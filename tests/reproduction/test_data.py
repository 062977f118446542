"""Data of the published layouts: what is read and split, and what stands beside it."""

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.commands import contents
from support.reproducing import (
    COLUMNS,
    TINY,
    liked_films,
    reproduce,
    write_lightgcn,
    write_log,
    write_movielens,
    write_ncf,
    write_songs,
)

from ialspp import Interactions, split
from reproduction.command import Experiment, Subject, measure
from reproduction.published import PUBLISHED, SOURCES
from reproduction.report.tables import data_table, published_table, quality_table


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """All data sets, each in the layout it is published in."""
    home = tmp_path_factory.mktemp("data")
    write_movielens(home / "films")
    write_songs(home / "songs")
    write_ncf(home / "ncf-ml1m", "ml-1m")
    write_ncf(home / "pins", "pinterest-20")
    write_lightgcn(home / "gowalla")
    write_lightgcn(home / "yelp2018")
    write_log(home / "log.csv")
    (home / "empty").mkdir()
    (home / "nothing.csv").write_text("")
    (home / "header.csv").write_text("who,what\n")
    (home / "one.csv").write_text("who,what\n" + "".join(f"u,{i}\n" for i in range(9)))
    return home


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("IALSPP_CACHE", str(tmp_path / "cache"))


# What is read


@functools.cache
def data_of(source, path=None, **options):
    return Subject(source=str(source), path=path, **options).benchmark().data()


def test_movielens_20m_is_found_wherever_it_is(home, monkeypatch):
    films = home / "films"
    data = data_of(films)
    assert (data.name, data.protocol, data.scale) == ("ml-20m", "strong", 1)
    assert data_of(films / "ratings.csv") == data_of(home / "ml-20m.zip") == data
    for name in ("ml20m", "ml-20m"):
        for path in (films, films / "ratings.csv", home / "ml-20m.zip"):
            assert data_of(name, path) == data
    monkeypatch.chdir(films)
    assert data_of(".") == data_of("ratings.csv") == data


def test_songs_are_found_wherever_they_are(home):
    data = data_of(home / "songs")
    assert (data.name, data.protocol) == ("msd", "strong")
    assert data_of(home / "songs" / "train_triplets.txt") == data
    for path in (home / "songs", home / "songs" / "train_triplets.txt", home / "train_triplets.txt.zip"):
        assert data_of("msd", path) == data


def test_the_archive_of_the_songs_is_known_by_its_name(home):
    assert data_of(home / "train_triplets.txt.zip") == data_of(home / "songs")


def test_published_splits_are_known_by_their_files(home):
    data = data_of(home / "ncf-ml1m")
    assert (data.name, data.protocol) == ("ncf:ml-1m", "leave-one-out")
    assert data_of("ncf", home / "ncf-ml1m") == data_of(home / "ncf-ml1m", protocol="ncf") == data
    data = data_of(home / "gowalla")
    assert (data.name, data.protocol) == ("lightgcn:gowalla", "weak")
    assert data_of("lightgcn", home / "gowalla") == data_of(home / "gowalla", protocol="lightgcn") == data
    assert data_of(home / "pins").name == "ncf:pinterest-20"
    assert data_of(home / "yelp2018").name == "lightgcn:yelp2018"


def test_films_are_split_for_strong_generalisation(home):
    """The users and pairs of Liang et al. (2018): from 4 stars, with five films or more."""
    parts = Subject(source=str(home / "films")).benchmark().split
    users, films = map(np.array, zip(*liked_films(), strict=True))
    liked = Interactions.from_arrays(user=users, item=films)
    wanted = split.strong(liked, held_out=5, min_user=5)
    for ours, theirs in [(parts.train, wanted.train), (parts.test.wanted, wanted.test.wanted)]:
        assert ours.users == theirs.users
        assert ours.items == theirs.items
        assert np.array_equal(ours.by_user.offsets, theirs.by_user.offsets)
        assert np.array_equal(ours.by_user.columns, theirs.by_user.columns)
    assert parts.metrics == ("capped_recall@20", "capped_recall@50", "ndcg@100")


def test_counts_are_those_of_the_papers_table(home):
    """|U|, |I| and |S| of what is left when users and items with too little are out, as in the paper."""
    films = data_of(home / "films")
    assert (films.users, films.items, films.interactions) == (50, 25, 400)
    songs = data_of(home / "songs")
    assert (songs.users, songs.items, songs.interactions) == (260, 36, 260 * 32)
    assert songs.train_interactions == 32 * songs.train_users


def test_of_small_data_at_most_one_in_ten_users_is_asked_about(home):
    assert (data_of(home / "films").train_users, data_of(home / "films").test_users) == (40, 5)
    assert (data_of(home / "songs").train_users, data_of(home / "songs").test_users) == (208, 26)


def test_a_scale_keeps_a_share_of_the_users(home):
    whole, half = data_of(home / "films"), data_of(home / "films", scale=0.5)
    assert half.scale == 0.5
    assert 15 <= half.users <= 35
    assert 0 < half.train_users < whole.train_users
    assert half.fingerprint != whole.fingerprint
    assert half == data_of(home / "films", scale=0.5)


def test_a_scale_keeps_the_items(home):
    """Songs are rare by the listeners of all the data, not by those of a share of it."""
    half = data_of(home / "songs", scale=0.5)
    assert 90 <= half.users <= 170
    assert half.items == 36


def test_generated_data_has_the_papers_shape():
    data = data_of("synthetic:ml20m", scale=0.01)
    assert (data.users, data.items, data.interactions) == (1367, 201, 100_000)
    assert data.test_users <= 100
    assert data_of("synthetic:msd", scale=0.02).users == 11427


def test_other_bits_have_another_fingerprint(home, tmp_path):
    write_movielens(tmp_path / "films")
    file = tmp_path / "films" / "ratings.csv"
    read = data_of.__wrapped__  # the file changes between two calls
    assert read(file) == data_of(home / "films")
    file.write_text(file.read_text().replace("\n1,", "\n1000,", 1))
    assert read(file).fingerprint != data_of(home / "films").fingerprint


# The whole way


STRONG = ["Recall@20", "Recall@50", "NDCG@100"]
FEW = Experiment(dim=[4], seeds=1, rounds=1, epochs=2)
# What is typed; the name it is known by, lambda, alpha0 and the metrics.
WAYS = {
    "films": ({"source": "ml20m", "path": Path("ml-20m.zip")}, "ml-20m", 0.003, 0.1, STRONG),
    "songs": ({"source": "songs"}, "msd", 0.002, 0.02, STRONG),
    "ncf": (
        {"source": "ncf", "path": Path("ncf-ml1m"), "protocol": "ncf"},
        "ncf:ml-1m",
        0.007,
        0.3,
        ["HR@10", "NDCG@10"],
    ),
    "gowalla": (
        {"source": "gowalla", "protocol": "lightgcn"},
        "lightgcn:gowalla",
        0.002,
        0.01,
        ["Recall@20", "NDCG@20"],
    ),
    "log": ({"source": "log.csv", "user": "who", "item": "what"}, "log.csv", 0.003, 0.1, STRONG),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_data_set_goes_all_the_way(way, home, tmp_path, monkeypatch):
    options, name, regularization, unobserved_weight, labels = way
    monkeypatch.chdir(home)
    run = measure(Subject(**options), FEW, tmp_path / "report")
    facts = {fact: here for fact, here, *_ in data_table(run).rows}
    assert run.data.name == facts["data"] == name
    assert run.settings.regularization == float(facts["lambda"]) == regularization
    assert run.settings.unobserved_weight == float(facts["alpha0"]) == unobserved_weight
    assert (float(facts["nu"]), float(facts["sigma"]), facts["T, epochs"]) == (1, 0.1, "2")
    assert run.settings.chosen_by == facts["hyperparameters from"]
    counts = (run.data.users, run.data.items, run.data.interactions, run.data.test_users)
    assert [facts[name] for name in ("|U|", "|I|", "|S|", "test users")] == [f"{n:,}" for n in counts]
    has_every_solver_and_block(run)
    has_the_metrics(run, labels)
    has_the_published_numbers(run)


def has_every_solver_and_block(run):
    wanted = [(4, 1), (4, 2), (4, 4), (4, None)]
    assert [(each.dim, each.block) for each in run.trained()] == wanted
    assert [(each.dim, each.block) for each in run.timed()] == wanted
    assert run.left_out() == []


def has_the_metrics(run, labels):
    """Those of the protocol, with the values that were measured."""
    table = quality_table(run)
    assert list(table.columns) == ["d", "block", "seeds", *labels]
    rows = {(row[0], row[1]): list(row[3:]) for row in table.rows}
    for training in run.trainings:
        own = training.task.configuration
        assert rows[str(own.dim), own.block_name] == [f"{v[-1]:.4f}" for v in training.metrics.values()]


def has_the_published_numbers(run):
    """Each with its source, below our own; of other data there are none."""
    published = [each for each in PUBLISHED if each.data == run.data.name]
    table = published_table(run)
    if not published:
        assert "none are published for log.csv" in run.settings.chosen_by
        assert table.rows == ()
        return
    ours = [row for row in table.rows if row[-1] == "measured here"]
    assert [row[0].partition(" (")[0] for row in ours] == ["iCD", "iALS", "iALS++", "SpectralCG"]
    theirs = table.rows[len(ours) :]
    assert len(theirs) == len(published) >= 4
    assert "other data" in table.note  # small files of the layout are not the published data
    for each, (system, dim, *values, source) in zip(published, theirs, strict=True):
        assert (system, dim) == (each.system, "—" if each.dim is None else str(each.dim))
        assert [float(value) for value in values] == list(each.metrics.values())
        assert source == f"published: {SOURCES[each.source]}"


def test_a_split_has_the_epochs_and_dimensions_it_is_known_for(home, tmp_path):
    """d and T were not given: 64 and 192, and 12, are those of the published numbers."""
    few = Experiment(block=["d"], seeds=0, rounds=1)
    run = measure(Subject(source=str(home / "ncf-ml1m")), few, tmp_path)
    assert (run.timed_dims(), run.settings.epochs) == ([64, 192], 12)


def test_the_real_ncf_files_go_all_the_way(shared_data, tmp_path):
    few = replace(FEW, block=["2", "d"], epochs=1)
    run = measure(Subject(source=str(shared_data("ncf-ml1m")), protocol="ncf"), few, tmp_path)
    assert (run.data.users, run.data.items, run.data.interactions) == (6040, 3706, 1_000_209)
    assert run.data.test_users == 6040
    table = published_table(run)
    assert [row[0] for row in table.rows][-4:] == ["iALS", "iALS", "MF by SGD", "NeuMF"]
    assert "other data" not in table.note


# What cannot be

MISTAKES = [
    (["--data", "ml21m"], ["ml21m", "no such file", "ml-20m"]),
    (["--data", "nowhere/ratings.csv"], ["nowhere/ratings.csv", "no such file"]),
    (["--data", "ml20m", "--path", "nowhere"], ["nowhere", "no such file"]),
    (["--data", "ml20m", "--path", "gowalla"], ["gowalla", "ratings.csv is required"]),
    (["--data", "ml20m", "--path", "ncf-ml1m"], ["ncf", "ratings.csv is required"]),
    (["--data", "msd", "--path", "films"], ["films", "train_triplets.txt is required"]),
    (["--data", "ncf"], ["path", "ml-1m.train.rating"]),
    (["--data", "ncf-ml1m", "--protocol", "strong"], ["strong", "leave-one-out"]),
    (["--data", "films", "--protocol", "ncf"], ["ncf", "leave-one-out", "strong"]),
    (["--data", "films/ratings.csv", "--protocol", "ncf"], ["ncf", "leave-one-out", "strong"]),
    (["--data", "pins", "--protocol", "lightgcn"], ["lightgcn", "weak", "leave-one-out"]),
    (["--data", "log.csv", *COLUMNS, "--protocol", "ncf"], ["ncf", "leave-one-out", "strong"]),
    (["--data", "films", "--protocol", "leave"], ["--protocol", "strong, ncf, lightgcn", "'leave'"]),
    (["--data", "log.csv"], ["--user and --item", "log.csv"]),
    (["--data", "log.csv", "--user", "who", "--item", "film"], ["'film' is not in the file", "what"]),
    (["--data", "log.csv", *COLUMNS, "--path", "films"], ["--path", "log.csv"]),
    (["--data", "empty"], ["empty"]),
    (["--data", "nothing.csv", *COLUMNS], ["nothing.csv", "empty"]),
    (["--data", "header.csv", *COLUMNS], ["no interactions"]),
    (["--data", "one.csv", *COLUMNS], ["1 users"]),
    (["--data", "pins", "--scale", "0.5"], ["ncf:pinterest-20", "--scale", "0.5"]),
    (["--data", "gowalla", "--scale", "0.5"], ["lightgcn:gowalla", "--scale", "0.5"]),
    (["--data", "films", "--scale", "0"], ["scale", "(0, 1]", "0"]),
    (["--data", "films", "--scale", "1.5"], ["scale", "(0, 1]", "1.5"]),
    (["--data", "films", "--scale", "nan"], ["scale", "(0, 1]", "nan"]),
    (["--data", "films", "--scale", "0.0001"], ["scale", "0.0001"]),
    (["--scale", "2"], ["scale", "(0, 1]", "2"]),
    (["--scale", "0.001"], ["scale", "0.001"]),
    (["--data", "synthetic:ml20m", "--path", "films"], ["synthetic:ml20m", "no path"]),
    (["--data", "ml20m", "--path", "films", "--user", "userId"], ["ml-20m", "--user"]),
]


@pytest.mark.parametrize(("arguments", "words"), MISTAKES, ids=[" ".join(case[0]) for case in MISTAKES])
def test_what_is_no_such_data_is_one_line(arguments, words, home, tmp_path, monkeypatch, capsys):
    before = contents(home)
    monkeypatch.chdir(home)
    code = reproduce(*arguments, *TINY, "-o", tmp_path / "report")
    said = capsys.readouterr()
    assert (code, said.out, said.err.count("\n")) == (2, "", 1)
    assert said.err.startswith("ialspp: ")
    assert all(word in said.err for word in words), (words, said.err)
    assert not (tmp_path / "report").exists()
    assert contents(home) == before
