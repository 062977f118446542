"""Rows in temporary files that are mapped: made range by range, in memory that does not grow with them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..system.progress import Progress, reporting
from .csr import Csr, RowNumbers, Times, starts_of, transpose
from .offsets import ranges_within
from .spool import FileSpool, MemorySpool

KINDS = {"columns": np.int32, "labels": np.float32, "weights": np.float32, "times": np.float64}
ROOM = 2**28  # bytes of the ranges, where no caller says how many
MARKED = 2**24  # entries that are marked at a time; what is drawn at random depends on it

MakeSpool = Callable[[DTypeLike], FileSpool]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where temporary files are made, and how much memory a range of rows may take."""

    spool: MakeSpool
    room: int

    @classmethod
    def beside(cls, file: Path) -> Workplace:
        """Work in the folder of a file, or in that of temporary files if nothing can be written there."""
        folder = Path(os.path.realpath(file)).parent
        folder = folder if os.access(folder, os.W_OK) else Path(tempfile.gettempdir())
        return cls(lambda kind: FileSpool(folder, kind), ROOM)


class RowFiles:
    """Rows that are written to temporary files range by range."""

    def __init__(self, spool: MakeSpool, *names: str) -> None:
        self._spools = {name: spool(KINDS[name]) for name in names}
        self._counts: list[NDArray[np.int64]] = []

    def append(self, rows: Csr, times: Times | None = None) -> None:
        """Write the next rows."""
        self._counts.append(rows.counts)
        arrays = {"columns": rows.columns, "labels": rows.labels, "weights": rows.weights, "times": times}
        for name, spool in self._spools.items():
            array = arrays[name]
            assert array is not None
            spool.append(array)

    def whole(self, n_columns: int) -> tuple[Csr, Times | None]:
        """Return all rows, mapped."""
        offsets = np.zeros(sum(map(len, self._counts)) + 1, dtype=np.int64)
        np.cumsum(np.concatenate(self._counts) if self._counts else offsets[:0], out=offsets[1:])
        arrays = {name: spool.whole(constant=True) for name, spool in self._spools.items()}
        rows = Csr(offsets, arrays["columns"], n_columns, arrays.get("labels"), arrays.get("weights"))
        return rows, arrays.get("times")


def rows_by_column(rows: Csr, work: Workplace, progress: Progress = False) -> Csr:
    """Return the same entries by column."""
    names = names_of(rows)
    files = RowFiles(work.spool, *names)
    starts = starts_of(rows.columns, rows.n_columns)
    for begin, end in passes("by item", starts, work.room // bytes_of(names), progress):
        files.append(transpose(rows, begin, end))
    return files.whole(len(rows))[0]


@dataclass(frozen=True, slots=True)
class Cut:
    """The entries of marked rows in marked columns."""

    in_rows: Mask
    in_columns: Mask
    written: Mask  # the rows that the result has: the marked ones, and perhaps others, which become empty
    numbers: RowNumbers  # of each marked column in the result, ascending
    entries: Mask | None = None  # those of the marked rows and columns that are kept; None: all

    @classmethod
    def dense(cls, in_rows: Mask, in_columns: Mask) -> Cut:
        """Leave out all rows and columns that are not marked."""
        return cls(in_rows, in_columns, in_rows, np.cumsum(in_columns, dtype=np.int32) - np.int32(1))

    def of(self, rows: Csr, times: Times | None, n_columns: int, work: Workplace) -> tuple[Csr, Times | None]:
        """Return these entries, in the order they have."""
        names = names_of(rows, times)
        files = RowFiles(work.spool, *names)
        for begin, end in ranges_within(rows.offsets, max(work.room // (2 * bytes_of(names) + 8), 1)):
            if self.written[begin:end].any():
                kept = _kept(rows, begin, end, self.in_rows, self.in_columns, self.entries)
                of_range = None if times is None else times[rows.offsets[begin] : rows.offsets[end]]
                files.append(
                    self._part(rows.between(begin, end), kept, self.written[begin:end], n_columns),
                    None if of_range is None else of_range[kept],
                )
        return files.whole(n_columns)

    def _part(self, part: Csr, kept: Mask, written: Mask, n_columns: int) -> Csr:
        return Csr(
            np.concatenate([[0], np.cumsum(marked_of_rows(part.offsets, kept)[written])]),
            self.numbers[part.columns[kept]],
            n_columns,
            None if part.labels is None else part.labels[kept],
            None if part.weights is None else part.weights[kept],
        )


def count_within(
    rows: Csr, in_rows: Mask, in_columns: Mask, entries: Mask | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the (marked) entries of marked rows in marked columns: by row and by column."""
    rows.native()  # raises if a damaged file names columns that do not exist
    of_rows = np.zeros(len(rows), dtype=np.int64)
    of_columns = np.zeros(rows.n_columns, dtype=np.int64)
    for begin, end in ranges_within(rows.offsets, ROOM // 16):
        part = rows.between(begin, end)
        kept = _kept(rows, begin, end, in_rows, in_columns, entries)
        of_rows[begin:end] = marked_of_rows(part.offsets, kept)
        of_columns += np.bincount(part.columns[kept], minlength=rows.n_columns)
    return of_rows, of_columns


def marked(rows: Csr, of_range: Callable[[int, int], Mask], work: Workplace | None) -> Mask:
    """Mark entries, a range of rows after the other. The marks are in a temporary file if there is a place.

    The ranges depend on the rows alone. So do numbers that are drawn for each of them.
    """
    rows.native()  # raises if the offsets of a damaged file are none
    spool = MemorySpool(np.bool_) if work is None else work.spool(np.bool_)
    for begin, end in ranges_within(rows.offsets, MARKED):
        spool.append(of_range(begin, end))
    return spool.whole()


def _kept(rows: Csr, begin: int, end: int, in_rows: Mask, in_columns: Mask, entries: Mask | None) -> Mask:
    """Mark the entries of a range of rows that are kept."""
    part = rows.between(begin, end)
    kept = np.repeat(in_rows[begin:end], part.counts)
    kept &= in_columns[part.columns]
    if entries is not None:
        kept &= entries[rows.offsets[begin] : rows.offsets[end]]
    return kept


def marked_of_rows(offsets: NDArray[np.int64], marks: Mask) -> NDArray[np.int64]:
    """Count the marked entries of each row."""
    before = np.zeros(len(marks) + 1, dtype=np.int64)
    np.cumsum(marks, out=before[1:])
    return np.diff(before[offsets])


def names_of(rows: Csr, times: Times | None = None) -> list[str]:
    """Return the names of the arrays that rows have beside their offsets."""
    arrays = {"columns": rows.columns, "labels": rows.labels, "weights": rows.weights, "times": times}
    return [name for name, array in arrays.items() if array is not None]


def bytes_of(names: list[str]) -> int:
    """Count the bytes of a pair in the arrays of these names."""
    return sum(np.dtype(KINDS[name]).itemsize for name in names)


def passes(stage: str, starts: NDArray[np.int64], most: int, progress: Progress) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows that fit the memory, and report each that is done."""
    with reporting(stage, float(starts[-1]), progress) as report:
        for begin, end in ranges_within(starts, max(most, 1)):
            yield begin, end
            report(float(starts[end]))
