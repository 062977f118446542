"""Ids and lists of ids in requests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote

from ..data.ids import IdMap
from ..errors import InvalidValueError
from .schema import Weighted

INTEGER = re.compile("0|-?[1-9][0-9]{0,99}")  # Python refuses to convert very long ones
SHOWN = 100  # characters of an id in a message


def checked_ids(name: str, ids: Sequence[int | str], known: IdMap, most: int) -> Sequence[int | str]:
    """Return the ids. Too many, or integers where the model has strings, are an error."""
    if len(ids) > most:
        raise InvalidValueError(f"{name} may have at most {most:,} ids, got {len(ids):,}")
    if len(known):
        kind = str if known.is_text else int
        for value in ids:
            if type(value) is not kind:
                raise _wrong_kind(name, value, known)
    return ids


def id_of_path(name: str, text: str, known: IdMap) -> int | str:
    """Convert a part of a path, percent-encoded, to an id of the model."""
    try:
        text = unquote(text, errors="strict")
    except UnicodeDecodeError as error:
        raise InvalidValueError(f"{name}: the path must be UTF-8, percent-encoded") from error
    if known.is_text or len(known) == 0:
        return text
    if not INTEGER.fullmatch(text):
        raise _wrong_kind(name, text, known)
    return int(text)


def divided(items: Sequence[int | str | Weighted]) -> tuple[list[int | str], list[float] | None]:
    """Return the ids of a history, and their weights if one has any."""
    ids = [item.id if isinstance(item, Weighted) else item for item in items]
    if not any(isinstance(item, Weighted) for item in items):
        return ids, None
    return ids, [item.weight if isinstance(item, Weighted) else 1.0 for item in items]


def _wrong_kind(name: str, value: int | str, known: IdMap) -> InvalidValueError:
    kind = "strings" if known.is_text else "integers"
    return InvalidValueError(
        f"{name}: the ids of this model's {known.name}s are {kind}, got {repr(value)[:SHOWN]}"
    )
