"""SIGINT and SIGTERM: each raises an exception, so that the command cleans up, and none gets lost."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


class Terminated(KeyboardInterrupt):
    """SIGTERM: ends the program like Ctrl-C, so that it cleans up behind itself."""


_RAISED = {signal.SIGINT: KeyboardInterrupt, signal.SIGTERM: Terminated}
received: list[type[KeyboardInterrupt]] = []  # what signals have raised in this run


@contextmanager
def signals_raised() -> Iterator[None]:
    """Raise `Terminated` on SIGTERM, which would end the process where it stands, and remember each signal.

    A signal that is ignored stays ignored.
    """
    defaults = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    ours = {number: by for number, by in defaults.items() if signal.getsignal(number) is by}
    received.clear()
    before = sys.unraisablehook
    try:
        sys.unraisablehook = _raise_again_or(before)
        for number in ours:
            signal.signal(number, _raise)
        yield
    finally:
        for number, default in ours.items():
            signal.signal(number, default)
        sys.unraisablehook = before


def _raise(number: int, _frame: object) -> NoReturn:
    received.append(_RAISED[signal.Signals(number)])
    raise received[-1]


def _raise_again_or(hook: Callable[[Any], object]) -> Callable[[Any], None]:
    """Make the function that Python calls for an error that it cannot raise, as in a destructor.

    If a signal has raised it, it is raised once more, a moment later.
    """

    def call(unraisable: Any) -> None:
        number = {raised: sent for sent, raised in _RAISED.items()}.get(unraisable.exc_type)
        if number is None:
            hook(unraisable)
        else:
            later = threading.Timer(0.01, _send, [number])
            later.daemon = True
            later.start()

    return call


def _send(number: signal.Signals) -> None:
    """Send the main thread a signal, unless the command has ended."""
    if signal.getsignal(number) is not _raise:
        return
    if hasattr(signal, "pthread_kill"):  # which also wakes it
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(number)


def keep_signals_from_polars() -> None:
    """Let SIGINT do what Python says, and nothing else, while polars reads.

    polars handles it too, also where it is ignored as after `nohup`: its query ends without an error, and
    what it has read so far looks like the whole file.
    """
    import polars  # noqa: F401 - which puts its handler in the place of Python's

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))


@contextmanager
def signals_kept() -> Iterator[None]:
    """Raise what a signal has raised again if the block goes on all the same, or ends with another error.

    Libraries that call Python from native code may swallow an exception, and take for the end of a file what
    is Ctrl-C.
    """
    try:
        yield
    except Exception as error:
        if received:
            raise received[-1] from error
        raise
    if received:
        raise received[-1]
