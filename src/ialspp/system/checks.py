"""Checks of settings: what was required, what came."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from ..errors import InvalidTypeError, InvalidValueError

LARGEST_FLOAT = 3.4e38  # settings become single-precision numbers


def checked_integer(name: str, value: Any, least: int) -> int:
    """`value` as an int, at least `least`; numpy's integers are welcome, True and 2.0 are not."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidTypeError(f"{name} must be an integer, got {value!r}")
    if value < least:
        raise InvalidValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def checked_number(name: str, value: Any) -> float:
    """`value` as a float, not negative and finite in single precision."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidTypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not 0 <= number <= LARGEST_FLOAT:
        raise InvalidValueError(f"{name} must be finite in single precision and >= 0, got {value}")
    return number
