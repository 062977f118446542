"""One side's interactions by row, and how triples become rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import InvalidValueError
from .ids import IdMap

Floats = NDArray[np.float32]
RowNumbers = NDArray[np.int32]
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
    columns: RowNumbers
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
    def row_numbers(self) -> RowNumbers:
        """The row of each entry."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.counts)

    def columns_of(self, row: int) -> RowNumbers:
        """The columns of one row, ascending."""
        return self.columns[self.offsets[row] : self.offsets[row + 1]]

    def take(self, rows: NDArray[np.integer[Any]]) -> Csr:
        """These rows, in this order."""
        starts, ends = self.offsets[rows], self.offsets[rows + 1]
        if ((starts < 0) | (starts > ends) | (ends > len(self.columns))).any():
            raise InvalidValueError(
                f"offsets must rise from 0 to {len(self.columns)}, but do not"
            )  # a damaged file's
        counts = ends - starts
        offsets = np.concatenate([[0], np.cumsum(counts)])
        entries = np.repeat(starts - offsets[:-1], counts) + np.arange(offsets[-1])
        labels, weights = (
            None if values is None else values[entries] for values in (self.labels, self.weights)
        )
        return Csr(offsets, self.columns[entries], self.n_columns, labels, weights)

    def between(self, begin: int, end: int) -> Csr:
        """Rows `begin` to `end`; their entries are not copied."""
        first, last = int(self.offsets[begin]), int(self.offsets[end])
        labels, weights = (
            None if values is None else values[first:last] for values in (self.labels, self.weights)
        )
        offsets = self.offsets[begin : end + 1] - first
        return Csr(offsets, self.columns[first:last], self.n_columns, labels, weights)

    def union(self, other: Csr) -> Csr:
        """The columns that either has in each row; without labels and weights."""
        row = np.concatenate([self.row_numbers, other.row_numbers])
        column = np.concatenate([self.columns, other.columns])
        offsets, columns, _ = _core.sort_pairs(row, column, len(self), self.n_columns, False)
        first, left = _core.mark_first(_core.Rows(offsets, columns, self.n_columns))
        return Csr(left, columns[first], self.n_columns)

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


@dataclass(slots=True)
class Pairs:
    """Pairs by user, then item, with all that belongs to them; some perhaps more than once."""

    users: IdMap
    items: IdMap
    offsets: NDArray[np.int64]
    columns: RowNumbers
    label: Floats | None
    weight: Floats | None
    time: Times | None

    @classmethod
    def of(
        cls,
        users: IdMap,
        items: IdMap,
        user: RowNumbers,
        item: RowNumbers,
        label: Floats | None,
        weight: Floats | None,
        time: Times | None = None,
    ) -> Pairs:
        """Sorted from any order; repeated ones stay in theirs."""
        numbered = label is not None or weight is not None or time is not None
        offsets, columns, found = _core.sort_pairs(
            np.ascontiguousarray(user), np.ascontiguousarray(item), len(users), len(items), numbered
        )
        order: Any = found  # of 32 bits where they suffice, else of 64
        return cls(
            users,
            items,
            offsets,
            columns,
            None if label is None else _core.gather_floats(label, order),
            None if weight is None else _core.gather_floats(weight, order),
            None if time is None else _core.gather_doubles(time, order),
        )

    def merged(self) -> tuple[Csr, Times | None]:
        """Each pair once: weights added up, one label, the first time."""
        first, left = _core.mark_first(_core.Rows(self.offsets, self.columns, len(self.items)))
        if left[-1] < len(self.columns):
            self._check(first)
            if self.weight is not None:
                self.weight = self._added_up(self.weight, first)
            if self.label is not None:
                self.label = self.label[first]
            if self.time is not None:
                self.time = np.minimum.reduceat(self.time, np.flatnonzero(first))
            self.offsets, self.columns = left, self.columns[first]
        labels, weights = _unless_ones(self.label), _unless_ones(self.weight)
        return Csr(self.offsets, self.columns, len(self.items), labels, weights), self.time

    def _check(self, first: NDArray[np.bool_]) -> None:
        """A pair has one label; and a sum of weights from several times could not be split by time again."""
        if self.label is not None:
            at = _first_change(self.label, first)
            if at is not None:
                raise InvalidValueError(
                    f"labels disagree for {self._named(at)}: {self.label[at]:g} and {self.label[at + 1]:g}; "
                    "a pair has one label"
                )
        if self.time is not None and self.weight is not None:
            at = _first_change(self.time, first)
            if at is not None:
                raise InvalidValueError(
                    f"{self._named(at)} occur together at several times, with weights that add up: such a "
                    "sum cannot be split by time; leave out the times or the weights, or read each period by "
                    "itself"
                )

    def _added_up(self, weight: Floats, first: NDArray[np.bool_]) -> Floats:
        sums = _core.sum_runs(weight, first)
        overflown = np.flatnonzero(~np.isfinite(sums))
        if len(overflown):
            entry = int(np.flatnonzero(first)[overflown[0]])
            raise InvalidValueError(
                f"the weights of {self._named(entry)} add up to more than single precision holds"
            )
        return sums

    def _named(self, entry: int) -> str:
        user = int(np.searchsorted(self.offsets, entry, side="right")) - 1
        return f"user {self.users[user]!r} and item {self.items[self.columns[entry]]!r}"


def transpose(rows: Csr) -> Csr:
    """Return the same entries by column."""
    offsets, columns, labels, weights = _core.transpose(rows.native())
    return Csr(offsets, columns, len(rows), labels, weights)


def transposed_ranks(rows: Csr) -> NDArray[np.uint32]:
    """For each entry of the transpose, return its place in the row of `rows` that it came from."""
    return _core.transposed_ranks(rows.native())


def _first_change(values: NDArray[Any], first: NDArray[np.bool_]) -> int | None:
    """Where a repeated pair has another value than before."""
    changes = np.flatnonzero(~first[1:] & (values[1:] != values[:-1]))
    return int(changes[0]) if len(changes) else None


def _unless_ones(values: Floats | None) -> Floats | None:
    """None where every value is 1, so that plain data costs nothing extra."""
    return None if values is None or bool(np.all(values == 1)) else values
