"""Going on where a run of `ialspp reproduce` was stopped, and stopping where a budget ends."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from ialspp.reproduce.grid import Configuration, TimingTask, TrainingTask
from ialspp.reproduce.journal import FILE, read_run
from support.commands import COMMAND, answer, contents, environment, ialspp, refuses, shell
from support.reproducing import SYNTHETIC, WHOLE, Report, reproduce, run_whole, write_movielens

posix = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
# Its times are soon there, and then a training begins that does not end.
ENDLESS = [*SYNTHETIC, "--dim", "8", "--block", "d", "--seeds", "1", "--rounds", "1", "--epochs", "100000000"]
ALL_TIMES = 2 + 6  # lines: the head, what was asked for, and of two solvers all the pairs and two shares


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder in which the command was run once, into report/."""
    return run_whole(tmp_path_factory.mktemp("home"))


@pytest.fixture
def again(home, tmp_path):
    """Another folder in the same state."""
    shutil.copytree(home / "report", tmp_path / "report")
    return tmp_path


@pytest.fixture
def films(tmp_path):
    """A small MovieLens 20M."""
    write_movielens(tmp_path / "films")
    return ["--data", tmp_path / "films"]


# Going on


@contextmanager
def running(lines, *arguments, cwd):
    """The command in a process of its own, as soon as so many lines are in the file."""
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    file, end = cwd / "report" / FILE, time.monotonic() + 120
    child = subprocess.Popen([COMMAND, *arguments], cwd=cwd, env=environment(), encoding="utf-8", **pipes)
    try:
        while not (file.exists() and file.read_bytes().count(b"\n") >= lines):
            assert child.poll() is None, child.communicate()
            assert time.monotonic() < end
            time.sleep(0.001)
        yield child
    finally:
        child.kill()
        child.communicate()


def quality(run):
    """All that does not depend on the clock, by task."""
    return {each.task: (each.loss, each.metrics) for each in run.trainings}


def task_in(line):
    return tuple(line.get(name) for name in ("kind", "dim", "block", "share", "round", "seed"))


def with_times_of(file, other):
    """The lines of a file, as if every task had taken as long as in the other file."""
    times = {task_in(line): line for line in map(json.loads, other.read_text(encoding="utf-8").splitlines())}
    lines = [times[task_in(line)] for line in map(json.loads, file.read_text(encoding="utf-8").splitlines())]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def same_quality(folder, home):
    """The same tasks as in the uninterrupted run, and the same quality to the bit."""
    ours, theirs = read_run(folder / "report"), read_run(home / "report")
    assert {each.task for each in ours.measurements} == {each.task for each in theirs.measurements}
    assert len(ours.measurements) == len(theirs.measurements)
    assert quality(ours) == quality(theirs)


def same_report(folder, home):
    """With the times of the uninterrupted run the report is the same."""
    file = folder / "report" / FILE
    file.write_text(with_times_of(file, home / "report" / FILE), encoding="utf-8")
    before = file.read_bytes()
    assert ialspp(*WHOLE, cwd=folder).returncode == 0
    assert file.read_bytes() == before
    for name in ("report.html", "report.md"):
        assert (folder / "report" / name).read_bytes() == (home / "report" / name).read_bytes()


def test_the_same_command_again_measures_nothing_and_reports_the_same(again, home):
    before = contents(again)
    done = ialspp(*WHOLE, cwd=again)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (home / "said").read_text()
    assert contents(again) == before


@posix
def test_a_killed_run_goes_on_where_it_was(home, tmp_path):
    with running(25, *WHOLE, cwd=tmp_path) as child:
        child.kill()
        assert child.wait(60) == -signal.SIGKILL
    assert not (tmp_path / "report" / "report.html").exists()
    before = (tmp_path / "report" / FILE).read_bytes()
    assert before.count(b"\n") < (home / "report" / FILE).read_bytes().count(b"\n")
    assert ialspp(*WHOLE, cwd=tmp_path).returncode == 0
    after = (tmp_path / "report" / FILE).read_bytes()
    assert after.startswith(before[: before.rfind(b"\n") + 1])
    same_quality(tmp_path, home)
    same_report(tmp_path, home)


def test_a_file_that_was_cut_in_a_line_goes_on(again, home):
    file = again / "report" / FILE
    lines = file.read_bytes().splitlines(keepends=True)
    whole = b"".join(lines[:-4])
    file.write_bytes(whole + lines[-4][:100])
    assert ialspp(*WHOLE, cwd=again).returncode == 0
    assert file.read_bytes().startswith(whole)
    same_quality(again, home)


@posix
def test_ctrl_c_keeps_what_was_measured(tmp_path):
    with running(ALL_TIMES, "reproduce", *ENDLESS, cwd=tmp_path) as child:
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (130, "")
    assert "hours" in err
    assert f"kept in report/{FILE}" in err
    assert err.endswith("ialspp: interrupted\n")
    assert "Traceback" not in err
    assert [path.name for path in (tmp_path / "report").iterdir()] == [FILE]
    assert len(read_run(tmp_path / "report").timings) == 6


