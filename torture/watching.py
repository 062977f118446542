"""Run tries one after the other in a process of their own, and notice when one ends or stops it."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import IO

from torture.tally import Tally

PATIENCE = 10  # seconds of work that a try may take
STALLED = 120  # seconds after which a process that does no work hangs; a busy machine makes any process wait
MOST_PROCESSES = 50  # so that what ends every process does not take for ever
MEMORY = 2**30  # bytes that tries may add to what the process has at its start

Try = Callable[[int], tuple[list[str], list[str]]]  # number -> (what to count, faults)


def watched(make: Callable[[int, Path], Try], tries: int, seed: int, folder: Path) -> Tally:
    """Run tries 0, 1, 2, ... of `make(seed, folder)`. After a crash or a hang a new process goes on.

    `make` and what it needs are imported by the process, so it must be a function of a module.
    """
    tally, done = Tally(), 0
    for _ in range(MOST_PROCESSES):
        done = _run_until_it_ends(make, range(done, tries), seed, folder, tally)
        if done == tries:
            return tally
    tally.fault(f"{MOST_PROCESSES} processes ended; {tries - done} tries are left out")
    return tally


def _run_until_it_ends(
    make: Callable[[int, Path], Try], numbers: range, seed: int, folder: Path, tally: Tally
) -> int:
    """Run tries in one process, and return the number of the first that is left."""
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe(duplex=False)
    process = spawning.Process(target=_work, args=(make, numbers, seed, folder, theirs))
    process.start()
    theirs.close()
    number = numbers.start
    try:
        while number < numbers.stop:
            if not answers_in_time(ours, process.pid):
                tally.fault(f"try {number} of seed {seed}: it hangs")
                return number + 1
            counted, faults = ours.recv()
            tally.counts.update(counted)
            for fault in faults:
                tally.fault(f"try {number} of seed {seed}: {fault}")
            number += 1
    except EOFError:
        process.join()
        tally.fault(f"try {number} of seed {seed}: the process ended, {_ended(process.exitcode)}")
        return number + 1
    finally:
        process.kill()
        process.join()
        ours.close()
    return number


def answers_in_time(answers: Connection | IO[bytes], process: int | None) -> bool:
    """Wait for an answer; False once the process has worked or waited for too long."""
    before, start = _seconds_of_work(process), time.monotonic()
    while not wait([answers.fileno()], 1):
        if _seconds_of_work(process) - before > PATIENCE or time.monotonic() - start > STALLED:
            return False
    return True


def _seconds_of_work(process: int | None) -> float:
    """Return the processor time that a process has taken; it may have ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _work(
    make: Callable[[int, Path], Try], numbers: range, seed: int, folder: Path, answers: Connection
) -> None:
    """Run tries, with a limit on memory, and send what each counted."""
    attempt = make(seed, folder)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))
    for number in numbers:
        answers.send(attempt(number))


def _ended(code: int | None) -> str:
    if code is not None and code < 0:
        with suppress(ValueError):
            return f"by {signal.Signals(-code).name}"
    return f"exit code {code}"
