"""The command in a terminal, in a pipe, and several at once."""

import json
import re
import subprocess

import pytest
from support.commands import COLUMNS, QUICK, answer, ialspp, shell, write_log
from support.processes import PATIENCE
from support.terminal import ESCAPE, HIDE, SHOW, in_terminal, start

from ialspp import ImplicitMF


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("terminal")
    write_log(folder / "log.csv", users=300)
    answer("fit", "log.csv", *COLUMNS, *QUICK, "-o", "m.ialspp", cwd=folder)
    return folder


def test_training_shows_a_bar_and_the_time_left(folder):
    code, shown = in_terminal(
        "fit", "log.csv", *COLUMNS, "--dim", 8, "--epochs", 300, "-o", "bar.ialspp", cwd=folder
    )
    assert code == 0
    assert "fitting" in shown
    assert "epoch 300 of 300, loss" in shown
    assert re.search(r"left \S*\d:\d\d:\d\d", shown)
    assert "━" in shown
    assert shown.count(HIDE) == shown.count(SHOW) > 0
    assert shown.endswith("┘\r\n")
    assert ImplicitMF.load(folder / "bar.ialspp").history[-1].epoch == 300


def test_no_progress_and_no_colours_where_nobody_looks(folder):
    done = ialspp("fit", "log.csv", *COLUMNS, *QUICK, "-o", "quiet.ialspp", cwd=folder, TERM="xterm")
    assert done.stderr == ""
    assert ESCAPE not in done.stdout
    piped = ialspp("recommend", "m.ialspp", "--user", "u3", cwd=folder, TERM="xterm-256color")
    assert ESCAPE not in piped.stdout + piped.stderr
    code, shown = in_terminal("info", "m.ialspp", cwd=folder, NO_COLOR="1")
    assert code == 0
    assert ESCAPE not in shown
    code, shown = in_terminal("info", "none.ialspp", cwd=folder, NO_COLOR="1")
    assert (code, shown) == (2, "ialspp: none.ialspp: No such file or directory\r\n")
    code, shown = in_terminal("fit", "log.csv", *COLUMNS, *QUICK, "-o", "q.ialspp", cwd=folder, NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*m", shown)


@pytest.mark.parametrize("columns", [30, 200])
def test_any_width(folder, columns):
    wide = {"cwd": folder, "COLUMNS": str(columns)}
    shown = ialspp("recommend", "m.ialspp", "--user", "u3", "-k", 3, **wide).stdout
    facts = ialspp("info", "m.ialspp", **wide).stdout
    for line in (shown + facts).splitlines():
        assert len(line) <= columns
        assert "…" not in line
    assert all(name in facts for name in ("user_factors", "interactions.items", "300 x 4"))
    ranking = ImplicitMF.load(folder / "m.ialspp").recommend("u3", 3)
    for item, score in zip(ranking, ranking.scores, strict=True):
        assert any(str(item) in line and f"{score:.4f}" in line for line in shown.splitlines())


def test_a_reader_that_stops_reading(folder):
    for arguments in (["--all", "-k", 40], ["--all", "-k", 40, "--json"]):
        done = shell(
            '"$@" | head -c 9 > /dev/null; exit ${PIPESTATUS[0]}',
            "recommend",
            folder / "m.ialspp",
            *arguments,
        )
        assert (done.returncode, done.stderr) == (141, "")
    done = shell('"$@" | true', "--help")
    assert done.stderr == ""


def test_runs_at_the_same_time_write_whole_lines(folder, tmp_path):
    runs = tmp_path / "runs"
    fit = ["fit", folder / "log.csv", *COLUMNS, "--dim", 4, "--epochs", 50, "--json", "--runs", runs]
    children = [
        start(*fit, "--seed", seed, "-o", tmp_path / f"{seed}.ialspp", stdout=subprocess.PIPE)
        for seed in range(3)
    ]
    said = [json.loads(child.communicate(timeout=PATIENCE)[0]) for child in children]
    lines = [json.loads(line) for line in (runs / "runs.jsonl").read_text().splitlines()]
    assert sorted(line["settings"]["seed"] for line in lines) == [0, 1, 2]
    for line in lines:
        assert said[line["settings"]["seed"]].items() <= line.items()
