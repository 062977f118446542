"""Checks of settings. Each error says what is required and what was given."""

from __future__ import annotations

import math
import re
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..errors import InvalidTypeError, InvalidValueError

LARGEST_FLOAT = (2 - 2.0**-23) * 2.0**127  # in single precision, as labels, weights and settings are
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}


def checked_integer(name: str, value: Any, least: int) -> int:
    """Return `value` as an int, at least `least`. numpy's integers are accepted, True and 2.0 are not."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidTypeError(f"{name} must be an integer, got {value!r}")
    if value < least:
        raise InvalidValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def checked_flag(name: str, value: Any) -> bool:
    """Return `value` as a bool, which it must be: "no" would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidTypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


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


def checked_seconds(name: str, given: Any) -> float:
    """Return a length of time in seconds; "90m" has minutes, "12h" hours, "30d" days, "2w" weeks."""
    required = f'{name} must be a number of seconds, or a time such as "30d", "12h" or "2w"'
    if isinstance(given, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([smhdw]?)\s*", given)
        seconds = math.nan if found is None else float(found[1]) * SECONDS[found[2]]
    elif isinstance(given, Real) and not isinstance(given, bool):
        seconds = float(given)
    else:
        raise InvalidTypeError(f"{required}, got {given!r}")
    if not 0 < seconds < math.inf:
        raise InvalidValueError(f"{required}, positive and finite, got {given!r}")
    return seconds
