"""Ctrl-C at any moment is one line and exit code 130; a killed process leaves whole files."""

import os
import re
import signal
import subprocess
import time

import pytest
from support.commands import COLUMNS, COMMAND, QUICK, answer, contents, environment, write_log
from support.processes import PATIENCE
from support.terminal import ESCAPE, HIDE, PIPES, SHOW, in_terminal, start

from ialspp import store

ENDLESS = ["--epochs", str(25_000)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("interrupts")
    write_log(folder / "log.csv", users=300)
    answer("fit", "log.csv", *COLUMNS, *QUICK, "-o", "m.ialspp", cwd=folder)
    return folder


def last_line(shown):
    """What is left of the last line when a terminal has followed the escape sequences."""
    line = shown.rstrip("\r\n").split("\n")[-1]
    line = line.rsplit(f"{ESCAPE}[2K", 1)[-1].rsplit("\r", 1)[-1]
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line)


def wait_for(event, child):
    """Look again and again until the event has come; an error if the child ends before."""
    while not event():
        assert child.poll() is None, child.communicate()
        time.sleep(0.005)


def interrupted(child):
    """Send Ctrl-C: the exit code, and what was written to stdout and stderr."""
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=PATIENCE)
    return child.returncode, out, err


@pytest.mark.parametrize("moment", [HIDE, "reading", "epoch"], ids=["first sign", "reading", "training"])
def test_ctrl_c_in_a_terminal(folder, moment):
    before = contents(folder)
    code, shown = in_terminal(
        "fit", "log.csv", *COLUMNS, *ENDLESS, "-o", "never.ialspp", cwd=folder, interrupt_at=moment
    )
    assert code == 130, shown
    assert last_line(shown) == "ialspp: interrupted"
    assert shown.count("interrupted") == 1
    assert "Traceback" not in shown
    assert shown.rfind(SHOW) > shown.rfind(HIDE)
    assert contents(folder) == before


def test_ctrl_c_in_a_pipe(folder, tmp_path):
    before = contents(folder)
    fit = ["fit", "log.csv", *COLUMNS, *ENDLESS, "-o", "never.ialspp", "--json", "--runs", tmp_path / "runs"]
    child = start(*fit, cwd=folder, **PIPES)
    wait_for((tmp_path / "runs").exists, child)  # then data is read, and training goes on for ever
    assert interrupted(child) == (130, "", "ialspp: interrupted\n")
    assert contents(folder) == before
    assert contents(tmp_path) == {}


def test_ctrl_c_while_options_are_read(folder, tmp_path):
    """typer would end the process without a word. A named pipe tells when the file is being read."""
    config = tmp_path / "options.toml"
    os.mkfifo(config)
    child = start("fit", "log.csv", "-o", "never.ialspp", "--config", config, cwd=folder, **PIPES)
    writer = []

    def is_read():
        try:
            writer.append(os.open(config, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:  # nobody reads
            return False
        return True

    wait_for(is_read, child)
    try:
        assert interrupted(child) == (130, "", "ialspp: interrupted\n")
    finally:
        os.close(*writer)


def importing(module, *command):
    """Start the command, which lists its imports on stderr, and return when it has come to a module."""
    child = subprocess.Popen(
        [*command, COMMAND, "--version"],
        env=environment(PYTHONPROFILEIMPORTTIME="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,  # what is not read here is left for `communicate`
        pipesize=4096,  # so that the command cannot be far ahead of what is read here
    )
    listed = b"nothing"
    while listed.split(b"|")[-1].split(b".")[0].strip() != module.encode():
        listed = child.stderr.readline()
        assert listed, f"{module} was not imported"
    return child


@pytest.mark.parametrize("module", ["numpy", "ialspp", "typer", "rich"])
def test_ctrl_c_while_the_command_starts(module):
    code, out, err = interrupted(importing(module))
    assert (code, out) == (130, b"")
    said = [line for line in err.splitlines() if not line.startswith(b"import time:")]
    assert said == [b"ialspp: interrupted"]


def test_ctrl_c_stays_ignored_where_it_is():
    code, out, err = interrupted(importing("numpy", "bash", "-c", 'trap "" INT; exec "$@"', "bash"))
    assert (code, b"interrupted" in err) == (0, False)
    assert out.startswith(b"ialspp ")


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
            time.sleep(0.0002)  # leaves the processor to the child
        child.kill()
        child.wait()
        store.verify(file)
        assert file.read_bytes() in expected
        file.write_bytes(old)
