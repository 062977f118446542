"""The users or items of interactions, and of a part of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidTypeError, InvalidValueError
from .csr import RowNumbers
from .ids import IdMap


@dataclass(frozen=True, slots=True)
class Axis:
    """The ids of a part, and for each row of the data its row in the part, or -1 if it has none."""

    ids: IdMap
    rows: RowNumbers

    @property
    def ascends(self) -> bool:
        """Whether rows keep their order in the part."""
        kept = self.rows[self.rows >= 0]
        return bool((kept[1:] > kept[:-1]).all())

    @classmethod
    def whole(cls, ids: IdMap) -> Axis:
        """Keep all rows as they are."""
        return cls(ids, np.arange(len(ids), dtype=np.int32))

    @classmethod
    def of(cls, ids: IdMap, occurring: NDArray[np.integer[Any]]) -> Axis:
        """Keep the rows that occur, in ascending order of id."""
        old = np.flatnonzero(np.bincount(occurring, minlength=len(ids)))
        old = old[np.argsort(ids.ids[old], kind="stable")]
        rows = np.full(len(ids), -1, dtype=np.int32)
        rows[old] = np.arange(len(old), dtype=np.int32)
        return cls(ids.selected(old), rows)

    @classmethod
    def onto(cls, known: IdMap, ids: IdMap, used: NDArray[np.bool_], other: IdMap) -> Axis:
        """Number rows as `known` does, which must have every id that is used; `other` is its other axis."""
        rows = np.full(len(ids), -1, dtype=np.int32)
        rows[used] = known.rows(ids.ids[used], other)
        return cls(known, rows)

    @classmethod
    def within(cls, known: IdMap, ids: IdMap) -> Axis:
        """Number rows as `known` does, which need not have every id."""
        found = known.find(ids.ids)
        rows = np.full(len(ids), -1, dtype=np.int32)
        rows[found.known] = found.rows
        return cls(known, rows)


def numbered(
    values: Iterable[Any], known: Iterable[Any] | None, name: str
) -> tuple[IdMap, NDArray[np.int32]]:
    """Return the ids of an axis, `known` or else those that occur, and the row of each value."""
    if isinstance(values, (set, frozenset)):  # which has no order; the keys of a dict have
        raise InvalidTypeError(f"{name} must be a sequence with one id per interaction, got a set")
    if known is None:
        return IdMap.factorize(values, name=name)
    ids = map_of(known, name)
    return ids, ids.rows(values).astype(np.int32)


def ids_of_length(ids: Iterable[Any] | None, length: int, name: str, axis: str) -> IdMap:
    """Return the ids of a matrix's rows or columns: 0, 1, 2, ... if none are given."""
    mapped = map_of(np.arange(length) if ids is None else ids, name)
    if len(mapped) != length:
        raise InvalidValueError(f"{name}s has {len(mapped)} ids, but the matrix has {length} {axis}")
    return mapped


def map_of(ids: Iterable[Any], name: str) -> IdMap:
    """Make a map of ids; one that is given keeps its names."""
    return ids.renamed(name) if isinstance(ids, IdMap) else IdMap(ids, name=name)
