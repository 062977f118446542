"""Runs `ialspp` as a user does: the installed command, in a process of its own, on real files."""

import json
import os
import shutil
import subprocess
import sysconfig

import numpy as np

COMMAND = shutil.which("ialspp", path=sysconfig.get_path("scripts"))
COLUMNS = ["--user", "who", "--item", "what"]
QUICK = ["--dim", "4", "--epochs", "2"]
# What a terminal, a runner or a developer may have set must not change what a test sees.
FOREIGN = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "CLICOLOR_FORCE", "GITHUB_ACTIONS"}


def environment(**changes):
    kept = {k: v for k, v in os.environ.items() if k not in FOREIGN and not k.startswith("IALSPP_")}
    return {**kept, **changes}


def ialspp(*arguments, stdin=None, cwd=None, **changes):
    """Run the command to its end; stdin is text, changes are environment variables."""
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        input="" if stdin is None else stdin,
        capture_output=True,
        encoding="utf-8",
        env=environment(**changes),
        cwd=cwd,
        timeout=120,
    )


def shell(line, *arguments, cwd=None, **changes):
    """Run a line of bash, in which "$@" is the command with these arguments."""
    return subprocess.run(
        ["bash", "-c", line, "bash", COMMAND, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        env=environment(**changes),
        cwd=cwd,
        timeout=120,
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
