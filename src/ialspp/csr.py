"""One side's interactions by row, and how triples become rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .ids import IdMap

Floats = NDArray[np.float32]
Rows = NDArray[np.int32]
Times = NDArray[np.float64]  # Unix seconds


def aligned(shape: tuple[int, ...]) -> Floats:
    """An array, not initialised, that starts on a cache line: sixteen floats then touch one line, not two."""
    size = math.prod(shape)
    memory = np.empty(size + 15, dtype=np.float32)
    first = -(memory.ctypes.data // 4) % 16
    return memory[first : first + size].reshape(shape)


@dataclass(frozen=True, slots=True, eq=False)
class Csr:
    """Row r owns entries offsets[r] .. offsets[r + 1]. Labels or weights that are all 1 are None."""

    offsets: NDArray[np.int64]
    columns: Rows
    n_columns: int
    labels: Floats | None = None
    weights: Floats | None = None

    def __post_init__(self) -> None:
        for array in (self.offsets, self.columns, self.labels, self.weights):
            if array is not None:
                array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of interactions of each row."""
        return np.diff(self.offsets)

    @property
    def row_numbers(self) -> Rows:
        """The row of each entry."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.counts)

    def columns_of(self, row: int) -> Rows:
        """The columns of one row, ascending."""
        return self.columns[self.offsets[row] : self.offsets[row + 1]]

    def take(self, rows: NDArray[np.integer[Any]]) -> Csr:
        """These rows, in this order."""
        counts = self.counts[rows]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        entries = np.repeat(self.offsets[rows] - offsets[:-1], counts) + np.arange(offsets[-1])
        labels, weights = (
            None if values is None else values[entries] for values in (self.labels, self.weights)
        )
        return Csr(offsets, self.columns[entries], self.n_columns, labels, weights)

    @property
    def keys(self) -> NDArray[np.int64]:
        """One number for each entry, ascending: its row times the number of columns, plus its column."""
        return self.row_numbers.astype(np.int64) * self.n_columns + self.columns

    def has(self, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether there is an entry with each of these keys."""
        own = np.append(self.keys, np.int64(-1))
        return np.asarray(own[np.searchsorted(own[:-1], keys)] == keys)

    def native(self) -> _core.Rows:
        """The same arrays as the compiled core takes them; nothing is copied."""
        return _core.Rows(self.offsets, self.columns, self.n_columns, self.labels, self.weights)


def rows_by_user(
    users: IdMap,
    items: IdMap,
    user: Rows,
    item: Rows,
    label: Floats | None,
    weight: Floats | None,
    time: Times | None = None,
) -> tuple[Csr, Times | None]:
    """Triples sorted by user, then item, each pair once; and the first time of each pair."""
    numbered = label is not None or weight is not None or time is not None
    offsets, columns, order = _core.sort_pairs(
        np.ascontiguousarray(user), np.ascontiguousarray(item), len(users), len(items), numbered
    )
    label = None if label is None else label[order]
    weight = None if weight is None else weight[order]
    time = None if time is None else time[order]
    del order  # as large as the columns, twice
    first, left = _core.mark_first(_core.Rows(offsets, columns, len(items)))
    if left[-1] < len(columns):
        pairs = _Pairs(users, items, offsets, columns, first)
        if label is not None:
            pairs.check_labels(label)
            label = label[first]
        if time is not None:
            if weight is not None:
                pairs.check_times(time)
            time = np.minimum.reduceat(time, np.flatnonzero(first))
        if weight is not None:
            weight = pairs.added_up(weight)
        offsets, columns = left, columns[first]
    return Csr(offsets, columns, len(items), _unless_ones(label), _unless_ones(weight)), time


def transpose(rows: Csr) -> tuple[Csr, NDArray[np.uint32]]:
    """The same by column, and for each of its entries its place in the row of `rows` it came from."""
    offsets, columns, places = _core.transpose(rows.native())
    labels = weights = None
    if rows.labels is not None or rows.weights is not None:
        order = rows.offsets[columns] + places
        labels = None if rows.labels is None else rows.labels[order]
        weights = None if rows.weights is None else rows.weights[order]
    return Csr(offsets, columns, len(rows), labels, weights), places


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Sorted pairs of which some are repeated: `first` marks the first of each."""

    users: IdMap
    items: IdMap
    offsets: NDArray[np.int64]
    columns: Rows
    first: NDArray[np.bool_]

    def named(self, entry: int) -> str:
        """The pair of one entry, for a message."""
        user = np.searchsorted(self.offsets, entry, side="right") - 1
        return f"user {self.users[int(user)]!r} and item {self.items[self.columns[entry]]!r}"

    def check_labels(self, label: Floats) -> None:
        """A pair has one label."""
        conflicts = np.flatnonzero(~self.first[1:] & (label[1:] != label[:-1]))
        if len(conflicts):
            at = int(conflicts[0])
            raise ValueError(
                f"labels disagree for {self.named(at)}: {label[at]:g} and {label[at + 1]:g}; "
                "a pair has one label"
            )

    def check_times(self, time: Times) -> None:
        """A sum of weights from several times could not be split by time again."""
        conflicts = np.flatnonzero(~self.first[1:] & (time[1:] != time[:-1]))
        if len(conflicts):
            raise ValueError(
                f"{self.named(int(conflicts[0]))} occur together at several times, with weights that add up: "
                "such a sum cannot be split by time; leave out the times or the weights, or read each period "
                "by itself"
            )

    def added_up(self, weight: Floats) -> Floats:
        """One weight for each pair."""
        starts = np.flatnonzero(self.first)
        with np.errstate(over="ignore"):
            sums = np.add.reduceat(weight, starts, dtype=np.float64).astype(np.float32)
        overflown = np.flatnonzero(~np.isfinite(sums))
        if len(overflown):
            raise ValueError(
                f"the weights of {self.named(int(starts[overflown[0]]))} add up to more than single "
                "precision holds"
            )
        return sums


def _unless_ones(values: Floats | None) -> Floats | None:
    """None where every value is 1, so that plain data costs nothing extra."""
    return None if values is None or bool(np.all(values == 1)) else values
