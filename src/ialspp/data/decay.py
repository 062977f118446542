"""Time decay: the weight of an event halves with every half-life that has passed since."""

from __future__ import annotations

import math
import re
from numbers import Real

import numpy as np

from ..errors import InvalidTypeError, InvalidValueError
from .csr import Floats, Times

_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_REQUIRED = 'half_life must be a number of seconds, or a time such as "30d", "12h" or "2w"'


def half_life_of(given: str | float) -> float:
    """Return a half-life in seconds; "90m" has minutes, "12h" hours, "30d" days, "2w" weeks."""
    if isinstance(given, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([smhdw]?)\s*", given)
        seconds = math.nan if found is None else float(found[1]) * _SECONDS[found[2]]
    elif isinstance(given, Real) and not isinstance(given, bool):
        seconds = float(given)
    else:
        raise InvalidTypeError(f"{_REQUIRED}, got {given!r}")
    if not 0 < seconds < math.inf:
        raise InvalidValueError(f"{_REQUIRED}, positive and finite, got {given!r}")
    return seconds


def require_time(half_life: str | float | None, time: object) -> None:
    """Raise unless a half-life is one, and comes with times."""
    if half_life is not None:
        half_life_of(half_life)
        if time is None:
            raise InvalidValueError(f"half_life={half_life!r} needs time, which is not given")


def decayed(
    weight: Floats | None, time: Times | None, half_life: str | float, newest: float | None = None
) -> Floats:
    """Multiply weights, 1 if there are none, by 2^(-age / half_life); the newest event has age 0.

    newest: its time, if it may not be among these events.
    """
    require_time(half_life, time)
    assert time is not None
    seconds = half_life_of(half_life)
    age = (time.max(initial=-math.inf) if newest is None else newest) - time
    factor = np.exp2(-age / seconds)
    return np.asarray(factor if weight is None else factor * weight, dtype=np.float32)
