"""Continuing where a run was stopped, and stopping where a budget ends."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from support.commands import contents, environment
from support.processes import PATIENCE, child, finish
from support.reproducing import SYNTHETIC, WHOLE, Report, but, reproduce, write_movielens

from ialspp.model.training import MOST_EPOCHS
from reproduction.command import Experiment, Subject, measure, show_claims
from reproduction.grid import Configuration, TimingTask, TrainingTask
from reproduction.journal import FILE, read_run
from reproduction.report.missing import left_out_lines

ROOT = Path(__file__).resolve().parents[2]
SUBJECT = Subject(source="synthetic:ml20m", scale=0.008)  # as WHOLE says it
EXPERIMENT = Experiment(dim=[8, 16], epochs=3, seeds=2, rounds=1)
posix = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
# Its times are soon there, and then trainings begin that take hours: as many epochs as a model may have.
ENDLESS = [*SYNTHETIC, "--dim", "8", "--block", "d", "--seeds", "5000", "--rounds", "1"]
ENDLESS += ["--epochs", str(MOST_EPOCHS)]
ALL_TIMES = 2 + 6  # lines: the head, the grid, and for two solvers all the pairs and two shares


@pytest.fixture
def again(home, tmp_path, monkeypatch):
    """Another folder in the same state, which is the current one."""
    shutil.copytree(home / "report", tmp_path / "report")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def films(tmp_path):
    """A small MovieLens 20M."""
    write_movielens(tmp_path / "films")
    return Subject(source=str(tmp_path / "films"))


# Continuing


@contextmanager
def running(lines, *arguments, cwd):
    """The command in a process of its own, as soon as so many lines are in the file."""
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    file, end = cwd / "report" / FILE, time.monotonic() + PATIENCE
    command = [sys.executable, "-m", "reproduction", *arguments]
    process = subprocess.Popen(
        command, cwd=cwd, env=environment(PYTHONPATH=str(ROOT)), encoding="utf-8", **pipes
    )
    try:
        while not (file.exists() and file.read_bytes().count(b"\n") >= lines):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.001)
        yield process
    finally:
        process.kill()
        process.communicate()


def task_in(line):
    return tuple(line.get(name) for name in ("kind", "dim", "block", "share", "round", "seed"))


def same_quality(folder, home):
    """The same tasks as in the uninterrupted run, and the same quality to the bit."""
    ours, theirs = read_run(folder / "report"), read_run(home / "report")
    assert {each.task for each in ours.measurements} == {each.task for each in theirs.measurements}
    assert len(ours.measurements) == len(theirs.measurements)
    quality = [{t.task: (t.loss, t.metrics) for t in run.trainings} for run in (ours, theirs)]
    assert quality[0] == quality[1]


def same_report(folder, home):
    """With the times of the uninterrupted run, the same command measures nothing and reports the same."""
    lines, other = (
        list(map(json.loads, (where / "report" / FILE).read_text(encoding="utf-8").splitlines()))
        for where in (folder, home)
    )
    by_task = {task_in(line): line for line in other}
    content = "".join(json.dumps(by_task[task_in(line)]) + "\n" for line in lines)
    (folder / "report" / FILE).write_text(content, encoding="utf-8")
    assert reproduce(*WHOLE) == 0
    assert (folder / "report" / FILE).read_text(encoding="utf-8") == content
    for name in ("report.html", "report.md"):
        assert (folder / "report" / name).read_bytes() == (home / "report" / name).read_bytes()


@posix
def test_a_killed_run_continues_where_it_was(home, tmp_path, monkeypatch):
    killed = child(
        """
        import os, signal, sys
        from reproduction.command import main
        from reproduction.journal import Journal

        add = Journal.add

        def then_killed(journal, measured):
            add(journal, measured)
            if journal.path.read_bytes().count(b"\\n") == 9:
                os.kill(os.getpid(), signal.SIGKILL)

        Journal.add = then_killed
        main()
        """,
        *WHOLE,
        cwd=tmp_path,
        env=environment(PYTHONPATH=str(ROOT)),
    )
    _, errors = finish(killed)
    assert killed.returncode == -signal.SIGKILL, errors
    assert not (tmp_path / "report" / "report.html").exists()
    before = (tmp_path / "report" / FILE).read_bytes()
    assert before.count(b"\n") < (home / "report" / FILE).read_bytes().count(b"\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["reproduction", *WHOLE])
    measure(SUBJECT, EXPERIMENT, tmp_path / "report")
    after = (tmp_path / "report" / FILE).read_bytes()
    assert after.startswith(before[: before.rfind(b"\n") + 1])
    same_quality(tmp_path, home)
    same_report(tmp_path, home)


@posix
def test_ctrl_c_keeps_what_was_measured(tmp_path):
    with running(ALL_TIMES, *ENDLESS, cwd=tmp_path) as process:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, "")
    assert "hours" in err
    assert f"kept in report/{FILE}" in err
    assert err.endswith("ialspp: interrupted\n")
    assert "Traceback" not in err
    assert [path.name for path in (tmp_path / "report").iterdir()] == [FILE]
    assert len(read_run(tmp_path / "report").timings) == 6


def test_more_epochs_than_a_model_may_have_are_refused_before_anything_is_measured(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert reproduce(*SYNTHETIC, "--epochs", MOST_EPOCHS + 1) == 2
    assert "a model may have 25,000 epochs, got 25,001" in capsys.readouterr().err
    assert contents(tmp_path) == {}


def test_a_file_that_was_cut_in_a_line_continues(again, home):
    file = again / "report" / FILE
    lines = file.read_bytes().splitlines(keepends=True)
    complete = b"".join(lines[:-4])
    file.write_bytes(complete + lines[-4][:100])
    measure(SUBJECT, EXPERIMENT, again / "report")
    assert file.read_bytes().startswith(complete)
    same_quality(again, home)


OTHER = [
    (["--scale", "0.009"], "data scale", "0.009"),
    (["--epochs", "4"], "settings epochs", "4"),
    (["--regularization", "0.5"], "settings regularization", "0.5"),
    (["--sweep", "side"], "settings sweep", "'side'"),
    (["--threads", "7"], "machine threads", "7"),
]


@pytest.mark.parametrize(("options", "what", "value"), OTHER)
def test_measurements_of_something_else_are_not_continued(options, what, value, again, capsys):
    refused(again, capsys, options, f"report/{FILE}", what, value)


def test_a_damaged_file_is_an_error_that_names_the_line(again, capsys):
    file = again / "report" / FILE
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:6], b"garbage\n", *lines[6:]]))
    refused(again, capsys, [], f"report/{FILE}, line 7")


def refused(folder, capsys, options, *words):
    before = contents(folder)
    assert reproduce(*but(WHOLE, options)) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert all(word in said.err for word in words), (words, said.err)
    assert contents(folder) == before


# What cannot be measured


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of memory as Linux has it")
def test_what_there_is_no_memory_for_is_left_out_and_said(films, tmp_path):
    """A matrix of 65,536 x 65,536 takes 17 GB."""
    few = ["--dim", "4", "--dim", "65536", "--block", "d", "--seeds", "0", "--rounds", "1", "--threads", "1"]
    command = [sys.executable, "-m", "reproduction", "--data", films.source, *few]
    done = subprocess.run(
        ["bash", "-c", 'ulimit -v 8000000; exec "$@"', "bash", *command],
        capture_output=True,
        encoding="utf-8",
        env=environment(PYTHONPATH=str(ROOT)),
        cwd=tmp_path,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "an epoch of iALS, d = 65536 failed: there is not enough memory" in done.stderr
    report = Report(tmp_path / "report")
    assert Configuration(4, 4) in report.run.timed()
    assert TimingTask(Configuration(65536, 65536), 1.0, 0) in report.run.left_out()
    assert "d = 65536" in report.page.text.partition("Requested and not measured")[2]


# The budget


def test_what_does_not_fit_is_left_out_and_said(tmp_path, capsys):
    narrow = [*SYNTHETIC, "--block", "d", "--rounds", "1", "--epochs", "1", "--budget", "1s", "--json"]
    assert reproduce(*narrow, "--dim", "8", "--dim", "8192", "--seeds", "0", "-o", tmp_path) == 0
    found = json.loads(capsys.readouterr().out)
    report = Report(tmp_path)
    assert set(report.run.left_out()) >= {TimingTask(Configuration(8192, b), 1.0, 0) for b in (8192, None)}
    assert found["left_out"] == list(map(str, report.run.left_out()))
    assert "an epoch of iALS, d = 8192" in found["left_out"]
    assert "d = 8192" in report.page.text.partition("Requested and not measured")[2]
    assert "d = 8192" in report.summary.partition("Requested and not measured")[2]


def test_a_later_run_without_a_budget_completes_the_file(films, tmp_path, capsys):
    """The recorded times are those of a machine on which no training would end in a minute."""
    narrow, file = Experiment(dim=[4], rounds=1, epochs=2, seeds=0), tmp_path / FILE
    measure(films, narrow, tmp_path)
    lines = list(map(json.loads, file.read_text().splitlines()))
    slow = [{**line, "seconds": 1000.0} if line["kind"] == "timing" else line for line in lines]
    file.write_text("".join(json.dumps(line) + "\n" for line in slow))
    run = measure(films, replace(narrow, seeds=1, budget="1m"), tmp_path)
    assert run.left_out() == [TrainingTask(each, 0) for each in run.timed()]
    assert left_out_lines(run) == ["training from seed 0, d = 4: everything"]
    show_claims(run, tmp_path, as_json=False)
    assert "4 measurements were left out" in capsys.readouterr().out
    before = file.read_bytes()
    run = measure(films, replace(narrow, seeds=1), tmp_path)
    assert file.read_bytes().startswith(before)
    assert (len(run.trainings), run.left_out()) == (4, [])
    show_claims(run, tmp_path, as_json=False)
    assert "left out" not in capsys.readouterr().out
