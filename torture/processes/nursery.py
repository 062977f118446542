"""Processes of ialspp that start in milliseconds."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torture.processes.jobs import Blow, Job, Run, struck

SOURCE = Path(__file__).with_name("interpose.c")
PATIENCE = 120.0  # seconds until a process counts as hung, on a machine that may be very busy


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
            [sys.executable, "-m", "torture.processes.forks"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=Path(__file__).resolve().parents[2],
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


def compiled(folder: Path) -> Path | None:
    """Compile interpose.c, or return None where there is no compiler or another system than Linux."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or sys.platform != "linux":
        return None
    library = folder / "interpose.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
    return library
