"""Call every function of the compiled core with hostile arguments: wrong shapes, types, orders and numbers.

A call may work or raise one of `worker.REFUSALS`. A crash, a hang, a sanitizer's report, valid arguments that
are refused and any other exception are faults. The calls run in a child process, which goes on after a fault
with the next call. `make torture-native` builds the extension with sanitizers, and IALSPP_SANITIZED names
the folder of that build; without it, the installed extension is attacked.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from torture.native_calls.arguments import NAMES
from torture.tally import MOST_SHOWN, Tally

FULL = 100_000  # calls of each function
MOST_SILENCE = (
    120.0  # seconds without a new call, on a busy machine. The child itself counts 10 s of CPU time
)
PROJECT = Path(__file__).parents[2]
REPORTS = ("ERROR: AddressSanitizer", "runtime error:", "Fatal Python error")
ASAN_OPTIONS = {
    "detect_leaks": 0,  # Python leaves much to the end of the process
    "allocator_may_return_null": 1,  # no memory has to become a MemoryError
    "max_allocation_size_mb": 256,
    "verify_asan_link_order": 0,  # libthrowing_new.so comes first
    "quarantine_size_mb": 32,
}


def attack(tries: int, seed: int, folder: Path) -> Tally:
    """Call each function `tries` times."""
    tally = Tally()
    counts = calls(tries, seed, folder, tally)
    tally.counts["functions"] = len(NAMES)
    tally.counts["worked"], tally.counts["refused"] = (int(part.sum()) for part in counts)
    return tally


def calls(tries: int, seed: int, folder: Path, tally: Tally) -> NDArray[np.int64]:
    """Call each function `tries` times; return how often each worked and how often it refused."""
    progress = np.memmap(folder / "progress", np.int64, "w+", shape=(1 + 2 * len(NAMES),))
    number, end = 0, tries * len(NAMES)
    while number < end and len(tally.faults) < MOST_SHOWN:
        how = _ending(_started(tries, seed, number, folder), progress, folder / "errors")
        if how is None:
            break
        number = int(progress[0])
        name, index = NAMES[number // tries], number % tries
        tally.fault(
            f"{name}: {how}\n    repeat it: python -m torture.native_calls.worker {seed} {name} {index}"
        )
        number += 1
    return np.array(progress[1:]).reshape(2, -1)


def _started(tries: int, seed: int, number: int, folder: Path) -> subprocess.Popen[bytes]:
    arguments = [str(value) for value in (seed, tries, number, folder / "progress")]
    with (folder / "errors").open("wb") as errors:
        return subprocess.Popen(
            [sys.executable, "-m", f"{__name__}.worker", *arguments],
            cwd=PROJECT,
            env=_environment(),
            stderr=errors,
        )


def _ending(child: subprocess.Popen[bytes], progress: NDArray[np.int64], errors: Path) -> str | None:
    """Wait for a child; return how it failed, or None if it made all calls."""
    seen, since = -1, time.monotonic()
    while True:
        try:
            code = child.wait(1)
            break
        except subprocess.TimeoutExpired:
            if progress[0] != seen:
                seen, since = int(progress[0]), time.monotonic()
            elif time.monotonic() - since > MOST_SILENCE:
                child.kill()
                child.wait()
                return f"no answer for {MOST_SILENCE:.0f} s"
    if code == 0:
        return None
    if code == -signal.SIGPROF:
        return "it ran for 10 s"
    return f"exit code {code}\n{_report(errors.read_text(errors='replace').splitlines())}"


def _report(lines: list[str]) -> str:
    """Return what matters of a child's last words: the head of a report, or the end of a traceback."""
    heads = [number for number, line in enumerate(lines) if any(sign in line for sign in REPORTS)]
    chosen = lines[heads[0] : heads[0] + 10] if heads else lines[-8:]
    return "\n".join(f"        {line[:200]}" for line in chosen)


def _environment() -> dict[str, str]:
    """Return the environment of a child: that of a sanitized extension where there is one."""
    folder = os.environ.get("IALSPP_SANITIZED")
    if not folder:
        return dict(os.environ)
    build = Path(folder).resolve()
    libraries = [str(build / "libthrowing_new.so"), _library("libasan.so"), _library("libubsan.so")]
    return {
        **os.environ,
        "IALSPP_CORE": str(next(build.glob("_core.*.so"))),
        "LD_PRELOAD": ":".join(libraries),
        "ASAN_OPTIONS": ":".join(f"{name}={value}" for name, value in ASAN_OPTIONS.items()),
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def _library(name: str) -> str:
    """Return where the compiler has a library of its own."""
    asked = [os.environ.get("CXX", "c++"), f"-print-file-name={name}"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
