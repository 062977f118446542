"""A process that has imported all of ialspp and forks itself for each job: a start takes milliseconds.

It reads a job a line from its standard input, as JSON, and answers with a line. It never trains or reads data
itself, so that it has no threads of its own that a fork would lose.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import ialspp_main

# Not polars, which changes the handler of SIGINT when it is imported: that must happen where it really does.
IMPORTED = ("ialspp.cli", "ialspp.export", "ialspp.store", "rich.progress", "torture.processes.victims")
KINDS = 8  # of calls that interpose.c counts
HELD_BACK = {signal.SIGINT, signal.SIGTERM}


def main() -> None:
    """Answer requests until the standard input ends."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell ignores for what runs behind it
    for module in IMPORTED:
        importlib.import_module(module)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(_started(request) if "call" in request else _ended(request["pid"])), flush=True)


def _started(job: dict[str, Any]) -> int:
    """Fork a process that does the job, and return its number."""
    signal.pthread_sigmask(signal.SIG_BLOCK, HELD_BACK)  # until the job itself can answer them
    child = os.fork()
    if child == 0:
        os._exit(_code_of(job))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD_BACK)
    return child


def _ended(child: int) -> int:
    """Wait for a process and return its exit code; minus the signal, if one has ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _code_of(job: dict[str, Any]) -> int:
    """Do a job, and return the exit code."""
    calls = None
    try:
        module, name = job["call"].split(":")
        call = getattr(importlib.import_module(module), name)
        _redirect(job)
        if job["rehearsal"]:  # an ordinary user may not import what is still missing
            with suppress(SystemExit):
                call(*job["rehearsal"])
            _redirect(job)  # what it said is dropped
        _limit(job)
        calls = _arm(job)
        _let_signals_in()
        call(*job["arguments"])
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        code = ialspp_main.INTERRUPTED
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    with suppress(KeyboardInterrupt):  # the job is over
        signal.pthread_sigmask(signal.SIG_BLOCK, HELD_BACK)
    if calls is not None:
        Path(job["counted"]).write_text(json.dumps(calls()))
    sys.stdout.flush()
    for thread in threading.enumerate():  # as Python does when it ends
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    return code


def _let_signals_in() -> None:
    """Let signals reach the job. One that is waiting comes before the job can answer it, so it ends here."""
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD_BACK)
    except KeyboardInterrupt:
        os.write(2, b"ialspp: interrupted\n")  # what the entry point of the command says then
        raise


def _redirect(job: dict[str, Any]) -> None:
    for number, file in ((1, job["stdout"]), (2, job["stderr"])):
        opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)


def _limit(job: dict[str, Any]) -> None:
    if job.get("file_limit") is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (job["file_limit"], job["file_limit"]))
    if job.get("user") is not None:
        os.setgroups([])
        os.setgid(job["user"])
        os.setuid(job["user"])


def _arm(job: dict[str, Any]) -> Any:
    """Let interpose.c count, and strike if the job says so; return the function that gives the counts."""
    if job.get("strike") is None:
        return None
    itself = ctypes.CDLL(None)
    strike = dict(job["strike"])
    number = ctypes.c_int
    itself.torture_arm.argtypes = [ctypes.c_char_p, number, ctypes.c_long, *[number] * 4]
    itself.torture_count.restype = ctypes.c_long
    itself.torture_arm(strike.pop("folder").encode(), *strike.values())
    return lambda: [itself.torture_count(bit) for bit in range(KINDS)]


if __name__ == "__main__":
    main()
