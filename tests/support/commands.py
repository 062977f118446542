"""Runs `ialspp` as a user does, on real files: in this process, or where it matters in one of its own."""

import _thread
import importlib
import io
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import threading

import numpy as np
import pytest

from ialspp.cli import main
from support.processes import PATIENCE

COMMAND = shutil.which("ialspp", path=sysconfig.get_path("scripts"))
COLUMNS = ["--user", "who", "--item", "what"]
QUICK = ["--dim", "4", "--epochs", "2"]
# What a terminal, a runner or a developer may have set must not change what a test sees.
FOREIGN = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "CLICOLOR_FORCE", "GITHUB_ACTIONS"}


def environment(**changes):
    """The variables of a run."""
    kept = {name: value for name, value in os.environ.items() if not is_foreign(name)}
    return {**kept, **changes}


def is_foreign(name):
    return name in FOREIGN or name.startswith("IALSPP_")


def patch_environment(patch, **changes):
    for name in filter(is_foreign, list(os.environ)):
        patch.delenv(name)
    for name, value in changes.items():
        patch.setenv(name, value)


with pytest.MonkeyPatch.context() as first:  # typer reads variables once, when this is imported
    patch_environment(first)
    importlib.import_module("typer.rich_utils")


def ialspp(*arguments, stdin="", cwd=None, **changes):
    """Run the command to its end in this process; stdin is text, changes are environment variables."""
    streams = {
        name: io.TextIOWrapper(io.BytesIO(content.encode()), encoding="utf-8")
        for name, content in (("stdin", stdin), ("stdout", ""), ("stderr", ""))
    }
    alarm = threading.Timer(PATIENCE, _thread.interrupt_main)
    with pytest.MonkeyPatch.context() as patch:
        patch_environment(patch, **changes)
        if cwd is not None:
            patch.chdir(cwd)
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        patch.setattr(sys, "argv", ["ialspp", *map(str, arguments)])
        patch.setattr(sys, "excepthook", sys.excepthook)  # typer puts its own in place
        alarm.start()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        finally:
            alarm.cancel()
    return subprocess.CompletedProcess(arguments, code, *map(written, [streams["stdout"], streams["stderr"]]))


def written(stream):
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8")


def ialspp_process(*arguments, **options):
    """Run the installed command to its end in a process of its own."""
    return process(COMMAND, *arguments, **options)


def shell(line, *arguments, **options):
    """Run a line of bash, in which "$@" is the command with these arguments."""
    return process("bash", "-c", line, "bash", COMMAND, *arguments, **options)


def process(*command, cwd=None, **changes):
    """Run any command to its end; changes are environment variables."""
    return subprocess.run(
        list(map(str, command)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        env=environment(**changes),
        cwd=cwd,
        timeout=PATIENCE,
    )


def answer(*arguments, **options):
    """The one JSON document that the command prints."""
    done = ialspp(*arguments, "--json", **options)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.endswith("}\n")
    assert done.stdout.count("\n") == 1
    return json.loads(done.stdout)


def refuses(*words, code=2):
    """A check that a run ended with one line about the user's mistake, which has these words."""

    def check(done):
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        assert done.stdout == ""
        assert done.stderr.startswith("ialspp: ")
        assert done.stderr.count("\n") == 1
        assert done.stderr.endswith("\n")
        assert all(str(word) in done.stderr for word in words), (words, done.stderr)

    return check


def write_log(file, *, users=60, items=40, each=12, seed=0, first_user=0):
    """Users such as "u7" with some integer items each, 1 to 5 stars, and a day."""
    rng = np.random.default_rng(seed)
    lines = ["who,what,stars,day"]
    for user in range(first_user, first_user + users):
        for item in rng.choice(items, each, replace=False):
            lines.append(f"u{user},{item},{rng.integers(1, 6)},2026-11-{rng.integers(1, 31):02d}")
    file.write_text("\n".join(lines) + "\n")
    return file


def contents(folder):
    """Every file below a folder and what it holds."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
