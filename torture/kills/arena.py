"""What the attacks on processes share: data, models, draws of blows, and what must hold after each blow."""

from __future__ import annotations

import itertools
import random
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ialspp.errors import IalsppError
from torture.processes.jobs import Blow, Job, Run, Strike
from torture.processes.nursery import Nursery
from torture.tally import Tally

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
COLUMNS = ("--user", "who", "--item", "what")
CODES = {  # a process may also end before the signal comes, or before it can answer it
    signal.SIGKILL: (-signal.SIGKILL,),
    signal.SIGTERM: (143, -signal.SIGTERM),
    signal.SIGINT: (130,),
}
WORDS = {143: "ialspp: terminated", 130: "ialspp: interrupted"}


class Arena:
    """A folder with a log, processes to run, and the tally."""

    def __init__(self, folder: Path, nursery: Nursery, draw: random.Random, tally: Tally) -> None:
        self.folder, self.nursery, self.draw, self.tally = folder, nursery, draw, tally
        self.kills = 0
        self._numbers = itertools.count()
        self.log = write_log(folder / "log.csv", draw, users=120, items=60)

    def place(self) -> Path:
        """Make a new empty folder."""
        made = self.folder / f"try-{next(self._numbers)}"
        made.mkdir()
        return made

    def blow(self, usual: Run) -> Blow:
        """Draw a signal and when it comes, given how the process ends without it."""
        sent = self.draw.choice(SIGNALS)
        share = self.draw.uniform(0, 1.05)
        call = self.draw.randrange(usual.calls + 1)
        half = self.draw.random() < 0.3
        if self.nursery.can_interpose and self.draw.random() < 0.6:
            return Blow(sent, call=call, half=half)
        return Blow(sent, share=share)

    def usual(self, *arguments: str | Path, below: Path) -> Run:
        """Run a command that is not struck."""
        run = self.nursery.run(self.job(*arguments, below=below))
        if run.code != 0:
            self.fault(f"an undisturbed {arguments[0]} ended with {run.code}: {run.stderr}")
        return run

    def job(self, *arguments: str | Path, below: Path) -> Job:
        """Make the job of a command whose calls on files below a folder are counted."""
        return Job.command(*arguments, strike=Strike(str(below)))

    def struck(self, what: str, run: Run, blow: Blow | None, *, says: bool = True) -> None:
        """Count a blow, and check how the process ended; `says`: it answers signals with a line."""
        if run.hung:
            self.fault(f"{what} hangs after {blow}")
        if "Traceback" in run.stderr:
            self.fault(f"{what}, {blow}: {run.stderr}")
        if blow is None:
            if run.code != 0:
                self.fault(f"{what} must succeed, ended with {run.code}: {run.stderr}")
            return
        if run.code == 0:
            self.tally.counts["(ended before the signal)"] += 1
            return
        self.kills += 1
        self.tally.counts[f"{blow.signal.name} {'at a call' if blow.share is None else 'at a moment'}"] += 1
        if run.code not in CODES[blow.signal]:
            self.fault(f"{what}, {blow}: exit code {run.code}: {run.stderr}")
        elif says and run.code in WORDS and not is_one_line(run.stderr, WORDS[run.code]):
            self.fault(f"{what}, {blow}: exit code {run.code} with the words {run.stderr!r}")

    def no_leftovers(self, what: str, place: Path, of: Run | None = None) -> None:
        """Check that no unfinished file is there, or none of the process that could clean up."""
        found = [file.name for file in place.rglob(f".*.{'' if of is None else of.pid}*-*.part")]
        if found:
            self.fault(f"{what}: {found} remain")

    def fault(self, what: str) -> None:
        """Note a fault."""
        self.tally.fault(what)

    def drop(self, place: Path) -> None:
        """Remove the folder of a try."""
        shutil.rmtree(place)


def is_one_line(text: str, start: str) -> bool:
    """Tell whether a text is one line that starts so. A process may remark on a repeated update before."""
    lines = [line for line in text.splitlines() if not line.startswith("another process has replaced")]
    return len(lines) == 1 and lines[0].startswith(start)


def error_in(check: object, *arguments: object) -> str | None:
    """Return what a check of ours raises."""
    assert callable(check)
    try:
        check(*arguments)
    except (IalsppError, OSError) as error:
        return str(error)
    return None


def write_log(file: Path, draw: random.Random, *, users: int, items: int, prefix: str = "u") -> Path:
    """Write a file of drawn interactions: eight items for each user."""
    chosen = np.random.default_rng(draw.getrandbits(32))
    file.write_text("who,what\n" + "".join(_lines(chosen, users, items, prefix)))
    return file


def _lines(chosen: np.random.Generator, users: int, items: int, prefix: str) -> Iterator[str]:
    for user in range(users):
        for item in chosen.choice(items, 8, replace=False):
            yield f"{prefix}{user},{item}\n"
