"""What a file says of a model or of a fit, checked: text from a stranger can have any type anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InvalidValueError
from ..files.container import StoreError
from .history import EpochRecord

MOST_NESTED = 20  # levels of a checkpoint's note
Described = dict[str, Any]


def part(described: Mapping[str, Any], name: str, *kinds: type) -> Any:
    """Return a part of a description, which must be there and of one of these types."""
    if name not in described:
        raise StoreError(f"its description has no {name!r}")
    value = described[name]
    if type(value) not in kinds:
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise StoreError(f"{name!r} of its description must be {wanted}, got {type(value).__name__}")
    return value


def checked_settings(described: Mapping[str, Any]) -> Described:
    """Return the constructor's arguments as the file has them: names with plain values."""
    settings: Described = part(described, "settings", dict)
    _check_solver(part(settings, "solver", dict))
    _check_values("objective", part(settings, "objective", dict))
    _check_values("settings", settings, but=("solver", "objective"))
    return settings


def checked_solver(described: Mapping[str, Any]) -> Described | None:
    """Return the solver that was used, or None."""
    solver: Described | None = part(described, "fitted_solver", dict, type(None))
    if solver is not None:
        _check_solver(solver)
    return solver


def checked_statistics(described: Mapping[str, Any]) -> Described | None:
    """Return the statistics of the data: numbers, texts, and groups of them."""
    statistics: Described | None = part(described, "statistics", dict, type(None))
    if statistics is not None:
        groups = {name: value for name, value in statistics.items() if type(value) is dict}
        _check_values("statistics", statistics, but=tuple(groups))
        for name, group in groups.items():
            _check_values(name, group)
    return statistics


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
    _check_values("solver", solver)


def _check_values(name: str, values: Described, but: tuple[str, ...] = ()) -> None:
    """Raise unless each name can be one of Python's, and each value is a number, a text or nothing."""
    for key, value in values.items():
        if not key.isidentifier():
            raise StoreError(f"{name!r} of its description has a strange name: {key[:50]!r}")
        if key not in but and type(value) not in (bool, int, float, str, type(None)):
            raise StoreError(
                f"{key!r} of its {name} must be a number, a text or null, got {type(value).__name__}"
            )
