"""What goes wrong: a line on stderr and an exit code, or with --debug a traceback."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated

import typer

from ..errors import NotFittedError
from ..system.printable import printable

MISTAKE, UNEXPECTED, INTERRUPTED, CLOSED_PIPE = 2, 1, 130, 141
EXIT_CODES = (
    "Exit codes: 0 done, 2 a mistake in what was asked or given, 1 an error of the program or no memory, "
    "130 interrupted, 141 nobody reads the output any more."
)
MISTAKES = (ValueError, TypeError, OSError, ArithmeticError, KeyError, ImportError, NotFittedError)

DebugOption = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


@contextmanager
def reported() -> Iterator[None]:
    """Turn what a command raises into a message and an exit code."""
    try:
        try:
            yield
        finally:
            _flush()  # here, where it can still be said that it failed
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # rich and typer end so; with another code
            raise SystemExit(CLOSED_PIPE) from end
        raise
    except BrokenPipeError as error:
        _discard_output()
        raise SystemExit(CLOSED_PIPE) from error
    except KeyboardInterrupt as error:
        _tell("interrupted")
        raise SystemExit(INTERRUPTED) from error
    except MemoryError as error:
        _tell(f"there is not enough memory: {error}".rstrip(": "))
        raise SystemExit(UNEXPECTED) from error
    except MISTAKES as error:
        _tell(message_of(error))
        raise SystemExit(MISTAKE) from error
    except Exception as error:
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        _tell(f"this is an error of the program, please report it with what --debug shows: {what}")
        raise SystemExit(UNEXPECTED) from error


def message_of(error: BaseException) -> str:
    """What is shown of a user's mistake."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def _tell(message: str) -> None:
    """One line, whatever is in the message; called while the error is being handled."""
    if sys.stderr is None:  # closed by whoever started this
        return
    if "--debug" in sys.argv:  # also where the mistake is in an option that is read before this one
        traceback.print_exc()
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
    """What is left to be written goes nowhere, or Python would try again at its end, and complain."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
