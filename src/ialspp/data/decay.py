"""Time decay: the weight of an event halves with every half-life that has passed since."""

from __future__ import annotations

import math

import numpy as np

from ..errors import InvalidValueError
from ..system.checks import checked_seconds
from .csr import Floats, Times


def half_life_of(given: str | float) -> float:
    """Return a half-life in seconds; "90s", "90m", "12h", "30d" or "2w". Text needs its unit.

    Text comes from the command line and from files of settings, where "30" would be 30 days for its writer.
    """
    seconds = checked_seconds("half_life", given)
    if isinstance(given, str) and not given.strip()[-1].isalpha():
        raise InvalidValueError(f'half_life must have a unit, such as "30d" or "12h", got {given!r}')
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
