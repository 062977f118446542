"""Turn what goes wrong into one line on stderr and an exit code; a bug is shown with its traceback."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from ..errors import IalsppError
from ..system.printable import printable
from .signals import Terminated, received

BUG, INVALID_INPUT, UNREPORTED, INTERRUPTED, CLOSED_PIPE, TERMINATED = 1, 2, 3, 130, 141, 143
EXIT_CODES = (
    "Exit codes: 0 success, 1 a bug in ialspp, 2 a mistake in the options or the data, or an error of the "
    "system, 3 the result is in its file but could not be reported, 130 interrupted, 141 the reader of the "
    "output is gone, 143 terminated."
)

DebugOption = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


class UnreportedError(Exception):
    """What a command was asked for is done, but nobody could be told."""


@contextmanager
def telling_of(result: Path) -> Iterator[None]:
    """Let a failure of the block, which tells of a file that is in its place, not look like that of the work.

    Whoever repeats an update that was done counts its data twice.
    """
    try:
        yield
        _flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnreportedError(f"{result} is written, but not all about it: {message_of(error)}") from error


@contextmanager
def reported() -> Iterator[None]:
    """Exit with a message and a code for any error that the block raises."""
    try:
        try:
            yield
        finally:
            _flush()  # here, where a failure can still be reported
    except SystemExit as end:
        silenced = _silenced_by_typer(end)
        if silenced is None:
            raise
        raise SystemExit(_report(silenced)) from silenced
    except (Exception, KeyboardInterrupt) as error:
        raise SystemExit(_report(error)) from error


def message_of(error: BaseException) -> str:
    """Describe an error that is not a bug; an error of the system names its file first."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def _report(error: BaseException) -> int:
    """Print what an error calls for, and return the exit code."""
    if received and not isinstance(error, KeyboardInterrupt):  # which a library took for something else
        error = received[-1]()
    if isinstance(error, BrokenPipeError):
        _discard_output()
        return CLOSED_PIPE
    _leave_blocks(error)
    if isinstance(error, KeyboardInterrupt):
        # Ray raises a plain KeyboardInterrupt for any signal that interrupts its waiting.
        is_term = isinstance(error, Terminated) or received[-1:] == [Terminated]
        _print_line(f"{'terminated' if is_term else 'interrupted'}: {error}".rstrip(": "), error)
        return TERMINATED if is_term else INTERRUPTED
    if isinstance(error, MemoryError):
        _print_line(f"there is not enough memory: {error}".rstrip(": "), error)
        return INVALID_INPUT
    if isinstance(error, UnreportedError):
        _print_line(str(error), error)
        return UNREPORTED
    if isinstance(error, (IalsppError, OSError)):
        _print_line(message_of(error), error)
        return INVALID_INPUT
    what = f"{type(error).__name__}: {error}".rstrip(": ")
    _print_line(f"this is a bug, please report it with the traceback above: {what}", error, is_bug=True)
    return BUG


def _silenced_by_typer(end: SystemExit) -> BaseException | None:
    """Find the interrupt or the closed pipe that typer or rich turned into an exit without a word."""
    if end.__cause__ is not None:  # raised by `reported` inside a command, which has printed the line
        return None
    silent = (KeyboardInterrupt, BrokenPipeError)
    return next((error for error in _chain(end) if isinstance(error, silent)), None)


def _leave_blocks(error: BaseException) -> None:
    """Let go of every block that the error interrupted, so that no progress bar is drawn after the message.

    Ctrl-C can come after a context manager was entered and before its `with` block began. Nothing leaves it
    then but the end of the frames that hold it, and those live as long as the traceback.
    """
    for each in _chain(error):
        traceback.clear_frames(each.__traceback__)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """List an error, the one that led to it, and so on. Libraries also raise errors that form a circle."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _print_line(message: str, error: BaseException, *, is_bug: bool = False) -> None:
    """Print one line, whatever the message holds; before it the traceback where it helps."""
    if sys.stderr is None:  # closed by the caller
        return
    if is_bug or "--debug" in sys.argv:  # typer may not have come to --debug when another option is wrong
        traceback.print_exception(error)
    print(f"ialspp: {printable(' '.join(message.splitlines()))}", file=sys.stderr)


def _flush() -> None:
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        _discard_output()
        raise


def _discard_output() -> None:
    """Send what is still to be written nowhere, or Python would try again when it exits, and complain."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
