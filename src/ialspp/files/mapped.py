"""Arrays of mapped files as a few words, from which another process, on any machine, maps them again."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


class MappedFile(mmap.mmap):
    """The bytes of a file, which know where they come from once the file has turned out to be sound."""

    source: tuple[Path, str] | None = None  # the file, and the checksum of its contents


@dataclass(frozen=True, slots=True)
class ArrayPlace:
    """Where an array is in a file."""

    path: str
    checksum: str  # of the whole file
    dtype: str
    shape: tuple[int, ...]
    offset: int  # bytes from the beginning of the file


def place_of(array: NDArray[Any]) -> ArrayPlace | None:
    """Say where an array, or a slice of one, is in a mapped file; None if it is in no file."""
    memory: Any = array
    while isinstance(memory, np.ndarray):
        memory = memory.base
    if not isinstance(memory, MappedFile) or memory.source is None:
        return None
    if array.size == 0 or not array.flags.c_contiguous:
        return None
    path, checksum = memory.source
    offset = array.ctypes.data - np.frombuffer(memory, np.uint8).ctypes.data
    return ArrayPlace(str(path), checksum, array.dtype.str, array.shape, offset)
