"""A column of numbers that grows batch by batch until it is whole: in memory, or in a file without a name."""

from __future__ import annotations

import mmap
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..files.atomic import errors_naming
from .csr import RowNumbers

PIECE = 2**26  # bytes: so large that the system takes them back as soon as they are freed
BLOCK = 2**22  # numbers that are renumbered at a time


class Spool(Protocol):
    """A growing column."""

    def append(self, batch: NDArray[Any]) -> None:
        """Add numbers at the end."""

    def whole(self) -> NDArray[Any]:
        """Return all numbers, to be changed in place or not. Nothing can be added afterwards."""


class MemorySpool:
    """A column in memory. Its pieces are freed one by one while the whole is made of them."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._dtype = np.dtype(dtype)
        self._pieces: list[NDArray[Any]] = []
        self._room = self._size = 0  # of the last piece: numbers that still fit; of all: numbers so far

    def append(self, batch: NDArray[Any]) -> None:
        """Add numbers at the end."""
        while len(batch):
            if self._room == 0:
                self._room = PIECE // self._dtype.itemsize
                self._pieces.append(np.empty(self._room, self._dtype))  # takes memory only as it is filled
            part, batch = batch[: self._room], batch[self._room :]
            end = len(self._pieces[-1]) - self._room + len(part)
            self._pieces[-1][end - len(part) : end] = part
            self._room -= len(part)
            self._size += len(part)

    def whole(self) -> NDArray[Any]:
        """Return all numbers."""
        whole = np.empty(self._size, self._dtype)
        end = self._size
        while self._pieces:
            piece = self._pieces.pop()
            begin = len(self._pieces) * len(piece)
            whole[begin:end] = piece[: end - begin]
            end = begin
        return whole


class FileSpool:
    """A column in a file without a name, which is gone when the process ends, even if it is killed."""

    def __init__(self, folder: Path, dtype: DTypeLike) -> None:
        self._folder, self._dtype = folder, np.dtype(dtype)
        with errors_naming(folder):
            self._file: IO[bytes] = tempfile.TemporaryFile(  # noqa: SIM115 - `whole` or `close` closes it
                dir=folder, buffering=2**20
            )

    def append(self, batch: NDArray[Any]) -> None:
        """Add numbers at the end."""
        with errors_naming(self._folder):
            self._file.write(np.ascontiguousarray(batch, self._dtype).data)

    def whole(self, *, constant: bool = False) -> NDArray[Any]:
        """Return all numbers, mapped. If `constant`, nobody can change them."""
        with errors_naming(self._folder), self._file as file:
            file.flush()
            if file.tell() == 0:  # which cannot be mapped
                return np.empty(0, self._dtype)
            access = mmap.ACCESS_READ if constant else mmap.ACCESS_WRITE
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=access), self._dtype)

    def close(self) -> None:
        """Close the file; what is mapped stays mapped. Nobody needs what could not be written to it."""
        with suppress(OSError):
            self._file.close()


def renumber(codes: RowNumbers, rows: RowNumbers) -> None:
    """Replace every code by rows[code], in place."""
    for begin in range(0, len(codes), BLOCK):
        block = codes[begin : begin + BLOCK]
        np.take(rows, block, out=block, mode="clip")  # "raise" would copy
