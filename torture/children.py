"""Tries in processes of their own, so that a crash or a hang is noticed and costs one try."""

from __future__ import annotations

import faulthandler
import json
import subprocess
import sys
from collections.abc import Callable, Sequence

from torture.tally import Tally

AT_ONCE = 500  # tries of one process
PATIENCE = 100  # seconds of one try, which takes some milliseconds. A busy machine may stall for a minute.


class Report:
    """What a process tells its parent, a line of JSON each."""

    def begin(self, number: int) -> None:
        """Say which try comes next."""
        self._send("begin", number)

    def count(self, what: str, times: int = 1) -> None:
        """Count something that may happen."""
        self._send("count", [what, times])

    def fault(self, what: str) -> None:
        """Tell of something that must not happen."""
        self._send("fault", what)

    def _send(self, kind: str, value: object) -> None:
        print(json.dumps([kind, value]), flush=True)


def serve(attempt: Callable[[int, int, Report], None]) -> None:
    """Make the tries that the command line names: seed, first, end. This is the child's side."""
    seed, first, end = map(int, sys.argv[1:])
    report = Report()
    for number in range(first, end):
        report.begin(number)
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        attempt(seed, number, report)
        faulthandler.cancel_dump_traceback_later()


def in_children(module: str, tries: int, seed: int) -> Tally:
    """Make so many tries of a module, which calls `serve` when it is run, and add up what they report."""
    tally = Tally()
    first = 0
    while first < tries:
        first = 1 + run(module, (seed, first, min(first + AT_ONCE, tries)), tally)
    return tally


def run(module: str, arguments: Sequence[object], tally: Tally) -> int:
    """Run a module to its end, add up what it reports, and return the last try that it began."""
    child = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)], capture_output=True, text=True
    )
    last = 0
    for line in child.stdout.splitlines():
        kind, value = json.loads(line)
        if kind == "begin":
            last = value
            tally.counts["tries"] += 1
        elif kind == "count":
            what, times = value
            tally.counts[what] += times
        else:
            tally.fault(value)
    if child.returncode:
        end = f"try {last} of {module} {arguments} ended its process with code {child.returncode}"
        tally.fault(f"{end}: {child.stderr[-2000:]}")
    return last
