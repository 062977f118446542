"""Checks of settings. Each error says what is required and what was given."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from ..errors import InvalidTypeError, InvalidValueError

LARGEST_FLOAT = (2 - 2.0**-23) * 2.0**127  # in single precision, as labels, weights and settings are


def checked_integer(name: str, value: Any, least: int) -> int:
    """Return `value` as an int, at least `least`. numpy's integers are accepted, True and 2.0 are not."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidTypeError(f"{name} must be an integer, got {value!r}")
    if value < least:
        raise InvalidValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def checked_number(name: str, value: Any) -> float:
    """Return `value` as a float that is not negative and finite in single precision."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidTypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not 0 <= number <= LARGEST_FLOAT:
        raise InvalidValueError(f"{name} must be finite in single precision and >= 0, got {value}")
    return number


def checked_share(name: str, value: Any) -> float:
    """Return `value` as a float between 0 and 1, both excluded."""
    share = checked_number(name, value)
    if not 0 < share < 1:
        raise InvalidValueError(f"{name} must be between 0 and 1, both excluded, got {value}")
    return share
