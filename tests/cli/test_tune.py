"""ialspp tune: its files, its table, and that fit and evaluate take what it found."""

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest
from support.commands import COLUMNS, COMMAND, answer, environment, ialspp, refuses
from support.models import make_data
from support.processes import finish, wait_until

QUICK = ["--trials", "5", "--dim", "4", "--max-dim", "8", "--epochs", "3"]


@pytest.fixture(scope="module")
def plays(tmp_path_factory):
    """A file of plays: who, what, how often."""
    data = make_data(numbers=("weight",))
    rows = data.by_user
    lines = zip(rows.row_numbers, rows.columns, rows.weights, strict=True)
    path = tmp_path_factory.mktemp("tune") / "plays.csv"
    path.write_text("who,what,plays\n" + "".join(f"{u},{i},{w:.3f}\n" for u, i, w in lines))
    return path


@pytest.fixture(scope="module")
def tuned(plays):
    """The answer of a search on the plays without their numbers."""
    return answer("tune", plays, *COLUMNS, "--trials", 20, *QUICK[2:], "-o", plays.with_name("tuned.toml"))


def test_evaluate_takes_the_settings_and_repeats_the_test(plays, tuned):
    again = answer("evaluate", plays, "--config", tuned["file"])
    measured = again["results"]["model"]
    assert {name: measured[name]["mean"] for name in measured} == {
        name: score["mean"] for name, score in tuned["test"]["metrics"].items()
    }
    assert again["settings"]["dim"] == tuned["settings"]["dim"]


def test_settings_for_a_copy_of_a_known_data_set_work_in_any_folder(tmp_path):
    lines = (f"{user}\t{item}\t{user + item + 1}" for user in range(30) for item in range(user % 5, 30, 3))
    (tmp_path / "plays.dat").write_text("\n".join(["userID\tartistID\tweight", *lines]))
    known = ["lastfm", "--path", "plays.dat"]
    answer("tune", *known, "--trials", "2", *QUICK[2:], "-o", "tuned.toml", cwd=tmp_path)
    (tmp_path / "elsewhere").mkdir()
    found = answer("evaluate", "lastfm", "--config", "../tuned.toml", cwd=tmp_path / "elsewhere")
    assert found["results"]["model"]


def test_fit_takes_the_settings(plays, tuned, tmp_path):
    out = tmp_path / "plays.ialspp"
    found = answer("fit", plays, "--config", tuned["file"], "-o", out)
    for name in ("dim", "unobserved_weight", "regularization", "epochs"):
        assert found["settings"][name] == tuned["settings"][name]


def test_weights_are_made_anew_in_the_same_way(plays, tmp_path):
    out = tmp_path / "tuned.toml"
    options = [*COLUMNS, "--weight", "plays", "--protocol", "strong", "--held-out", "8", "--min-user", "1"]
    found = answer("tune", plays, *options, *QUICK, "-o", out)
    assert found["settings"]["weighting"] in ("log", "sqrt", "clip", "linear", "none")
    measured = answer("evaluate", plays, "--config", out)["results"]["model"]
    assert {name: measured[name]["mean"] for name in measured} == {
        name: score["mean"] for name, score in found["test"]["metrics"].items()
    }
    fitted = answer("fit", plays, "--config", out, "-o", tmp_path / "plays.ialspp")
    assert fitted["source"]["weighting"] == found["settings"]["weighting"]


def test_a_start_and_a_relaxation_of_ones_own_are_kept(plays, tmp_path):
    out = tmp_path / "tuned.toml"
    own = ["--init", "random", "--relaxation", "1"]
    found = answer("tune", plays, *COLUMNS, *QUICK, *own, "-o", out)
    kept = {"init": "random", "relaxation": 1.0}
    assert {name: found["settings"][name] for name in kept} == kept
    measured = answer("evaluate", plays, "--config", out)["results"]["model"]
    assert measured["ndcg@20"]["mean"] == found["test"]["metrics"]["ndcg@20"]["mean"]


def test_the_report_stands_alone_and_says_what_matters(tuned):
    text = Path(tuned["report"]).read_text(encoding="utf-8")
    assert "The test part was used once, at the end, for the chosen model" in text
    assert not re.findall(r'(?:src|href)="(?!data:)', text)
    assert text.count("data:image/svg+xml;base64,") == 4
    assert "ialspp tune" in text
    assert "three parts of the loss" in text


def test_the_table_is_ranked_and_shows_what_was_chosen(plays, tmp_path):
    done = ialspp("tune", plays, *COLUMNS, *QUICK, "-o", tmp_path / "a.toml", COLUMNS="200")
    assert (done.returncode, done.stderr) == (0, "")
    scores = [float(score) for score in re.findall(r"(0\.\d{4}) │ +[\d.]+ │ \w+", done.stdout)]
    assert len(scores) == 5
    assert scores == sorted(scores, reverse=True)
    assert "The test part was used once" in done.stdout
    assert "Chosen: dim " in done.stdout


def test_runs_have_a_line(plays, tmp_path):
    answer("tune", plays, *COLUMNS, *QUICK, "-o", tmp_path / "a.toml", "--runs", tmp_path)
    line = json.loads((tmp_path / "runs.jsonl").read_text())
    assert (line["command"], len(line["trials"])) == ("tune", 11)


def test_a_kill_is_followed_by_a_resume(plays, tmp_path):
    options = ["tune", plays, *COLUMNS, "--trials", "400", *QUICK[2:], "-o", tmp_path / "a.toml"]
    process = subprocess.Popen(
        [COMMAND, *map(str, options)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    )
    journal = tmp_path / "a.journal"
    wait_until(lambda: journal.exists() and journal.read_text().count('"outcome"') >= 2)
    process.send_signal(signal.SIGKILL)
    finish(process)
    before = journal.read_text().count('"outcome"')
    refuses("has a study already")(ialspp(*options))
    resumed = answer(
        "tune", plays, *COLUMNS, "--trials", before + 2, *QUICK[2:], "-o", tmp_path / "a.toml", "--resume"
    )
    assert len([trial for trial in resumed["trials"] if trial["kind"] != "repeat"]) == before + 2


def test_mistakes_are_named_before_data_is_read(tmp_path):
    out = ["-o", tmp_path / "a.toml"]
    refuses("--budget and --trials exclude each other")(
        ialspp("tune", "no.csv", "--budget", "1m", "--trials", "3", *out)
    )
    refuses("--budget must be a number of seconds")(ialspp("tune", "no.csv", "--budget", "soon", *out))
    refuses("must be different files")(
        ialspp("tune", "no.csv", *out, "--journal", tmp_path / "a.toml", "--report", tmp_path / "a.html")
    )
    (tmp_path / "a.toml").write_text("mine = 1\n")
    refuses("is not a file of settings of ialspp tune")(ialspp("tune", "no.csv", *out))
    refuses("weighting must be one of", "--weighting")(
        ialspp("fit", "no.csv", "--weighting", "cube", "-o", tmp_path / "a.ialspp")
    )
