"""What an error of each kind is to the user of the command: a line, or the traceback of a bug."""

import errno
import sys

import numpy as np
import pytest
from support.commands import ialspp_process, process, refuses

from ialspp import IalsppError, errors
from ialspp.cli.failures import reported
from ialspp.datasets import DownloadError
from ialspp.store import StoreError


def test_errors_of_our_own_are_the_ones_that_callers_expect():
    """Each is an IalsppError, and also the built-in error that it is caught as."""
    kinds = {
        errors.InvalidValueError: ValueError,
        errors.InvalidTypeError: TypeError,
        errors.InvalidStateError: RuntimeError,
        errors.NotFittedError: RuntimeError,
        errors.SolveError: ArithmeticError,
        errors.UnknownIdError: KeyError,
        errors.MissingExtraError: ImportError,
        DownloadError: OSError,
        StoreError: ValueError,
    }
    for kind, built_in in kinds.items():
        assert issubclass(kind, IalsppError)
        assert issubclass(kind, built_in)


def outcome(error, capsys):
    """The exit code, and what is on stderr, where a command raises an error."""
    with pytest.raises(SystemExit) as end, reported():
        raise error
    out, err = capsys.readouterr()
    assert out == ""
    return end.value.code, err


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (errors.InvalidValueError("dim must be at least 1, got 0"), "dim must be at least 1, got 0"),
        (errors.UnknownIdError("unknown user: 'x'"), "unknown user: 'x'"),
        (errors.MissingExtraError("pip install it"), "pip install it"),
        (StoreError("x.ialspp is empty"), "x.ialspp is empty"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "x"), "x: No such file or directory"),
        (OSError("a disk"), "a disk"),
        (MemoryError("8 GB"), "there is not enough memory: 8 GB"),
        (MemoryError(), "there is not enough memory"),
        (errors.InvalidValueError("two\nlines"), "two lines"),
    ],
)
def test_an_error_of_the_input_or_the_system_is_one_line(error, line, capsys):
    assert outcome(error, capsys) == (2, f"ialspp: {line}\n")


def test_errors_that_caused_each_other_are_reported_once(capsys):
    first, second = OSError("a disk"), OSError("its writer")
    first.__cause__, second.__cause__ = second, first
    assert outcome(first, capsys) == (2, "ialspp: a disk\n")


@pytest.mark.parametrize(
    "bug",
    [
        lambda: {}["solver"],
        lambda: int("x"),
        lambda: len(3),
        lambda: np.zeros(3).reshape(2),
        lambda: 1 // 0,
        lambda: __import__("ialspp.nothing"),
        lambda: None.shape,
    ],
)
def test_any_other_error_is_a_bug_with_its_traceback(bug, capsys):
    with pytest.raises(SystemExit) as end, reported():
        bug()
    err = capsys.readouterr().err
    assert end.value.code == 1
    assert err.startswith("Traceback (most recent call last):\n")
    last = err.splitlines()[-1]
    cause = end.value.__cause__
    assert last.startswith("ialspp: this is a bug, please report it with the traceback above: ")
    assert last.endswith(f"{type(cause).__name__}: {cause}")


def test_ways_to_start_the_command():
    installed = ialspp_process("--version")
    assert (installed.returncode, installed.stderr) == (0, "")
    module = process(sys.executable, "-m", "ialspp", "--version")
    assert (module.returncode, module.stdout) == (0, installed.stdout)


def test_a_mistake_in_the_environment_is_one_line():
    refuses("IALSPP_ISA='mmx' is not an instruction set")(ialspp_process("--version", IALSPP_ISA="mmx"))
    refuses("IALSPP_THREADS must be an integer")(
        ialspp_process("evaluate", "synthetic:ml20m", IALSPP_THREADS="two")
    )
