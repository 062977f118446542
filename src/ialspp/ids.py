"""IdMap: external ids of any kind <-> row numbers 0, 1, 2, ..."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import UnknownIdError

MAX_ROWS = 2**31 - 1  # row numbers are kept in 32 bits


class IdMap:
    """The external ids of one axis in row order, and the way back.

    Ids are integers of any size or strings, never both in one map. Maps made from data
    (`factorize`) are sorted: the same set of ids gives the same rows, however the data was ordered.
    """

    __slots__ = ("_is_range", "_order", "_sorted", "ids", "name")

    def __init__(self, ids: Iterable[Any], *, name: str = "id") -> None:
        self.name = name
        self.ids = as_ids(ids, name)
        if len(self.ids) > MAX_ROWS:
            raise ValueError(f"at most {MAX_ROWS} {name}s fit, got {len(self.ids)}")
        self._order = np.argsort(self.ids, kind="stable")
        self._sorted = self.ids[self._order]
        repeated = np.flatnonzero(self._sorted[1:] == self._sorted[:-1])
        if len(repeated):
            twice = self._sorted[repeated[0]]
            raise ValueError(f"{name} {plain(twice)!r} is listed more than once")
        self.ids.flags.writeable = False
        # Row numbers as ids, or a stretch of them: no search is needed to find one.
        self._is_range = bool(
            self.ids.dtype == np.int64
            and len(self.ids)
            and int(self._sorted[-1]) - int(self._sorted[0]) == len(self.ids) - 1
        )

    @classmethod
    def factorize(cls, values: Iterable[Any], *, name: str = "id") -> tuple[IdMap, NDArray[np.int32]]:
        """The map of all ids in `values`, sorted, and the row number of each."""
        array = as_ids(values, name)
        distinct, rows = _factorize(array)
        return cls(distinct, name=name), rows.astype(np.int32)

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, str) and not _is_integer(value):
            return False
        return bool(self._locate(as_ids([value], self.name))[1][0])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.ids.tolist())

    def __getitem__(self, row: int) -> Any:
        """The id of a row, as a plain Python value."""
        return plain(self.ids[row])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IdMap):
            return NotImplemented
        return self.ids.dtype == other.ids.dtype and np.array_equal(self.ids, other.ids)

    def __repr__(self) -> str:
        shown = ", ".join(repr(value) for value in self.ids[:3].tolist())
        return f"IdMap({len(self)} {self.name}s: {shown}{', ...' if len(self) > 3 else ''})"

    def rows(self, values: Iterable[Any], other: IdMap | None = None) -> NDArray[np.int64]:
        """The row number of each id; an unknown one is an `UnknownIdError` that names it.

        The error also says so if the ids are those of the other axis.
        """
        wanted = as_ids(values, self.name)
        rows, known = self._locate(wanted)
        if not known.all():
            missing = wanted[~known].tolist()
            shown = ", ".join(repr(value) for value in missing[:5])
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
            hint = self._kind_hint(wanted) + self._swapped_hint(wanted[~known], other)
            raise UnknownIdError(f"unknown {self.name}: {shown}{more}{hint}")
        return rows

    def _locate(self, wanted: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """(row, whether there is one) for each id."""
        none = np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
        if len(self) == 0 or len(wanted) == 0:
            return none
        if self._is_range and wanted.dtype == np.int64:
            places = np.clip(wanted, self._sorted[0], self._sorted[-1]) - self._sorted[0]
            return self._order[places], np.asarray(self._sorted[places] == wanted)
        if wanted.dtype != self._sorted.dtype:  # numpy would compare 64-bit integers as floats
            wanted = wanted.astype(object)
        try:
            places = np.searchsorted(self._sorted, wanted)
        except TypeError:  # a string among integers, or the other way round
            return none
        places = np.minimum(places, len(self) - 1)
        found = self._sorted[places]
        if wanted.dtype == object:
            found = found.astype(object)
        return self._order[places], np.asarray(found == wanted, dtype=bool)

    def _swapped_hint(self, missing: NDArray[Any], other: IdMap | None) -> str:
        if other is None or not other._locate(missing)[1].all():
            return ""
        what = f"is the id of an {other.name}" if len(missing) == 1 else f"are ids of {other.name}s"
        return f" ({what.replace('an user', 'a user')}: are users and items swapped?)"

    def _kind_hint(self, wanted: NDArray[Any]) -> str:
        def kind(array: NDArray[Any]) -> str:
            return "strings" if isinstance(array[:1].tolist()[0], str) else "integers"

        if len(self) == 0 or kind(wanted) == kind(self.ids):
            return ""
        return f" (these are {kind(wanted)}, but the {self.name}s of the data are {kind(self.ids)})"


def as_ids(values: Iterable[Any], name: str) -> NDArray[Any]:
    """Ids as a one-dimensional array: 64-bit integers, or Python strings or integers beyond 64 bits."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name}s must be a sequence of ids, got the {type(values).__name__} {values!r}")
    array = values if isinstance(values, np.ndarray) else _to_array(values, name)
    refuse_masked(array, f"{name}s")
    if array.ndim != 1:
        raise ValueError(f"{name}s must be one-dimensional, got shape {array.shape}")
    if array.dtype.kind in "iu":
        fits = array.dtype != np.uint64 or len(array) == 0 or int(array.max()) < 2**63
        return array.astype(np.int64 if fits else np.uint64)
    if array.dtype.kind == "U":
        return array.astype(object)
    if array.dtype.kind == "T":  # numpy's own strings, which may be missing
        array = array.astype(object)
    if array.dtype == object:
        return _objects_as_ids(array, name)
    if len(array) == 0:
        return np.empty(0, dtype=np.int64)
    raise TypeError(f"{name}s must be integers or strings, got {array.dtype}")


