"""Columns of pandas and polars data frames as arrays, and interactions as a data frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidTypeError, InvalidValueError
from .csr import Csr, Times
from .id_values import first_missing
from .ids import IdMap

if TYPE_CHECKING:
    import polars as pl


def arrays_of_frame(frame: Any, columns: Mapping[str, str | None]) -> dict[str, NDArray[Any]]:
    """Return the arrays of some columns without missing values; `columns` maps what each is to its name."""
    if not hasattr(frame, "columns") or hasattr(frame, "collect"):
        hint = "; call collect() first" if hasattr(frame, "collect") else ""
        raise InvalidTypeError(f"a pandas or polars DataFrame is required, got {type(frame).__name__}{hint}")
    named = {role: name for role, name in columns.items() if name is not None}
    there = list(frame.columns)
    for role, name in named.items():
        if name not in there:
            raise InvalidValueError(f"{role} column {name!r} is not in the frame; it has {there}")
    return {role: _complete_array(frame, name) for role, name in named.items()}


def _complete_array(frame: Any, name: str) -> NDArray[Any]:
    place = first_missing(frame[name])
    if place is not None:
        raise InvalidValueError(f"column {name!r} has a missing value at row {place}")
    return np.asarray(frame[name].to_numpy())


def frame_of(users: IdMap, items: IdMap, rows: Csr, times: Times | None) -> pl.DataFrame:
    """Return a polars DataFrame with a row for each pair: ids, names and numbers, as far as there are any."""
    import polars as pl

    numbers = {"label": rows.labels, "weight": rows.weights, "time": times}
    return pl.DataFrame(
        {
            **id_columns("user", users, rows.row_numbers),
            **id_columns("item", items, rows.columns),
            **{name: values for name, values in numbers.items() if values is not None},
        }
    )


def id_columns(title: str, ids: IdMap, rows: NDArray[np.integer[Any]]) -> dict[str, Any]:
    """Return the ids of rows as a column, and their names as another if there are any."""
    columns: dict[str, Any] = {title: _id_column(ids, rows)}
    if ids.names is not None:
        columns[f"{title}_name"] = _texts(ids.names_of, len(ids), rows)
    return columns


def _id_column(ids: IdMap, rows: NDArray[np.integer[Any]]) -> pl.Series:
    """Return the ids of rows as a column: 64-bit integers as they are, anything else as strings."""
    import polars as pl

    if not ids.is_text and ids.ids.dtype != object:
        return pl.Series(ids.ids[rows])
    try:
        return _texts(lambda some: [str(value) for value in ids.named(some)], len(ids), rows)
    except UnicodeEncodeError as error:
        raise InvalidValueError(
            f"the {ids.name} id {error.object!r} has half of a surrogate pair, which is not a character: "
            "a data frame cannot hold it"
        ) from error


def _texts(
    texts_of: Callable[[NDArray[np.int64]], Sequence[str | None]], length: int, rows: NDArray[np.integer[Any]]
) -> pl.Series:
    """Return the texts of rows as a column; each is made once."""
    import polars as pl

    occurs = np.zeros(length, dtype=bool)
    occurs[rows] = True
    column = pl.Series(texts_of(np.flatnonzero(occurs)), dtype=pl.String)
    return column.gather((np.cumsum(occurs) - 1)[rows])
