"""One side's interactions by row, and how triples become rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import _core
from .ids import IdMap

Floats = NDArray[np.float32]
Rows = NDArray[np.int32]


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

    def native(self) -> _core.Rows:
        """The same arrays as the compiled core takes them; nothing is copied."""
        return _core.Rows(self.offsets, self.columns, self.n_columns, self.labels, self.weights)


def rows_by_user(
    users: IdMap, items: IdMap, user: Rows, item: Rows, label: Floats | None, weight: Floats | None
) -> Csr:
    """Triples sorted by user, then item, each pair once."""
    numbered = label is not None or weight is not None
    starts, users_by_item, order = _core.group(
        np.ascontiguousarray(item), np.ascontiguousarray(user), len(items), numbered
    )
    offsets, item, places = _core.transpose(_core.Rows(starts, users_by_item, len(users)))
    if numbered:
        order = order[starts[item] + places]
    label = None if label is None else label[order]
    weight = None if weight is None else weight[order]
    repeated = item[1:] == item[:-1]
    between = offsets[1:-1]
    repeated[between[(between > 0) & (between < len(item))] - 1] = False
    if repeated.any():
        user = Csr(offsets, item, len(items)).row_numbers
        first = np.flatnonzero(np.concatenate([[True], ~repeated]))
        if label is not None:
            _check_labels_agree(users, items, user, item, label, repeated)
            label = label[first]
        user, item = user[first], item[first]
        if weight is not None:
            weight = _added_up(users, items, user, item, weight, first)
        offsets = np.concatenate([[0], np.bincount(user, minlength=len(users)).cumsum()])
    return Csr(offsets, item, len(items), _unless_ones(label), _unless_ones(weight))


def transpose(rows: Csr) -> tuple[Csr, NDArray[np.uint32]]:
    """The same by column, and for each of its entries its place in the row of `rows` it came from."""
    offsets, columns, places = _core.transpose(rows.native())
    labels = weights = None
    if rows.labels is not None or rows.weights is not None:
        order = rows.offsets[columns] + places
        labels = None if rows.labels is None else rows.labels[order]
        weights = None if rows.weights is None else rows.weights[order]
    return Csr(offsets, columns, len(rows), labels, weights), places


def _check_labels_agree(
    users: IdMap, items: IdMap, user: Rows, item: Rows, label: Floats, repeated: NDArray[np.bool_]
) -> None:
    conflicts = np.flatnonzero(repeated & (label[1:] != label[:-1]))
    if len(conflicts):
        at = conflicts[0]
        raise ValueError(
            f"labels disagree for user {users[user[at]]!r} and item {items[item[at]]!r}: "
            f"{label[at]:g} and {label[at + 1]:g}; a pair has one label"
        )


def _added_up(
    users: IdMap, items: IdMap, user: Rows, item: Rows, weight: Floats, first: NDArray[np.int64]
) -> Floats:
    with np.errstate(over="ignore"):
        sums = np.add.reduceat(weight, first, dtype=np.float64).astype(np.float32)
    overflown = np.flatnonzero(~np.isfinite(sums))
    if len(overflown):
        at = overflown[0]
        raise ValueError(
            f"the weights of user {users[user[at]]!r} and item {items[item[at]]!r} add up to more "
            "than single precision holds"
        )
    return sums


def _unless_ones(values: Floats | None) -> Floats | None:
    """None where every value is 1, so that plain data costs nothing extra."""
    return None if values is None or bool(np.all(values == 1)) else values
