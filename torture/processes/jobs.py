"""Jobs for processes: what they do, what strikes them, and how they ended."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

# As in interpose.c:
OPEN, WRITE, SYNC, RENAME, UNLINK, LOCK, TRUNCATE, SYNC_FOLDER = (1 << bit for bit in range(8))
EVERY_CALL = (1 << 8) - 1


@dataclass(frozen=True, slots=True)
class Strike:
    """What interpose.c does at one call on the files of a folder; in the order of its parameters."""

    folder: str
    kinds: int = EVERY_CALL
    call: int = -1  # none: calls are only counted
    signal: int = 0
    error: int = 0
    remains: bool = False  # later calls fail too
    half: bool = False  # a write first writes half of its bytes


@dataclass(frozen=True, slots=True)
class Blow:
    """A signal that a process gets: at a call, or after a share of the time that it usually takes."""

    signal: signal.Signals
    call: int | None = None
    half: bool = False
    share: float | None = None

    def __str__(self) -> str:
        when = f"at {self.share:.3f} of its time" if self.call is None else f"at call {self.call}"
        return f"{self.signal.name} {when}{', half written' if self.half else ''}"


@dataclass(frozen=True, slots=True)
class Run:
    """How a process ended."""

    pid: int
    code: int  # minus the signal, if one has ended it
    stdout: str
    stderr: str
    counts: tuple[int, ...]  # of the calls on files of its folder, by kind; empty if it could not say
    seconds: float
    hung: bool

    @property
    def calls(self) -> int:
        """The number of all calls on files of its folder."""
        return sum(self.counts)


@dataclass(slots=True)
class Job:
    """What a process does, and what happens to it."""

    call: str  # module:function
    arguments: Sequence[str]
    strike: Strike | None = None
    stdout: str = ""  # a file; default: one that `Run` has the text of
    file_limit: int | None = None  # bytes
    user: int | None = None
    rehearsal: Sequence[str] = ()  # arguments for a first call, as the user who runs all this

    @classmethod
    def command(cls, *arguments: str | Path, **options: Any) -> Job:
        """Make the job of running `ialspp`."""
        return cls("torture.processes.victims:command", [str(part) for part in arguments], **options)


def struck(job: Job, blow: Blow | None) -> Job:
    """Return the job with the blow at its call, if it has one."""
    if blow is None or blow.call is None or job.strike is None:
        return job
    return replace(job, strike=replace(job.strike, call=blow.call, signal=blow.signal, half=blow.half))
