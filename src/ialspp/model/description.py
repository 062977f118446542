"""What a file says of a model or of a fit, checked: text from a stranger can have any type anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InvalidValueError
from ..files.parsing import check_values, part
from .history import EpochRecord

MOST_NESTED = 20  # levels of a checkpoint's note
Described = dict[str, Any]


def checked_settings(described: Mapping[str, Any]) -> Described:
    """Return the constructor's arguments as the file has them: names with plain values."""
    settings: Described = part(described, "settings", dict)
    _check_solver(part(settings, "solver", dict))
    check_values("objective", part(settings, "objective", dict))
    check_values("settings", settings, but=("solver", "objective"))
    return settings


def checked_solver(described: Mapping[str, Any]) -> Described | None:
    """Return the solver that was used, or None."""
    solver: Described | None = part(described, "fitted_solver", dict, type(None))
    if solver is not None:
        _check_solver(solver)
    return solver


def checked_history(described: Mapping[str, Any]) -> list[EpochRecord]:
    """Return the records of the epochs."""
    return [EpochRecord.restored(record) for record in part(described, "history", list)]


def checked_note(described: Mapping[str, Any]) -> Described:
    """Return the note of a checkpoint."""
    note: Described = part(described, "note", dict)
    require_shallow(note)
    return note


def require_shallow(value: Any, most: int = MOST_NESTED) -> None:
    """Raise unless lists and dicts are nested in so few levels that everything can be done with them."""
    if type(value) not in (dict, list):
        return
    if most == 0:
        raise InvalidValueError(f"a note may be nested in {MOST_NESTED} levels, and has more")
    for inner in value.values() if type(value) is dict else value:
        require_shallow(inner, most - 1)


def _check_solver(solver: Described) -> None:
    part(solver, "name", str)
    check_values("solver", solver)