@posix
def test_where_one_process_measures_another_changes_nothing(tmp_path, monkeypatch, capsys):
    file = tmp_path / "report" / FILE
    monkeypatch.chdir(tmp_path)
    with running(ALL_TIMES, "reproduce", *ENDLESS, cwd=tmp_path):
        before = file.read_bytes()
        assert reproduce(monkeypatch, *ENDLESS, "--dim", "4") == 2
        assert f"ialspp: report/{FILE}: another process" in capsys.readouterr().err
        assert file.read_bytes() == before


OTHER = [
    (["--scale", "0.009"], "data scale", "0.009"),
    (["--epochs", "4"], "settings epochs", "4"),
    (["--regularization", "0.5"], "settings regularization", "0.5"),
    (["--sweep", "side"], "settings sweep", "'side'"),
    (["--threads", "7"], "machine threads", "7"),
]


@pytest.mark.parametrize(("options", "what", "value"), OTHER)
def test_measurements_of_something_else_are_not_gone_on_with(
    options, what, value, again, monkeypatch, capsys
):
    before = contents(again)
    monkeypatch.chdir(again)
    assert reproduce(monkeypatch, *WHOLE[1:], *options) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert all(word in said.err for word in (f"report/{FILE}", what, value))
    assert contents(again) == before


def test_a_damaged_file_is_an_error_that_names_the_line(again):
    file = again / "report" / FILE
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:6], b"garbage\n", *lines[6:]]))
    before = contents(again)
    refuses(f"report/{FILE}, line 7")(ialspp(*WHOLE, cwd=again))
    assert contents(again) == before


# What cannot be measured


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of memory as Linux has it")
def test_what_there_is_no_memory_for_is_left_out_and_said(films, tmp_path):
    """A matrix of 65,536 x 65,536 takes 17 GB."""
    few = ["--dim", "4", "--dim", "65536", "--block", "d", "--seeds", "0", "--rounds", "1"]
    arguments = ["reproduce", *films, *few, "--threads", "1", "-o", "report"]
    done = shell('ulimit -v 8000000; exec "$@"', *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "an epoch of iALS, d = 65536 failed" in done.stderr
    assert "memory" in done.stderr
    report = Report(tmp_path / "report")
    assert Configuration(4, 4) in report.run.timed()
    assert TimingTask(Configuration(65536, 65536), 1.0, 0) in report.run.left_out()
    assert "d = 65536" in report.page.text.partition("Asked for and not measured")[2]


# The budget


def test_what_does_not_fit_is_left_out_and_said(tmp_path):
    narrow = [*SYNTHETIC, "--block", "d", "--rounds", "1", "--epochs", "1", "--budget", "1s"]
    found = answer("reproduce", *narrow, "--dim", "8", "--dim", "8192", "--seeds", "0", cwd=tmp_path)
    report = Report(tmp_path / "report")
    assert set(report.run.left_out()) >= {TimingTask(Configuration(8192, b), 1.0, 0) for b in (8192, None)}
    assert found["left_out"] == list(map(str, report.run.left_out()))
    assert "an epoch of iALS, d = 8192" in found["left_out"]
    assert "d = 8192" in report.page.text.partition("Asked for and not measured")[2]
    assert "d = 8192" in report.summary.partition("Asked for and not measured")[2]


def test_a_later_run_without_a_budget_completes_the_file(films, tmp_path, monkeypatch, capsys):
    """The recorded times are those of a machine on which no training would end in a minute."""
    narrow = [*films, "--dim", "4", "--rounds", "1", "--epochs", "2", "-o", tmp_path / "report"]
    assert reproduce(monkeypatch, *narrow, "--seeds", "0") == 0
    file = tmp_path / "report" / FILE
    lines = list(map(json.loads, file.read_text().splitlines()))
    slow = [{**line, "seconds": 1000.0} if line["kind"] == "timing" else line for line in lines]
    file.write_text("".join(json.dumps(line) + "\n" for line in slow))
    capsys.readouterr()
    assert reproduce(monkeypatch, *narrow, "--seeds", "1", "--budget", "1m") == 0
    assert "4 measurements were left out" in capsys.readouterr().out
    report = Report(tmp_path / "report")
    assert report.run.left_out() == [TrainingTask(each, 0) for each in report.run.timed()]
    assert "training from seed 0, d = 4" in report.page.text
    before = file.read_bytes()
    assert reproduce(monkeypatch, *narrow, "--seeds", "1") == 0
    assert "left out" not in capsys.readouterr().out
    assert file.read_bytes().startswith(before)
    report = Report(tmp_path / "report")
    assert (len(report.run.trainings), report.run.left_out()) == (4, [])
    assert "Everything asked for was measured." in report.page.text
