"""Turn ids as users give them into the arrays that are kept: 64-bit integers, or Python objects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidTypeError, InvalidValueError

INTEGER = re.compile("0|-?[1-9][0-9]{0,999}")  # as Python writes integers, so not 007 or +7


def as_ids(values: Iterable[Any], name: str) -> NDArray[Any]:
    """Return ids as a one-dimensional array of 64-bit integers, or of Python strings or larger integers."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise InvalidTypeError(
            f"{name}s must be a sequence of ids, got the {type(values).__name__} {values!r}"
        )
    array = values if isinstance(values, np.ndarray) else _to_array(values, name)
    refuse_masked(array, f"{name}s")
    if array.ndim != 1:
        raise InvalidValueError(f"{name}s must be one-dimensional, got shape {array.shape}")
    if array.dtype.kind in "iu":
        fits = array.dtype.kind == "i" or len(array) == 0 or int(array.max()) < 2**63
        return array.astype(np.int64 if fits else np.uint64)
    if array.dtype.kind == "U":
        return array.astype(object)
    if array.dtype.kind == "T":  # numpy's own strings, some of which may be missing
        array = array.astype(object)
    if array.dtype == object:
        return _objects_as_ids(array, name)
    if len(array) == 0:
        return np.empty(0, dtype=np.int64)
    raise InvalidTypeError(f"{name}s must be integers or strings, got {array.dtype}{_way_out(array)}")


def _way_out(array: NDArray[Any]) -> str:
    """Say what to do with floats: data frames turn integers into them where a join finds nothing."""
    if array.dtype.kind != "f":
        return ""
    missing = np.flatnonzero(np.isnan(array))
    if len(missing):
        return f" with a missing one at position {missing[0]}; drop those, and call astype(int)"
    return "; call astype(int)" if (array == np.trunc(array)).all() else ""


def first_missing(column: Any) -> int | None:
    """Return the position of the first missing value of a pandas or polars column, or None."""
    missing = column.is_null() if hasattr(column, "is_null") else column.isna()
    places = np.flatnonzero(np.asarray(missing))
    return int(places[0]) if len(places) else None


def refuse_masked(array: NDArray[Any], name: str) -> None:
    """Raise if any value is masked: the conversion to plain arrays would lose the mask."""
    if np.ma.is_masked(array):
        place = np.flatnonzero(np.ma.getmaskarray(array))[0]
        raise InvalidTypeError(f"{name} must not be masked, but position {place} is missing")


def plain(value: Any) -> Any:
    """Return a numpy scalar as the Python value it stands for, which is what users gave and read."""
    return value.item() if isinstance(value, np.generic) else value


def _to_array(values: Iterable[Any], name: str) -> NDArray[Any]:
    """Make an array that keeps the elements' types: numpy alone would turn [1, "a"] into two strings."""
    if hasattr(values, "to_numpy"):
        place = first_missing(values)
        if place is not None:
            raise InvalidTypeError(
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
    kinds = {str if isinstance(v, str) else int if is_integer(v) else type(v) for v in listed}
    if kinds == {str}:
        return np.array([str(v) for v in listed], dtype=object)
    if kinds <= {int}:
        return _integers_as_ids([int(v) for v in listed])
    if kinds == {str, int}:
        first = isinstance(listed[0], str)
        place = next(i for i, v in enumerate(listed) if isinstance(v, str) != first)
        raise InvalidTypeError(
            f"{name}s must be all integers or all strings, but {listed[0]!r} at position 0 and "
            f"{listed[place]!r} at position {place} differ"
        )
    place = next(i for i, v in enumerate(listed) if not isinstance(v, str) and not is_integer(v))
    value = listed[place]
    what = "is missing" if is_missing(value) else f"is a {type(value).__name__}: {value!r}"
    raise InvalidTypeError(f"{name}s must be integers or strings, but the one at position {place} {what}")


def is_missing(value: object) -> bool:
    """Whether this is what a column of a data frame has where there is no value."""
    return value is None or (not isinstance(value, str) and str(value) in ("nan", "<NA>", "NaT"))


def is_integer(value: object) -> bool:
    """Whether this is an integer of Python or numpy, and not a truth value."""
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
