"""Columns of a data frame as features: numbers as they are, a feature for each string."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidTypeError, InvalidValueError
from .csr import Csr
from .dataframes import arrays_of_frame
from .feature_rows import made_rows
from .id_values import is_missing


def encoded(
    frame: Any, id: str, columns: Sequence[str] | None, separator: str | None
) -> tuple[NDArray[Any], tuple[str, ...], Csr]:
    """Return the ids, the names of the features, and one row of features per id."""
    ids = arrays_of_frame(frame, {"id": id})["id"]
    chosen = [name for name in frame.columns if name != id] if columns is None else list(columns)
    names: list[str] = []
    rows: list[list[tuple[int, float]]] = [[] for _ in range(len(ids))]
    for name in chosen:
        if name not in list(frame.columns):
            raise InvalidValueError(f"column {name!r} is not in the frame; it has {list(frame.columns)}")
        for row, (feature, value) in _entries(str(name), frame[name].to_list(), separator, names):
            rows[row].append((feature, value))
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    features = np.array([feature for row in rows for feature, _ in row], dtype=np.int64)
    values = np.array([value for row in rows for _, value in row], dtype=np.float64)
    return ids, tuple(names), made_rows(offsets, features, len(names), values)


def _entries(
    name: str, values: list[Any], separator: str | None, names: list[str]
) -> Iterable[tuple[int, tuple[int, float]]]:
    """Give (row, (feature, value)) of one column, and add its features to the names."""
    first = next((value for value in values if not is_missing(value)), None)
    if isinstance(first, Real):
        return _numbers(name, values, names)
    return _strings(name, values, separator, names)


def _numbers(name: str, values: list[Any], names: list[str]) -> list[tuple[int, tuple[int, float]]]:
    names.append(name)
    for row, value in enumerate(values):
        if is_missing(value):
            raise InvalidValueError(f"column {name!r} has a missing number at row {row}")
        if not isinstance(value, Real):
            raise InvalidTypeError(f"column {name!r} must have numbers only, got {value!r} at row {row}")
    feature = len(names) - 1
    return [(row, (feature, float(value))) for row, value in enumerate(values) if value != 0]


def _strings(
    name: str, values: list[Any], separator: str | None, names: list[str]
) -> list[tuple[int, tuple[int, float]]]:
    """Number the strings of a column in ascending order, and list those of each row."""
    listed = [_parts(name, row, value, separator) for row, value in enumerate(values)]
    found = sorted({part for parts in listed for part in parts})
    numbers = {part: len(names) + place for place, part in enumerate(found)}
    names += [f"{name}={part}" for part in found]
    return [
        (row, (feature, 1.0))
        for row, parts in enumerate(listed)
        for feature in sorted(numbers[part] for part in parts)
    ]


def _parts(name: str, row: int, value: Any, separator: str | None) -> set[str]:
    """Return the distinct strings of one cell."""
    if isinstance(value, str):
        return {part for part in (value.split(separator) if separator else [value]) if part}
    if not isinstance(value, (list, tuple, np.ndarray)) and is_missing(value):
        return set()
    if isinstance(value, Iterable):
        parts = list(value)
        if all(isinstance(part, str) for part in parts):
            return {str(part) for part in parts if part}
    raise InvalidTypeError(
        f"column {name!r} must have numbers, strings or lists of strings, got {value!r} at row {row}"
    )
