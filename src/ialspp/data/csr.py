"""Interactions as the rows of one axis, and how they are built from pairs in any order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import InvalidValueError
from ..files.arrays import is_finite
from ..system.machine import resolve_threads
from .ids import IdMap
from .offsets import gathered, require_rising, rows_of_a_file

LARGEST = 2**63 - 1  # what native code can count to

Floats = NDArray[np.float32]
RowNumbers = NDArray[np.int32]
Times = NDArray[np.float64]  # Unix seconds


def aligned(shape: tuple[int, ...]) -> Floats:
    """Allocate an array, not initialised, that starts on a cache line: 16 floats then touch one, not two."""
    size = math.prod(shape)
    memory = np.empty(size + 15, dtype=np.float32)
    first = -(memory.ctypes.data // 4) % 16
    return memory[first : first + size].reshape(shape)


@dataclass(frozen=True, slots=True, eq=False)
class Csr:
    """Row r has entries offsets[r] .. offsets[r + 1]. Labels or weights that are all 1 are None."""

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
        """The number of interactions of each row.

        It is never negative: if the offsets do not rise, as in a damaged file, that is an error.
        """
        require_rising(self.offsets, len(self.columns))
        return np.diff(self.offsets)

    @property
    def column_counts(self) -> NDArray[np.int64]:
        """The number of interactions of each column, without transposing."""
        with rows_of_a_file():
            return np.diff(starts_of(self.columns, self.n_columns))

    @property
    def row_numbers(self) -> RowNumbers:
        """The row of each entry, beside its column in `columns`.

        Whoever takes both uses them as places in arrays. A file that was not verified may hold any numbers,
        so they are checked here.
        """
        self.native()
        return np.repeat(np.arange(len(self), dtype=np.int32), self.counts)

    def columns_of(self, row: int) -> RowNumbers:
        """The columns of one row, ascending."""
        return self.columns[self.offsets[row] : self.offsets[row + 1]]

    def take(self, rows: NDArray[np.integer[Any]]) -> Csr:
        """Copy these rows, in this order."""
        offsets, entries = gathered(self.offsets, rows, len(self.columns))
        labels, weights = (
            None if values is None else values[entries] for values in (self.labels, self.weights)
        )
        return Csr(offsets, self.columns[entries], self.n_columns, labels, weights)

    def between(self, begin: int, end: int) -> Csr:
        """Return rows `begin` to `end`, without copying their entries."""
        first, last = int(self.offsets[begin]), int(self.offsets[end])
        labels, weights = (
            None if values is None else values[first:last] for values in (self.labels, self.weights)
        )
        offsets = self.offsets[begin : end + 1] - first
        return Csr(offsets, self.columns[first:last], self.n_columns, labels, weights)

    def extended(self, length: int, n_columns: int | None = None) -> Csr:
        """Return so many rows, the new ones empty, and so many columns, without copying entries."""
        offsets = np.full(length + 1, self.offsets[-1], dtype=np.int64)
        offsets[: len(self.offsets)] = self.offsets
        return replace(self, offsets=offsets, n_columns=self.n_columns if n_columns is None else n_columns)

    def union(self, other: Csr) -> Csr:
        """Combine the columns of each row of both; labels and weights are dropped."""
        row = np.concatenate([self.row_numbers, other.row_numbers])
        column = np.concatenate([self.columns, other.columns])
        offsets, columns, *_ = _core.sort_pairs(row, column, len(self), self.n_columns)
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

    def without_ones(self) -> Csr:
        """Return the same rows. Labels or weights that are all 1 are left out: plain data needs none."""
        return replace(self, labels=_unless_ones(self.labels), weights=_unless_ones(self.weights))

    def native(self, shards: NDArray[np.int64] | None = None) -> _core.Rows:
        """The same arrays for the compiled core, without copying; it looks at every offset and column.

        shards: where each range of rows begins over which sums are made, and where the last one ends.
        """
        with rows_of_a_file():
            return _core.Rows(self.offsets, self.columns, self.n_columns, self.labels, self.weights, shards)

    def check(self) -> None:
        """Raise unless these are rows of distinct, ascending columns, with labels and weights that may be."""
        if not self.native().ascends():
            raise InvalidValueError("the columns of a row must strictly ascend, but do not")
        for name, values in (("label", self.labels), ("weight", self.weights)):
            if values is not None and not is_finite(values):
                raise InvalidValueError(f"{name} must be finite, but is not everywhere")
        if self.weights is not None and self.weights.min(initial=0) < 0:
            raise InvalidValueError("weight must be >= 0, but is not everywhere")


@dataclass(slots=True)
class SortedPairs:
    """Pairs sorted by user, then item, with their labels, weights and times; pairs may be repeated.

    They may be those of a range of users only, whose first has row `begin`.
    """

    users: IdMap
    items: IdMap
    offsets: NDArray[np.int64]
    columns: RowNumbers
    label: Floats | None
    weight: Floats | None
    time: Times | None
    decayed: bool = False  # whether weights already depend on their times, so that they add up over times
    begin: int = 0

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
        *,
        begin: int = 0,
        end: int | None = None,
    ) -> SortedPairs:
        """Sort the pairs of users `begin` to `end`; repeated ones keep their order."""
        user, item = np.ascontiguousarray(user), np.ascontiguousarray(item)
        sizes, ends = (len(users), len(items)), (begin, end)
        threads = resolve_threads(None)
        found = _core.sort_pairs(user, item, *sizes, label, weight, time, *ends, threads)
        return cls(users, items, *found, begin=begin)

    def merged(self) -> tuple[Csr, Times | None]:
        """Merge repeated pairs: add up weights, keep the one label and the first time."""
        self.merge()
        return self.rows.without_ones(), self.time

    def merge(self) -> None:
        """Merge repeated pairs in place."""
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

    @property
    def rows(self) -> Csr:
        """The pairs by user, once they are merged."""
        return Csr(self.offsets, self.columns, len(self.items), self.label, self.weight)

    def _check(self, first: NDArray[np.bool_]) -> None:
        """Raise if a pair has two labels, or has weights at several times."""
        if self.label is not None:
            at = _first_change(self.label, first)
            if at is not None:
                raise InvalidValueError(
                    f"labels disagree for {self._named(at)}: {self.label[at]:g} and {self.label[at + 1]:g}; "
                    "a pair has one label"
                )
        if self.time is not None and self.weight is not None and not self.decayed:
            at = _first_change(self.time, first)
            if at is not None:
                raise InvalidValueError(
                    f"{self._named(at)} occur together at several times, with weights that add up: such a "
                    "sum cannot be split by time; leave out the times or the weights, read each period "
                    "separately, or let weights decay with a half-life"
                )

    def _added_up(self, weight: Floats, first: NDArray[np.bool_]) -> Floats:
        sums = _core.sum_runs(weight, first)
        overflown = np.flatnonzero(~np.isfinite(sums))
        if len(overflown):
            entry = int(np.flatnonzero(first)[overflown[0]])
            raise InvalidValueError(
                f"the weights of {self._named(entry)} add up to more than single precision can hold"
            )
        return sums

    def _named(self, entry: int) -> str:
        user = self.begin + int(np.searchsorted(self.offsets, entry, side="right")) - 1
        return f"user {self.users[user]!r} and item {self.items[self.columns[entry]]!r}"


def stacked(parts: Sequence[Csr]) -> Csr:
    """Put rows below each other. Where one part has weights or labels, the others get ones."""
    labels, weights = (
        None
        if all(numbers is None for numbers in values)
        else np.concatenate(
            [
                np.ones(len(part.columns), dtype=np.float32) if numbers is None else numbers
                for part, numbers in zip(parts, values, strict=True)
            ]
        )
        for values in ([part.labels for part in parts], [part.weights for part in parts])
    )
    offsets = np.concatenate([[0], np.cumsum(np.concatenate([part.counts for part in parts]))])
    columns = np.concatenate([part.columns for part in parts])
    return Csr(offsets, columns, parts[0].n_columns, labels, weights)


def starts_of(numbers: RowNumbers, n: int) -> NDArray[np.int64]:
    """Return where the entries of each number below `n` start once sorted, and where the last ones end."""
    try:
        return _core.offsets_of(numbers, n, resolve_threads(None))
    except ValueError as error:
        raise InvalidValueError(str(error)) from error


def transpose(rows: Csr, begin: int = 0, end: int | None = None) -> Csr:
    """Return the same entries by column: columns `begin` to `end`."""
    found = _core.transpose(rows.native(), begin, end, resolve_threads(None))
    offsets, columns, labels, weights = found
    return Csr(offsets, columns, len(rows), labels, weights)


def transposed_ranks(rows: Csr) -> NDArray[np.uint32]:
    """For each entry of the transpose, return its place in the row of `rows` that it came from."""
    return _core.transposed_ranks(rows.native(), resolve_threads(None))


def core_of(rows: Csr, least: int, column_least: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Mark the rows and the columns of the k-core."""
    least, column_least = (min(max(n, 1), LARGEST) for n in (least, column_least))  # a core has no empty rows
    in_rows, in_columns = _core.find_core(rows.native(), least, column_least, resolve_threads(None))
    return in_rows.view(np.bool_), in_columns.view(np.bool_)


def _first_change(values: NDArray[Any], first: NDArray[np.bool_]) -> int | None:
    """Return the entry whose repetition, the next entry, has another value; None if there is none."""
    changes = np.flatnonzero(~first[1:] & (values[1:] != values[:-1]))
    return int(changes[0]) if len(changes) else None


def _unless_ones(values: Floats | None) -> Floats | None:
    """Return None if every value is 1."""
    return None if values is None or values.min(initial=1) == values.max(initial=1) == 1 else values
