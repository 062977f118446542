"""The file of the data as workers open it: under the driver's path, or a copy on their node's own disk."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from ..data.interactions import Interactions
from ..errors import InvalidStateError
from ..files.atomic import whole_file
from ..files.leftovers import finished_name, leftovers
from ..files.lock import locked
from ..files.parsing import StoreError
from ..system.log import log

CHUNK = 2**25  # bytes that are sent at a time
SLOWEST = 1e7  # bytes a second that a node should receive: a worker that copies for longer may be missed


class Sender:
    """An actor on the driver's node, which reads the file for the others."""

    def __init__(self, path: str) -> None:
        self._file = Path(path).open("rb")  # noqa: SIM115 - open until the actor ends

    def chunk(self, begin: int, size: int) -> bytes:
        """Read some bytes; fewer where the file ends."""
        self._file.seek(begin)
        return self._file.read(size)


@dataclass(frozen=True, slots=True)
class Copies:
    """How nodes other than the driver's come by a copy."""

    folder: str
    driver: str  # the id of its node
    sender: Any
    size: int
    chunk: int = CHUNK

    @property
    def patience(self) -> float:
        """The seconds that a copy may take."""
        return self.size / SLOWEST


@dataclass(frozen=True, slots=True)
class DataFile:
    """The driver's file, and how others come by it. Without copies every node reads the driver's path."""

    path: str
    checksum: str
    copies: Copies | None = None

    def opened(self) -> Interactions:
        """Open the data on this node; the file must be the driver's."""
        return self._require_same(self._here(), verify=False)

    def _require_same(self, path: Path, *, verify: bool) -> Interactions:
        data = Interactions.open(path, verify=verify)
        if data.file is None or data.file.checksum != self.checksum:
            raise InvalidStateError(f"{path} on this machine is another file than on the driver's")
        return data

    def _here(self) -> Path:
        """Return the path on this node. Of several workers one makes the copy, and the others wait."""
        copies, original = self.copies, Path(self.path)
        if copies is None or ray.get_runtime_context().get_node_id() == copies.driver:
            return original
        original = finished_name(original)
        target = Path(copies.folder) / f"{original.stem}-{self.checksum}{original.suffix}"
        try:
            with locked(Path(copies.folder) / original.name):
                if not target.exists():
                    self._copy(copies, target)
                    _remove_older(original, target)
        except (OSError, StoreError) as error:
            raise InvalidStateError(
                f"the data cannot be copied to {copies.folder} of {socket.gethostname()}: {error}"
            ) from error
        return target

    def _copy(self, copies: Copies, target: Path) -> None:
        """Fetch the file chunk by chunk, one ahead of what is written. Only a whole one gets its name."""
        chunk, ask = copies.chunk, copies.sender.chunk.remote
        with whole_file(target) as file:
            ahead = ask(0, chunk)
            for begin in range(0, copies.size, chunk):
                now, ahead = ahead, ask(begin + chunk, chunk)
                file.write(ray.get(now))
            file.flush()
            self._require_same(Path(file.name), verify=True)
        log("%d bytes of data were copied to %s", copies.size, target)


@contextmanager
def data_file(data: Interactions, folder: Path | None) -> Iterator[DataFile]:
    """Say where workers find the data. With a folder, it is sent to those who ask, while the block lasts."""
    assert data.file is not None
    path, checksum = data.file.path.absolute(), data.file.checksum
    if folder is None:
        yield DataFile(str(path), checksum)
        return
    driver = ray.get_runtime_context().get_node_id()
    there = NodeAffinitySchedulingStrategy(driver, soft=False)
    sender: Any = ray.remote(num_cpus=0, scheduling_strategy=there)(Sender).remote(str(path))
    try:
        yield DataFile(str(path), checksum, Copies(str(folder), driver, sender, path.stat().st_size))
    finally:
        ray.kill(sender)


def _remove_older(original: Path, target: Path) -> None:
    """Remove copies of files that had the name of this one before, and what dead processes left there.

    Workers that have one mapped keep it.
    """
    name = re.compile(rf"{re.escape(original.stem)}-[0-9a-f]{{16}}{re.escape(original.suffix)}")
    copies = [other for other in target.parent.iterdir() if name.fullmatch(other.name) and other != target]
    for file in (*copies, *leftovers(target.parent)):
        file.unlink(missing_ok=True)
