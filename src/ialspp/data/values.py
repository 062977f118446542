"""Check and convert labels, weights and times: one finite number per interaction."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidTypeError, InvalidValueError
from .csr import Floats, Times
from .id_values import plain, refuse_masked

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
    if array.dtype.kind in "OUT":  # dates with a time zone, or texts
        array = np.array([_unix_seconds(value) for value in array])
    if array.dtype.kind == "M":
        missing = np.flatnonzero(np.isnat(array))
        if len(missing):
            raise InvalidValueError(f"time is missing at position {missing[0]}")
        array = _seconds_since_1970(array)
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
    if looks_like_calendar(times):
        raise InvalidValueError(
            f"time must be Unix seconds or dates, but these numbers look like dates without hyphens, such as "
            f"{int(times[0])}; parse them first"
        )
    return times


def looks_like_calendar(times: Times) -> bool:
    """Tell whether all of these are numbers such as 20261231, which as Unix seconds would be days of 1970."""
    if len(times) == 0 or times.min() < 19_000_101 or times.max() > 21_001_231:
        return False
    month, day = times // 100 % 100, times % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def _seconds_since_1970(dates: NDArray[Any]) -> NDArray[np.float64]:
    if np.datetime_data(dates.dtype)[0] == "generic":
        raise InvalidTypeError("time must be Unix seconds or dates, got datetime64 without a unit")
    seconds = dates.astype("datetime64[s]").astype(np.int64).astype(np.float64)
    near = np.abs(seconds) <= LATEST_TIME  # beyond it, microseconds may not fit their 64 bits
    seconds[near] = dates[near].astype("datetime64[us]").astype(np.int64) / 1e6
    return seconds


def _unix_seconds(value: Any) -> float:
    if not isinstance(value, datetime):
        way_out = (
            "; parse texts first, with pandas.to_datetime for instance" if isinstance(value, str) else ""
        )
        raise InvalidTypeError(f"time must be Unix seconds or dates, got {plain(value)!r}{way_out}")
    return (value if value.tzinfo else value.replace(tzinfo=timezone.utc)).timestamp()


def numbers_of(values: ArrayLike, length: int, name: str) -> Floats:
    """Return one finite number per interaction, in single precision."""
    if isinstance(values, np.ndarray):
        refuse_masked(values, name)
    array = np.asarray(values)
    if array.shape != (length,):
        raise InvalidValueError(f"{name} must have shape ({length},), one per interaction, got {array.shape}")
    if array.dtype == object and all(isinstance(value, (Real, Decimal)) for value in array):
        array = array.astype(np.float64)  # a nullable column of an older pandas, or one of a database
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
