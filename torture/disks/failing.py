"""Operations that fail for want of a sound disk, and what must hold afterwards."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ialspp import store
from ialspp.cli.failures import INVALID_INPUT, UNREPORTED
from ialspp.model.checkpoint import Checkpoint
from torture.disks.operations import MODEL, Operation
from torture.kills.arena import error_in, is_one_line
from torture.kills.fits import bits_of
from torture.processes.jobs import Job, Run, Strike
from torture.processes.nursery import Nursery
from torture.tally import Tally

NOBODY = 65534  # the number of an ordinary user without files


@dataclass(frozen=True, slots=True)
class Failure:
    """What goes wrong in an operation."""

    what: str
    reason: str = ""  # words of the error
    strike: Strike | None = None
    limit: int | None = None  # of the bytes of a file
    spare: int | None = None  # bytes that are left on a small disk
    denied: str | None = None  # "file" or "folder": not for an ordinary user
    no_output: bool = False  # the standard output is on a full disk
    may_succeed: bool = False


class Disks:
    """Folders to write to, on the disk that is there and on a small one."""

    def __init__(self, folder: Path, small: Path | None, nursery: Nursery, tally: Tally) -> None:
        self.small, self._folder, self._nursery, self._tally = small, folder, nursery, tally
        self._numbers = itertools.count()

    def undisturbed(self, operation: Operation) -> tuple[Run, Path]:
        """Run an operation that succeeds; also return the folder that it wrote to."""
        place = self._place(operation, self._folder)
        run = self._nursery.run(replace(operation.job(place), strike=Strike(str(place))))
        if run.code != 0:
            self._tally.fault(f"{operation.name} ended with {run.code}: {run.stderr}")
        return run, place

    def attack(self, operation: Operation, failure: Failure, after: Path) -> None:
        """Let an operation fail, and check how it ends and what is left."""
        story = f"{operation.name}: {failure.what}"
        with self._disk(operation, failure) as place:
            before = contents(place)
            run = self._nursery.run(self._job(operation, failure, place))
            fault = fault_of(run, failure, place) or fault_in(place, before, after, run)
        if fault:
            self._tally.fault(f"{story}: {fault}; exit code {run.code}, {run.stderr!r}")
        self._tally.counts["succeeded all the same"] += run.code == 0

    def _place(self, operation: Operation, folder: Path) -> Path:
        place = folder / f"try-{next(self._numbers)}"
        place.mkdir()
        operation.prepare(place)
        return place

    @contextmanager
    def _disk(self, operation: Operation, failure: Failure) -> Iterator[Path]:
        """Make the folder of a try, on a disk that is full or where things are forbidden if asked."""
        folder = self._folder if failure.spare is None or self.small is None else self.small
        place = self._place(operation, folder)
        filler = folder / "filler"
        try:
            if failure.spare is not None:
                filler.write_bytes(bytes(max(0, shutil.disk_usage(folder).free - failure.spare)))
            if failure.denied is not None:
                _deny(place, failure.denied)
            yield place
        finally:
            place.chmod(0o755)
            shutil.rmtree(place)
            filler.unlink(missing_ok=True)

    def _job(self, operation: Operation, failure: Failure, place: Path) -> Job:
        rehearsed = self._folder / "rehearsal"
        if failure.denied and not rehearsed.exists():
            rehearsed.mkdir()
        return replace(
            operation.job(place),
            rehearsal=operation.job(rehearsed).arguments if failure.denied else (),
            strike=None if failure.strike is None else replace(failure.strike, folder=str(place)),
            file_limit=failure.limit,
            user=None if failure.denied is None or os.getuid() else NOBODY,
            stdout="/dev/full" if failure.no_output else "",
        )


def _deny(place: Path, what: str) -> None:
    for path in place.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o444 if what == "file" else 0o666)
    place.chmod(0o777 if what == "file" else 0o555)


def contents(place: Path) -> dict[str, bytes]:
    """Read every file below a folder."""
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def fault_of(run: Run, failure: Failure, place: Path) -> str | None:
    """Tell what is wrong with how a process ended: not with one line that names the file and says why."""
    if run.hung:
        return "it hangs"
    if run.code == 0:
        return None if failure.may_succeed else "it takes no notice"
    if run.code not in (INVALID_INPUT, UNREPORTED) or not is_one_line(run.stderr, "ialspp: "):
        return "it must end with 2, or with 3 where the result is there, and one line"
    if failure.reason not in run.stderr:
        return f"the error must say {failure.reason!r}"
    return None if failure.no_output or str(place) in run.stderr else "the error must name the file"


def fault_in(place: Path, before: dict[str, bytes], after: Path, run: Run) -> str | None:
    """Tell what is wrong with the files: what the error names must be the old one, others old or new."""
    found = contents(place)
    if run.code == UNREPORTED and found.get(MODEL) in (None, before.get(MODEL)):
        return f"{MODEL} is said to be written, and is not"
    if missing := before.keys() - found.keys():
        return f"{sorted(missing)} are gone"
    for name, content in found.items():
        if name.endswith(".part"):
            return f"{name} remains"
        if content == before.get(name, b""):
            continue
        if f"{place / name}:" in run.stderr and name != "c":  # a checkpoint is written again at the end
            return f"{name} has changed"
        if fault := _fault_in_new(place / name, after / name):
            return f"{name}: {fault}"
    return None


def _fault_in_new(file: Path, expected: Path) -> str | None:
    """Tell how a file that was written differs from what an undisturbed operation writes."""
    if file.suffix == ".ialspp":
        return error_in(store.verify, file) or (None if bits_of(file) == bits_of(expected) else "other bits")
    if file.name == "c":
        return error_in(Checkpoint.open, file)
    if file.suffix == ".jsonl":
        return error_in(lambda: [json.loads(line) for line in file.read_text().splitlines()])
    return None if expected.exists() and file.read_bytes() == expected.read_bytes() else "not the new one"
