"""Check and convert labels, weights and times: one finite number per interaction."""

from __future__ import annotations

from datetime import datetime, timezone
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidTypeError, InvalidValueError
from .csr import Floats, Times
from .id_values import refuse_masked

LATEST_TIME = 2.0**36  # seconds: the year 4147. Milliseconds of today are beyond it, and so are refused


def labels_of(values: ArrayLike | None, length: int) -> Floats | None:
    """Return labels in single precision, one finite number per interaction."""
    return None if values is None else numbers_of(values, length, "label")


def weights_of(values: ArrayLike | None, length: int) -> Floats | None:
    """Return weights in single precision, one finite number per interaction, none negative."""
    return None if values is None else not_negative(numbers_of(values, length, "weight"))


def times_of(values: ArrayLike | None, length: int) -> Times | None:
    """Return times as Unix seconds in double precision, which is exact to microseconds."""
    if values is None:
        return None
    if isinstance(values, np.ndarray):
        refuse_masked(values, "time")
    array = np.asarray(values)
    if array.dtype == object:  # dates with a time zone
        array = np.array([_unix_seconds(value) for value in array])
    if array.dtype.kind == "M":
        missing = np.flatnonzero(np.isnat(array))
        if len(missing):
            raise InvalidValueError(f"time is missing at position {missing[0]}")
        array = array.astype("datetime64[us]").astype(np.int64) / 1e6
    if array.shape != (length,):
        raise InvalidValueError(f"time must have shape ({length},), one per interaction, got {array.shape}")
    if array.dtype.kind not in "iuf":
        raise InvalidTypeError(f"time must be Unix seconds or dates, got {array.dtype}")
    times = np.ascontiguousarray(array, dtype=np.float64)
    bad = np.flatnonzero(~(np.abs(times) <= LATEST_TIME))
    if len(bad):
        raise InvalidValueError(
            f"time must be Unix seconds, but is {array[bad[0]]} at position {bad[0]}; "
            "divide milliseconds by 1000"
        )
    return times


def _unix_seconds(value: Any) -> float:
    if not isinstance(value, datetime):
        raise InvalidTypeError(f"time must be Unix seconds or dates, got {value!r}")
    return (value if value.tzinfo else value.replace(tzinfo=timezone.utc)).timestamp()


def numbers_of(values: ArrayLike, length: int, name: str) -> Floats:
    """Return one finite number per interaction, in single precision."""
    if isinstance(values, np.ndarray):
        refuse_masked(values, name)
    array = np.asarray(values)
    if array.shape != (length,):
        raise InvalidValueError(f"{name} must have shape ({length},), one per interaction, got {array.shape}")
    if array.dtype == object and all(isinstance(value, Real) for value in array):
        array = array.astype(np.float64)  # a nullable column of an older pandas
    if array.dtype.kind not in "iufb":
        raise InvalidTypeError(f"{name} must be numbers, got {array.dtype}")
    return _finite_floats(array, name)


def _finite_floats(array: NDArray[Any], name: str) -> Floats:
    with np.errstate(over="ignore"):
        floats = np.ascontiguousarray(array, dtype=np.float32)
    bad = np.flatnonzero(~np.isfinite(floats))
    if len(bad):
        raise InvalidValueError(
            f"{name} must be finite in single precision, but is {array[bad[0]]} at position {bad[0]}"
        )
    return floats


def not_negative(weights: Floats | None) -> Floats | None:
    """Return the weights; raise if one is below 0."""
    if weights is not None and len(bad := np.flatnonzero(weights < 0)):
        raise InvalidValueError(f"weight must be >= 0, but is {weights[bad[0]]} at position {bad[0]}")
    return weights
