"""Names as users give them: a mapping, a data frame with ids and names, or one name per row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..errors import InvalidTypeError, InvalidValueError
from .id_values import INTEGER, is_missing
from .names import Names


class KnownIds(Protocol):
    """What is needed of an `IdMap` here."""

    name: str
    names: Names | None

    @property
    def is_text(self) -> bool: ...  # noqa: D102 - IdMap has the docstring

    def __len__(self) -> int: ...

    def find(self, values: Iterable[Any], /) -> Any: ...  # noqa: D102 - as above


@dataclass(frozen=True, slots=True, repr=False)
class NameTable:
    """Ids and names of a file, both as text."""

    ids: list[str]
    names: list[str]

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        pairs = [f"{key!r}: {name!r}" for key, name in zip(self.ids[:3], self.names, strict=False)]
        return f"NameTable({len(self):,} names: {', '.join(pairs)}{', ...' if len(self) > 3 else ''})"

    def pairs_like(self, ids: KnownIds) -> tuple[list[Any], list[str]]:
        """Return the ids that may be among `ids`, as integers if those are, and their names."""
        if ids.is_text:
            return self.ids, self.names
        pairs = zip(self.ids, self.names, strict=True)
        numbers = [(int(text), name) for text, name in pairs if INTEGER.fullmatch(text)]
        if self.ids and not numbers and len(ids):
            raise _none_known(ids, self.ids)
        return [number for number, _ in numbers], [name for _, name in numbers]


def names_for(ids: KnownIds, given: Any) -> Names | None:
    """Return the names of an axis: those given, and where none is given those that it has."""
    if given is None:
        return ids.names
    pairs = given.pairs_like(ids) if isinstance(given, NameTable) else _pairs_of(given, ids.name)
    names = _one_per_row(given, ids) if pairs is None else _merged(ids, *pairs)
    return names if names is not None and names.filled else None


def _merged(ids: KnownIds, listed: list[Any], names: list[str]) -> Names | None:
    """Give names to the ids listed; the others keep theirs."""
    if not listed or len(ids) == 0:
        return ids.names
    found = ids.find(listed)
    if len(found.rows) == 0:
        raise _none_known(ids, listed)
    rows = found.rows.tolist()
    known = [name for name, is_known in zip(names, found.known.tolist(), strict=True) if is_known]
    first = dict(zip(reversed(rows), reversed(known), strict=True))  # of an id that is listed twice
    before = Names([""] * len(ids)) if ids.names is None else ids.names
    return before.replaced(first.keys(), first.values())


def _none_known(ids: KnownIds, listed: Sequence[Any]) -> InvalidValueError:
    return InvalidValueError(
        f"none of the {len(listed):,} ids that have a name is the id of one of the {len(ids):,} {ids.name}s: "
        f"{listed[0]!r} is not, for example"
    )


def _pairs_of(given: Any, axis: str) -> tuple[list[Any], list[str]] | None:
    """Return ids and names that are not empty; None if what is given has no ids."""
    if hasattr(given, "collect"):  # a lazy frame of polars
        given = given.collect()
    if isinstance(given, Mapping):
        ids, names = list(given.keys()), list(given.values())
    elif hasattr(given, "columns"):
        ids, names = _columns_of(given, axis)
    elif hasattr(given, "to_numpy") and hasattr(given, "index"):  # a column of pandas, whose index has ids
        ids, names = given.index.tolist(), given.tolist()
    else:
        return None
    texts = [_text_of(name, axis, value) for value, name in zip(ids, names, strict=True)]
    there = [place for place, text in enumerate(texts) if text and not is_missing(ids[place])]
    return [ids[place] for place in there], [texts[place] for place in there]


def _columns_of(frame: Any, axis: str) -> tuple[list[Any], list[Any]]:
    columns = list(frame.columns)
    if len(columns) != 2:
        raise InvalidValueError(
            f"a data frame of {axis} names must have two columns, the ids and the names; got {columns}"
        )
    ids, names = (frame[column] for column in columns)
    return ids.to_list(), names.to_list()


def _one_per_row(given: Any, ids: KnownIds) -> Names:
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise InvalidTypeError(
            f"{ids.name} names must be a mapping from ids, a data frame with ids and names, or one string "
            f"per {ids.name}; got {type(given).__name__}"
        )
    names = Names(_text_of(name, ids.name, row) for row, name in enumerate(given))
    if len(names) != len(ids):
        raise InvalidValueError(
            f"{ids.name} names without ids must be one per {ids.name}, {len(ids)} in all, got {len(names)}"
        )
    return names


def _text_of(name: Any, axis: str, of: Any) -> str:
    if isinstance(name, str):
        return str(name)
    if is_missing(name):
        return ""
    raise InvalidTypeError(f"{axis} names must be strings, but that of {of!r} is {name!r}")
