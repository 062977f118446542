"""Processes of ialspp that start in milliseconds, and blows that strike them at a chosen call or moment."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("interpose.c")
PATIENCE = 120.0  # seconds until a process counts as hung, on a machine that may be very busy
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
        return cls("torture.victims:command", [str(part) for part in arguments], **options)


@dataclass(slots=True)
class Process:
    """A process that runs."""

    pid: int
    started: float
    files: tuple[Path, Path, Path]  # standard output and error, count of calls


class Nursery:
    """Starts processes. Use it as a context manager; `folder` is for what it keeps."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        library = compiled(folder)
        self.can_interpose = library is not None
        environment = {name: value for name, value in os.environ.items() if not name.startswith("IALSPP_")}
        environment |= {"OPENBLAS_NUM_THREADS": "1", "COLUMNS": "500"}  # a pool of BLAS is lost in a fork
        environment |= {} if library is None else {"LD_PRELOAD": str(library)}
        self._server = subprocess.Popen(
            [sys.executable, "-m", "torture.forks"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=Path(__file__).resolve().parents[1],
            bufsize=0,
        )

    def __enter__(self) -> Nursery:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.communicate()

    def start(self, job: Job) -> Process:
        """Start a job."""
        self._number += 1
        output, errors, count = (self._folder / f"{self._number}.{name}" for name in ("out", "err", "count"))
        strike = None if job.strike is None or not self.can_interpose else asdict(job.strike)
        request = {**asdict(job), "strike": strike, "counted": str(count)}
        request |= {"stdout": job.stdout or str(output), "stderr": str(errors)}
        pid = self._answer(request)
        assert pid is not None, "the server of processes hangs"
        return Process(pid, time.monotonic(), (output, errors, count))

    def wait(self, process: Process) -> Run:
        """Wait for a process to end; one that hangs is killed."""
        code = self._answer({"pid": process.pid}, PATIENCE)
        hung = code is None
        if code is None:
            os.kill(process.pid, signal.SIGKILL)
            code = self._read() or 0
        seconds = time.monotonic() - process.started
        output, errors, count = (file.read_text() if file.exists() else "" for file in process.files)
        for file in process.files:
            file.unlink(missing_ok=True)
        return Run(process.pid, code, output, errors, tuple(json.loads(count or "[]")), seconds, hung)

    def run(self, job: Job, blow: Blow | None = None, usual: Run | None = None) -> Run:
        """Run a job to its end; if it is struck, `usual` is how it ends otherwise."""
        process = self.start(struck(job, blow))
        self.strike(process, blow, usual)
        return self.wait(process)

    def strike(self, process: Process, blow: Blow | None, usual: Run | None) -> None:
        """Send the signal of a blow that has a moment."""
        if blow is None or blow.share is None or usual is None:
            return
        time.sleep(max(0.0, process.started + blow.share * usual.seconds - time.monotonic()))
        os.kill(process.pid, blow.signal)  # if it has ended, it is there until `wait`

    def _answer(self, request: dict[str, Any], patience: float = 10 * PATIENCE) -> int | None:
        assert self._server.stdin is not None
        self._server.stdin.write(f"{json.dumps(request)}\n".encode())
        return self._read(patience)

    def _read(self, patience: float | None = None) -> int | None:
        assert self._server.stdout is not None
        if not select.select([self._server.stdout], [], [], patience)[0]:
            return None
        return int(self._server.stdout.readline())


def struck(job: Job, blow: Blow | None) -> Job:
    """Return the job with the blow at its call, if it has one."""
    if blow is None or blow.call is None or job.strike is None:
        return job
    return replace(job, strike=replace(job.strike, call=blow.call, signal=blow.signal, half=blow.half))


def compiled(folder: Path) -> Path | None:
    """Compile interpose.c, or return None where there is no compiler or another system than Linux."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or sys.platform != "linux":
        return None
    library = folder / "interpose.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
    return library
