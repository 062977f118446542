"""Columns of pandas and polars data frames as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidTypeError, InvalidValueError
from .id_values import first_missing


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
