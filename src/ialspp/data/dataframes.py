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


def arrays_of_frame(frame: Any, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return arrays without missing values; `columns` maps what each is to a column's name or values."""
    _require_frame(frame)
    given = {role: column for role, column in columns.items() if column is not None}
    return {role: _values_of(frame, role, column) for role, column in given.items()}


def _require_frame(frame: Any) -> None:
    hints = {"collect": "call collect() first", "to_pandas": "call to_pandas() first"}
    is_lazy, is_arrow = hasattr(frame, "collect"), type(frame).__module__.startswith("pyarrow")
    if is_lazy or is_arrow or not hasattr(frame, "columns"):
        hint = next((f"; {hint}" for method, hint in hints.items() if hasattr(frame, method)), "")
        raise InvalidTypeError(f"a pandas or polars DataFrame is required, got {type(frame).__name__}{hint}")


def _values_of(frame: Any, role: str, column: Any) -> Any:
    """Return a column, given by its name, or values that were computed from columns."""
    values, title = column, role
    if not _are_values(column):
        if hasattr(column, "alias"):  # an expression, which also refuses to be compared
            raise InvalidTypeError(
                f"{role} must be the name of a column, or its values, got an expression; add it to the frame "
                "with with_columns first"
            )
        there = list(frame.columns)
        if there.count(column) != 1:
            fault = "is not in the frame" if column not in there else "is in the frame more than once"
            raise InvalidValueError(f"{role} column {column!r} {fault}; it has {there}")
        values, title = frame[column], f"column {column!r}"
    if not hasattr(values, "to_numpy"):
        return values
    place = first_missing(values)
    if place is not None:
        raise InvalidValueError(f"{title} has a missing value at row {place}")
    return np.asarray(values.to_numpy())


def _are_values(column: Any) -> bool:
    """Tell values from a name, which may be a number of numpy's: pandas has such names."""
    return isinstance(column, list) or (hasattr(column, "__array__") and not isinstance(column, np.generic))


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
