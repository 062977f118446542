"""Weights on the command line: computed from columns, and those of known data sets."""

import json
import math

import pytest
from support.commands import QUICK, ialspp

FILE = "userID\tartistID\tweight\n2\t51\t100\n3\t51\t1\n"


@pytest.fixture
def plays(tmp_path):
    file = tmp_path / "user_artists.dat"
    file.write_text(FILE)
    return file


def weights(*arguments):
    run = ialspp("data", "show", *arguments, "--json")
    assert run.returncode == 0, run.stderr
    facts = json.loads(run.stdout)
    return facts["weighted_by"], facts["weight"]["least"], facts["weight"]["most"]


def test_weights_are_computed_from_the_columns_of_a_file(plays):
    columns = [plays, "--user", "userID", "--item", "artistID"]
    expected = "1 + log(weight)", 1, pytest.approx(1 + math.log(100))
    assert weights(*columns, "--weight", "1 + log(weight)") == expected
    assert weights(*columns, "--weight", "2") == ("column 2", 1, 100)


def test_a_known_data_set_says_how_it_is_weighted(plays):
    usual = "(1 + log(weight)) / 6.5"
    assert weights("lastfm", "--path", plays)[0] == usual
    assert json.loads(ialspp("data", "list", "--json").stdout)["lastfm"]["weighted_by"] == usual
    assert "weighted by" in " ".join(ialspp("data", "list").stdout.replace("│", " ").split())


def test_the_counts_of_a_known_data_set_are_weighted_as_requested(plays):
    known = ["lastfm", "--path", plays, "--weight"]
    assert weights(*known, "weight") == ("weight", 1, 100)
    assert weights(*known, "least(weight, 7)") == ("least(weight, 7)", 1, 7)


def test_evaluate_says_how_pairs_are_weighted(tmp_path):
    file = tmp_path / "user_artists.dat"
    lines = [f"{user}\t{item}\t{user + item + 1}" for user in range(8) for item in range(8)]
    file.write_text("\n".join(["userID\tartistID\tweight", *lines]))
    run = ialspp("evaluate", "lastfm", "--path", file, "--protocol", "random", *QUICK)
    assert run.returncode == 0, run.stderr
    assert "Weighted by (1 + log(weight)) / 6.5." in run.stdout


def test_a_known_data_set_without_counts_takes_no_weight(tmp_path):
    run = ialspp("data", "show", "ml-100k", "--path", tmp_path, "--weight", "1.5")
    assert (run.returncode, run.stdout) == (2, "")
    assert "ml-100k is a known data set; leave out --weight" in run.stderr


def test_weights_decay_with_a_half_life(tmp_path):
    file = tmp_path / "log.csv"
    file.write_text("who,what,n,day\nann,fado,4,2026-01-01\nann,fado,2,2026-01-31\nbob,fado,8,2026-03-02\n")
    columns = [file, "--user", "who", "--item", "what", "--weight", "n"]
    times = ["--time", "day", "--half-life", "30d"]
    assert weights(*columns, *times) == ("n, halved every 30d", 4 / 4 + 2 / 2, 8)
    run = ialspp("data", "show", *columns, "--half-life", "30d")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "ialspp: --half-life '30d' needs time, which is not given\n"


def test_a_weighting_needs_weights(tmp_path):
    file = tmp_path / "log.csv"
    file.write_text("who,what\n" + "".join(f"{user},{item}\n" for user in range(8) for item in range(8)))
    fit = ["fit", file, "--user", "who", "--item", "what", *QUICK, "-o", tmp_path / "m.ialspp", "--weighting"]
    for kind in ("log", "sqrt", "clip", "linear"):
        run = ialspp(*fit, kind)
        assert (run.returncode, run.stdout) == (2, "")
        assert f"--weighting {kind} is for weights, and the data has none" in run.stderr
    run = ialspp("evaluate", *fit[1:6], "--protocol", "random", *QUICK, "--weighting", "log")
    assert run.returncode == 2
    assert ialspp(*fit, "none").returncode == 0
    assert ialspp(*fit[:-1], "--item-power", "0.5", "--force").returncode == 0


def raw_plays(file):
    pairs = [(user, item) for user in range(30) for item in range(30) if (user * item) % 3]
    lines = [f"{user},{item},{10 ** (n % 5)}" for n, (user, item) in enumerate(pairs)]
    file.write_text("\n".join(["who,what,plays", *lines]))
    return [file, "--user", "who", "--item", "what"]


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("fit", [*QUICK, "-o", "m.ialspp", "--early-stop", "ndcg@10"]),
        ("evaluate", [*QUICK, "--protocol", "random"]),
        ("data", []),
    ],
)
def test_weights_that_are_far_apart_get_one_remark(tmp_path, command, options):
    columns = raw_plays(tmp_path / "plays.csv")
    words = ["data", "show"] if command == "data" else [command]
    run = ialspp(*words, *columns, "--weight", "plays", *options, "--json", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)
    [line] = run.stderr.splitlines()
    assert line.startswith("Warning: 98 % of the weights are between 1 and 10,000")
    assert '--weight "(1 + log(plays)) / ' in line
    dampened = ialspp(*words, *columns, "--weight", "1 + log(plays)", *options, "--json", cwd=tmp_path)
    assert (dampened.returncode, dampened.stderr) == (0, "")


def test_the_remark_on_weights_names_a_column_by_its_position_and_keeps_expressions(tmp_path):
    columns = raw_plays(tmp_path / "plays.csv")
    run = ialspp("data", "show", *columns, "--weight", "plays / 100 + 0.0")
    assert '"log(1 + (plays / 100 + 0.0) / 0.01) / ' in run.stderr
    bare = tmp_path / "bare.csv"
    bare.write_text((tmp_path / "plays.csv").read_text().partition("\n")[2])
    run = ialspp("data", "show", bare, "--user", 0, "--item", 1, "--weight", 2)
    assert '"(1 + log(column_2)) / ' in run.stderr
