"""The columns of one batch of an Arrow file: each needs its buffers, and enough bytes in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...errors import InvalidValueError
from .flatbuffer import Table

# Numbers of types in Schema.fbs.
_NULL, _INT, _FLOAT, _BINARY, _TEXT, _BOOL, _DECIMAL, _DATE, _TIME, _TIMESTAMP = range(1, 11)
_STRUCT, _FIXED_SIZE_LIST, _DURATION, _LARGE_BINARY, _LARGE_TEXT = 13, 16, 18, 19, 20
_BINARY_VIEW, _TEXT_VIEW = 23, 24
_OFFSETS = {_BINARY: 4, _TEXT: 4, _LARGE_BINARY: 8, _LARGE_TEXT: 8, 12: 4, 17: 4, 21: 8}  # bytes; also lists
_NESTED = (12, _STRUCT, _FIXED_SIZE_LIST, 17, 21)
_KNOWN = {*range(1, 25)} - {14, 22}  # neither unions nor runs
_HAS_DATA = (_BINARY, _TEXT, _LARGE_BINARY, _LARGE_TEXT)


@dataclass(frozen=True, slots=True)
class Buffer:
    """How many bytes a buffer has in the file, and once it is decompressed."""

    stored: int
    length: int


def check_fields(fields: list[Table]) -> None:
    """Raise if a column has a type that polars does not know: it panics there."""
    for field in fields:
        if field.number(2, "<B") not in _KNOWN:
            raise InvalidValueError("a column of a type that cannot be read")
        for pair in field.tables(6):
            if pair.text(0) == b"_PL_CATEGORICAL2" and not _is_categories(pair.text(1)):
                raise InvalidValueError("a column of categories that cannot be read")
        check_fields(field.tables(5))


def _is_categories(text: bytes) -> bool:
    """Whether polars wrote this about a categorical column: two lengths, a type, and two names."""
    found = re.fullmatch(rb"([0-9]{1,9});([0-9]{1,9});u(?:8|16|32);(.*)", text, re.DOTALL)
    return found is not None and int(found[1]) + int(found[2]) == len(found[3])


def check_columns(
    fields: list[Table],
    rows: int,
    nodes: list[tuple[int, ...]],
    buffers: list[Buffer],
    views: list[int],
) -> None:
    """Raise if a column has too few rows, buffers, or bytes; `views` are the extra buffers of each view."""
    parts = (iter(nodes), iter(buffers), iter(views))
    try:
        for field in fields:
            if _checked(field, *parts) != rows:
                raise InvalidValueError(f"columns must have {rows:,} rows, but one has another number")
    except StopIteration:
        raise InvalidValueError("columns without buffers") from None


def _checked(
    field: Table, nodes: Iterator[tuple[int, ...]], buffers: Iterator[Buffer], views: Iterator[int]
) -> int:
    """Take the parts of one column, check them, and return its number of rows."""
    length, nulls = next(nodes)
    encoding = field.table(4)
    kind = field.number(2, "<B") if encoding is None else _INT
    if kind == _NULL:
        return length
    _require(next(buffers), (length + 7) // 8 if nulls else 0)
    if kind in _OFFSETS:
        _require(next(buffers), _OFFSETS[kind] * (length + 1) if length else 0)
        if kind in _HAS_DATA:
            next(buffers)
    elif kind in (_BINARY_VIEW, _TEXT_VIEW):
        _require(next(buffers), 16 * length)
        for _ in range(next(views)):
            next(buffers)
    elif kind not in _NESTED:
        # Indices of a dictionary have an integer type of their own, which is a field of the encoding.
        type_ = field.table(3) if encoding is None else encoding.table(1)
        _require(next(buffers), (length * _bits(kind, type_) + 7) // 8)
    if encoding is None and kind in _NESTED:
        for child in field.tables(5):
            _checked(child, nodes, buffers, views)
    return length


def _bits(kind: int, type_: Table | None) -> int:
    """How many bits a value has, at the least."""
    if kind in (_INT, _DECIMAL) and type_ is not None:
        return type_.number(0, "<i") if kind == _INT else type_.number(2, "<i", 128)
    if kind == _FLOAT and type_ is not None:
        return 16 << min(max(type_.number(0, "<h"), 0), 2)
    if kind == _DATE and type_ is not None:
        return 32 if type_.number(0, "<h", 1) == 0 else 64
    return {_TIMESTAMP: 64, _DURATION: 64, _TIME: 32}.get(kind, 1)


def _require(buffer: Buffer, length: int) -> None:
    if length and (buffer.stored == 0 or buffer.length < length):
        raise InvalidValueError(f"a buffer of {length:,} bytes is required, but it has {buffer.length:,}")
