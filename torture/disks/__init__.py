"""Let disks fail: ENOSPC and EIO at each call on files, files that may not grow, full disks, no permission.

A try is one failure in one operation. The process must end with exit code 2, or with 3 where
the report alone failed, and one line that names the file.
That file is as it was before, every other one is the old or the new one, and nothing unfinished is left.
Failures at calls need a C compiler and Linux, a small disk needs the right to mount one.
"""

from __future__ import annotations

import errno
import itertools
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from torture.disks.failing import Disks, Failure
from torture.disks.operations import Operation, Operations
from torture.processes.jobs import OPEN, RENAME, SYNC, SYNC_FOLDER, WRITE, Strike
from torture.processes.nursery import Nursery
from torture.tally import Tally

FULL = 900
KINDS = {"open": OPEN, "write": WRITE, "fsync": SYNC, "rename": RENAME, "fsync of a folder": SYNC_FOLDER}
SMALL = 1 << 20  # bytes of a disk
LEAST = 1_000  # bytes of a file that is limited: the line of an error has fewer


def attack(tries: int, seed: int, folder: Path) -> Tally:
    """Make so many operations fail."""
    tally, draw = Tally(), random.Random(seed)
    folder.chmod(0o755)  # for an ordinary user
    for name in ("processes", "arena", "small"):
        (folder / name).mkdir()
    with Nursery(folder / "processes") as nursery, small_disk(folder / "small") as small:
        disks = Disks(folder / "arena", small, nursery, tally)
        if small is None:
            tally.counts["(no right to mount a disk)"] += 1
        if not nursery.can_interpose:
            tally.counts["(no C compiler or not Linux)"] += 1
        operations = Operations(folder / "arena", nursery, draw).all()
        cases = [case for operation in operations for case in _cases(operation, disks, nursery, draw)]
        draw.shuffle(cases)
        for operation, failure, after in itertools.islice(itertools.cycle(cases), tries):
            disks.attack(operation, failure, after)
            tally.counts[failure.what.partition(",")[0]] += 1
        tally.counts["different failures"] = len(cases)
    return tally


def _cases(
    operation: Operation, disks: Disks, nursery: Nursery, draw: random.Random
) -> Iterator[tuple[Operation, Failure, Path]]:
    """List what can go wrong in an operation."""
    run, after = disks.undisturbed(operation)
    for failure in _anywhere(disks, draw):
        yield operation, failure, after
    for name, kind in KINDS.items() if nursery.can_interpose else ():
        for call in range(run.counts[kind.bit_length() - 1]):
            for failure in _at_call(name, kind, call):
                yield operation, failure, after


def _anywhere(disks: Disks, draw: random.Random) -> Iterator[Failure]:
    if disks.small is not None:
        for pages in range(5):
            reason, spare = os.strerror(errno.ENOSPC), 4096 * pages
            yield Failure(f"full disk, {spare} bytes left", reason, spare=spare, may_succeed=True)
    for limit in [LEAST, *(draw.randrange(LEAST, 30_000) for _ in range(4))]:
        reason = os.strerror(errno.EFBIG)
        yield Failure(f"file limit, {limit} bytes", reason, limit=limit, may_succeed=True)
    for denied in ("file", "folder"):
        yield Failure(f"permission denied, {denied}", denied=denied)
    yield Failure("full output", os.strerror(errno.ENOSPC), no_output=True, may_succeed=True)


def _at_call(name: str, kind: int, call: int) -> Iterator[Failure]:
    """List how one call can fail: once or from then on, and a write after half of its bytes."""
    for error, remains, half in itertools.product((errno.ENOSPC, errno.EIO), (False, True), (False, True)):
        if half and not (remains and kind == WRITE):
            continue
        strike = Strike("", kind, call, error=error, remains=remains, half=half)
        how = f"{'from then on' if remains else 'once'}{', after half' if half else ''}"
        what = f"{errno.errorcode[error]} in {name}, call {call}, {how}"
        yield Failure(what, os.strerror(error), strike=strike, may_succeed=kind == SYNC_FOLDER)


@contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """Mount a small disk in memory, where that is allowed."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(folder)]
    try:
        is_there = sys.platform == "linux" and not subprocess.run(command, capture_output=True).returncode
    except OSError:
        is_there = False
    try:
        yield folder if is_there else None
    finally:
        if is_there:
            subprocess.run(["umount", str(folder)], check=True)
