"""Find the rows of ids: by binary search among sorted ids, or in the bytes of a file."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .utf8 import Utf8


class SortedIds(NamedTuple):
    """Ids in ascending order and the row of each, for a binary search."""

    ids: NDArray[Any]
    order: NDArray[np.int64]
    is_range: bool  # ids are consecutive integers, so that no search is needed

    @classmethod
    def of(cls, ids: NDArray[Any]) -> SortedIds:
        """Sort ids."""
        order = np.argsort(ids, kind="stable")
        ascending = ids[order]
        return cls(ascending, order, _is_range(ascending))

    def extended(self, ascending: NDArray[Any]) -> SortedIds:
        """Add ids, whose rows follow those there are."""
        places = np.searchsorted(self.ids, ascending)
        rows = len(self.ids) + np.arange(len(ascending))
        ids, order = np.insert(self.ids, places, ascending), np.insert(self.order, places, rows)
        return SortedIds(ids, order, _is_range(ids))

    def repeated(self) -> Any:
        """Return an id that occurs twice, or None."""
        places = np.flatnonzero(self.ids[1:] == self.ids[:-1])
        return self.ids[places[0]] if len(places) else None

    def locate(self, wanted: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return (row, whether there is one) for each id."""
        none = np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
        if len(self.ids) == 0 or len(wanted) == 0:
            return none
        if self.is_range and wanted.dtype == np.int64:
            places = np.clip(wanted, self.ids[0], self.ids[-1]) - self.ids[0]
            return self.order[places], np.asarray(self.ids[places] == wanted)
        if wanted.dtype != self.ids.dtype:  # numpy would compare 64-bit integers as floats
            wanted = wanted.astype(object)
        try:
            places = np.searchsorted(self.ids, wanted)
        except TypeError:  # strings were compared with integers
            return none
        places = np.minimum(places, len(self.ids) - 1)
        found = self.ids[places]
        if wanted.dtype == object:
            found = found.astype(object)
        return self.order[places], np.asarray(found == wanted, dtype=bool)


class StoredStrings(NamedTuple):
    """Strings of a file, and the rows in ascending order of string if that is not the row order."""

    strings: Utf8
    order: NDArray[np.int64] | None

    def locate(self, wanted: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return (row, whether there is one) for each id."""
        found = [self.strings.find(v, self.order) if isinstance(v, str) else -1 for v in wanted.tolist()]
        rows = np.array(found, dtype=np.int64)
        return np.maximum(rows, 0), rows >= 0


def ascend(ids: NDArray[Any]) -> bool:
    """Whether integers strictly ascend, as those of most files do: to look is quicker than to sort."""
    return ids.dtype != object and bool((ids[1:] > ids[:-1]).all())


def _is_range(ascending: NDArray[Any]) -> bool:
    if ascending.dtype != np.int64 or len(ascending) == 0:
        return False
    return int(ascending[-1]) - int(ascending[0]) == len(ascending) - 1


def factorize(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct ids, sorted, and the row of each value."""
    if array.dtype == object:
        distinct = sorted(set(array.tolist()))
        numbers = {value: row for row, value in enumerate(distinct)}
        rows = np.fromiter((numbers[value] for value in array.tolist()), np.int64, len(array))
        return np.array(distinct, dtype=object), rows
    if len(array) and int(array.max()) - int(array.min()) < 4 * len(array) + 1024:
        return _factorize_by_table(array)
    return np.unique(array, return_inverse=True)


def _factorize_by_table(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Number ids of a narrow range without sorting: a table of the range marks those that occur."""
    low = array.min()
    shifted = (array - low).astype(np.int64)
    present = np.zeros(int(shifted.max()) + 1, dtype=bool)
    present[shifted] = True
    numbers = np.cumsum(present) - 1
    return np.flatnonzero(present).astype(array.dtype) + low, numbers[shifted]
