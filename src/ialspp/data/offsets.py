"""Where rows begin and end. Offsets of a large file are not checked when it is opened, so here they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValueError

Offsets = NDArray[np.int64]
OF_A_FILE = ": the file that holds them is damaged"  # nothing else holds rows that were never checked


def ranges_of(offsets: Offsets, rows: NDArray[np.integer[Any]], size: int) -> tuple[Offsets, Offsets]:
    """Return where each of these rows begins and ends in an array of `size` entries.

    Damaged offsets are an error: rows outside the array, or rows that together have more entries than it has,
    which could ask for any amount of memory.
    """
    starts, ends = offsets[rows], offsets[rows + 1]
    if ((starts < 0) | (starts > ends) | (ends > size)).any():
        raise damaged(size)
    if _total(starts, ends) > size:
        _, once = np.unique(rows, return_index=True)  # a caller may name a row twice
        if _total(starts[once], ends[once]) > size:
            raise damaged(size)
    return starts, ends


def gathered(
    offsets: Offsets, rows: NDArray[np.integer[Any]], size: int
) -> tuple[Offsets, NDArray[np.int64]]:
    """Return the offsets of these rows one after the other, and the places of their entries in the array."""
    starts, ends = ranges_of(offsets, rows, size)
    counts = ends - starts
    taken = np.concatenate([[0], np.cumsum(counts)])
    return taken, np.repeat(starts - taken[:-1], counts) + np.arange(taken[-1])


def require_rising(offsets: Offsets, size: int) -> None:
    """Raise an error unless all offsets rise from 0 to `size`."""
    if not is_framed(offsets, size) or (offsets[1:] < offsets[:-1]).any():
        raise damaged(size)


def is_framed(offsets: Offsets, size: int) -> bool:
    """Whether the first and the last offset are right."""
    return len(offsets) > 0 and bool(offsets[0] == 0) and bool(offsets[-1] == size)


def ranges_within(offsets: Offsets, most: int) -> Iterator[tuple[int, int]]:
    """Divide rows into ranges of at most so many entries together, or of a single row that has more."""
    begin = 0
    while begin < len(offsets) - 1:
        end = int(np.searchsorted(offsets, offsets[begin] + most, side="right")) - 1
        yield begin, max(end, begin + 1)
        begin = max(end, begin + 1)


@contextmanager
def rows_of_a_file() -> Iterator[None]:
    """Name the cause where the compiled core refuses rows: a file that was not verified."""
    try:
        yield
    except ValueError as error:
        raise InvalidValueError(f"{error}{OF_A_FILE}") from error


def damaged(size: int) -> InvalidValueError:
    """Make the error for offsets that only a damaged file can have."""
    return InvalidValueError(f"offsets must rise from 0 to {size}, but do not{OF_A_FILE}")


def _total(starts: Offsets, ends: Offsets) -> float:
    return float((ends - starts).sum(dtype=np.float64))
