"""The command in a terminal, in a pipe, interrupted and killed."""

import json
import os
import re
import select
import signal
import struct
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.commands import COLUMNS, COMMAND, QUICK, answer, contents, environment, ialspp, shell, write_log

from ialspp import ImplicitMF, store

fcntl, pty, termios = map(pytest.importorskip, ("fcntl", "pty", "termios"))  # POSIX has them

ESCAPE = "\x1b"
ENDLESS = ["--epochs", str(10**9)]
COMMANDS = [
    "fit",
    "evaluate",
    "recommend",
    "similar",
    "explain",
    "update",
    "export",
    "info",
    "demo",
    "calibrate",
]
HIDE, SHOW = f"{ESCAPE}[?25l", f"{ESCAPE}[?25h"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("terminal")
    write_log(folder / "log.csv", users=300)
    answer("fit", "log.csv", *COLUMNS, *QUICK, "-o", "m.ialspp", cwd=folder)
    return folder


def start(*arguments, **options):
    command = [COMMAND, *map(str, arguments)]
    return subprocess.Popen(command, env=environment(**options.pop("changes", {})), **options)


def in_terminal(*arguments, columns=80, interrupt_at=None, cwd=None, **changes):
    """Run on a pseudo-terminal: the exit code, and all that is shown. Ctrl-C comes after a given text."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    ends = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    child = start(*arguments, **ends, cwd=cwd, start_new_session=True, changes={"TERM": "xterm", **changes})
    os.close(theirs)
    shown = b""
    try:
        while select.select([ours], [], [], 60)[0]:
            try:
                shown += os.read(ours, 1 << 16)
            except OSError:  # Linux says so that the other end is closed
                break
            if interrupt_at and interrupt_at.encode() in shown:
                interrupt_at = None
                child.send_signal(signal.SIGINT)
        return child.wait(10), shown.decode()
    finally:
        child.kill()
        child.wait()
        os.close(ours)


def last_line(shown):
    """What is left of the last line when a terminal has followed the escape sequences."""
    line = shown.rstrip("\r\n").split("\n")[-1]
    line = line.rsplit(f"{ESCAPE}[2K", 1)[-1].rsplit("\r", 1)[-1]
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line)


def test_training_shows_a_bar_and_the_time_left(folder):
    code, shown = in_terminal(
        "fit", "log.csv", *COLUMNS, "--dim", 8, "--epochs", 300, "-o", "bar.ialspp", cwd=folder
    )
    assert code == 0
    assert re.search(r"epoch", shown)
    assert "300/300" in shown
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


@pytest.mark.parametrize("moment", [HIDE, "reading", "epoch"], ids=["first sign", "reading", "training"])
def test_ctrl_c_in_a_terminal(folder, moment):
    before = contents(folder)
    code, shown = in_terminal(
        "fit", "log.csv", *COLUMNS, *ENDLESS, "-o", "never.ialspp", cwd=folder, interrupt_at=moment
    )
    assert code == 130
    assert last_line(shown) == "ialspp: interrupted"
    assert "Traceback" not in shown
    assert shown.rfind(SHOW) > shown.rfind(HIDE)
    assert contents(folder) == before


def test_ctrl_c_in_a_pipe(folder):
    before = contents(folder)
    fit = ["fit", "log.csv", *COLUMNS, *ENDLESS, "-o", "never.ialspp", "--json"]
    child = start(*fit, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(3)  # nothing tells from outside that training has begun
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert (child.returncode, out, err) == (130, "", "ialspp: interrupted\n")
    assert contents(folder) == before


def test_a_killed_update_leaves_a_whole_model(folder, tmp_path):
    """Killed as soon as anything in the model's folder changes, and at moments before that."""
    file = tmp_path / "m.ialspp"
    file.write_bytes((folder / "m.ialspp").read_bytes())
    old = file.read_bytes()
    new = tmp_path.parent / f"{tmp_path.name}.new"
    write_log(new, users=40, first_user=290, seed=5)
    answer("update", file, new, *COLUMNS, "--format", "csv", "-o", f"{new}.ialspp")
    expected = (old, (tmp_path.parent / f"{new.name}.ialspp").read_bytes())
    for patience in (0.5, None, None, None):
        child = start("update", file, new, *COLUMNS, "--format", "csv", stdout=subprocess.DEVNULL)
        begun = time.monotonic()
        present = set(tmp_path.iterdir())
        while child.poll() is None and (patience is None or time.monotonic() - begun < patience):
            assert file.read_bytes() in expected
            if set(tmp_path.iterdir()) != present:
                break
        child.kill()
        child.wait()
        store.verify(file)
        assert file.read_bytes() in expected
        file.write_bytes(old)


def test_runs_at_the_same_time_write_whole_lines(folder, tmp_path):
    runs = tmp_path / "runs"
    fit = ["fit", folder / "log.csv", *COLUMNS, *QUICK, "--epochs", 50, "--json", "--runs", runs]
    children = [
        start(*fit, "--seed", seed, "-o", tmp_path / f"{seed}.ialspp", stdout=subprocess.PIPE)
        for seed in range(3)
    ]
    said = [json.loads(child.communicate(timeout=60)[0]) for child in children]
    lines = [json.loads(line) for line in (runs / "runs.jsonl").read_text().splitlines()]
    assert sorted(line["settings"]["seed"] for line in lines) == [0, 1, 2]
    for line in lines:
        assert said[line["settings"]["seed"]].items() <= line.items()


def test_version_help_and_completion():
    done = ialspp("--version")
    assert re.fullmatch(r"ialspp \d+\.\d+\.\d+\S*\n", done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    listed = ialspp("--help", COLUMNS="120").stdout
    assert all(f" {command} " in listed for command in COMMANDS)
    with ThreadPoolExecutor(2) as pool:
        helped = list(pool.map(lambda command: ialspp(command, "--help", COLUMNS="120"), COMMANDS))
    for command, done in zip(COMMANDS, helped, strict=True):
        assert (done.returncode, done.stderr) == (0, "")
        assert f"Example: ialspp {command} " in done.stdout
    # Not from bash, or whatever else the tests were started from: typer is told the shell.
    script = ialspp("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert (script.returncode, script.stderr) == (0, "")
    assert "complete -o default -F" in script.stdout
    words = {"_IALSPP_COMPLETE": "complete_bash", "COMP_WORDS": "ialspp rec", "COMP_CWORD": "1"}
    assert ialspp(**words).stdout.split() == ["recommend"]
