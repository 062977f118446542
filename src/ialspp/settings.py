"""Checks of settings: what was required, what came."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def checked_integer(name: str, value: Any, least: int) -> int:
    """`value` as an int, at least `least`; numpy's integers are welcome, True and 2.0 are not."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def checked_number(name: str, value: Any) -> float:
    """`value` as a finite float, not negative."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{name} must be finite and >= 0, got {value}")
    return float(value)