def first_missing(column: Any) -> int | None:
    """Where a pandas or polars column has its first missing value."""
    missing = column.is_null() if hasattr(column, "is_null") else column.isna()
    places = np.flatnonzero(np.asarray(missing))
    return int(places[0]) if len(places) else None


def refuse_masked(array: NDArray[Any], name: str) -> None:
    """A masked array with something masked is an error; its mask would be lost on the way."""
    if np.ma.is_masked(array):
        place = np.flatnonzero(np.ma.getmaskarray(array))[0]
        raise TypeError(f"{name} must not be masked, but position {place} is missing")


def plain(value: Any) -> Any:
    """A numpy scalar as the Python value it stands for, which is how it was given and is shown."""
    return value.item() if isinstance(value, np.generic) else value


def _to_array(values: Iterable[Any], name: str) -> NDArray[Any]:
    """An array that keeps the elements' types: numpy alone would turn [1, "a"] into two strings."""
    if hasattr(values, "to_numpy"):
        place = first_missing(values)
        if place is not None:
            raise TypeError(
                f"{name}s must be integers or strings, but the one at position {place} is missing"
            )
        return np.asarray(values.to_numpy())
    listed = list(values)
    array = np.asarray(listed) if all(type(value) is int for value in listed) else None
    if array is not None and array.dtype.kind in "iu":
        return array
    objects = np.empty(len(listed), dtype=object)
    objects[:] = listed
    return objects


def _objects_as_ids(array: NDArray[Any], name: str) -> NDArray[Any]:
    listed = array.tolist()
    kinds = {str if isinstance(v, str) else int if _is_integer(v) else type(v) for v in listed}
    if kinds == {str}:
        return np.array([str(v) for v in listed], dtype=object)
    if kinds <= {int}:
        return _integers_as_ids([int(v) for v in listed])
    if kinds == {str, int}:
        first = isinstance(listed[0], str)
        place = next(i for i, v in enumerate(listed) if isinstance(v, str) != first)
        raise TypeError(
            f"{name}s must be all integers or all strings, but {listed[0]!r} at position 0 and "
            f"{listed[place]!r} at position {place} differ"
        )
    place = next(i for i, v in enumerate(listed) if not isinstance(v, str) and not _is_integer(v))
    value = listed[place]
    missing = value is None or repr(value) in ("nan", "<NA>", "NaT")
    what = "is missing" if missing else f"is a {type(value).__name__}: {value!r}"
    raise TypeError(f"{name}s must be integers or strings, but the one at position {place} {what}")


def _is_integer(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))


def _integers_as_ids(values: list[int]) -> NDArray[Any]:
    if not values:
        return np.empty(0, dtype=np.int64)
    low, high = min(values), max(values)
    if low >= -(2**63) and high < 2**63:
        return np.array(values, dtype=np.int64)
    if low >= 0 and high < 2**64:
        return np.array(values, dtype=np.uint64)
    return np.array(values, dtype=object)


def _factorize(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    if array.dtype == object:
        distinct = sorted(set(array.tolist()))
        numbers = {value: row for row, value in enumerate(distinct)}
        rows = np.fromiter((numbers[value] for value in array.tolist()), np.int64, len(array))
        return np.array(distinct, dtype=object), rows
    if len(array) and int(array.max()) - int(array.min()) < 4 * len(array) + 1024:
        return _factorize_by_table(array)
    return np.unique(array, return_inverse=True)


def _factorize_by_table(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Ids in a narrow range need no sorting: a table of the range says which occur."""
    low = array.min()
    shifted = (array - low).astype(np.int64)
    present = np.zeros(int(shifted.max()) + 1, dtype=bool)
    present[shifted] = True
    numbers = np.cumsum(present) - 1
    return np.flatnonzero(present).astype(array.dtype) + low, numbers[shifted]
