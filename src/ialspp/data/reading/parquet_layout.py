"""The layout of Parquet files, checked before polars reads them: a forged count would end the process.

Only metadata is read: the index at the end of the file, and the header of each page. The numbers of fields
are those of parquet.thrift. What is wrong in other ways is left to polars, which refuses it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from ...errors import InvalidValueError
from .limits import most_rows
from .thrift import CutShortError, Reader, Struct

MAGIC = b"PAR1"
LARGEST = 2**31 - 1  # bytes of a page
_USUAL_HEADER, _LONGEST_HEADER = 2**10, 2**20  # bytes of a page's header, which may hold texts
_COUNTS = {5: (1,), 7: (1,), 8: (1, 2, 3)}  # kinds of pages, and which of their fields count values
_LENGTHS = {8: (5, 6)}  # which say how many bytes of the page its levels take


def check_parquet(file: Path) -> None:
    """Raise if a page says that it has fewer values than none, or more than the file can hold."""
    with file.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        try:
            index = _index(stream, size)
            most = max(most_rows(size), _number(index, 3))  # if it has more rows, `check_rows` refuses it
            for chunk in _chunks(index):
                _check_pages(stream, chunk, size, most)
        except InvalidValueError as error:
            raise InvalidValueError(f"{file}: the Parquet file is damaged: {error}") from error


def _index(stream: BinaryIO, size: int) -> Struct:
    stream.seek(max(0, size - 8))
    end = stream.read(8)
    length = int.from_bytes(end[:4], "little")
    if not end.endswith(MAGIC) or length > size - 12:
        return {}
    stream.seek(size - 8 - length)
    return Reader(stream.read(length)).struct()


def _chunks(index: Struct) -> list[Struct]:
    """List the columns of all groups of rows."""
    columns = [column for group in _structs(index.get(4)) for column in _structs(group.get(1))]
    return [column[3] for column in columns if isinstance(column.get(3), dict)]


def _structs(value: Any) -> list[Struct]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _check_pages(stream: BinaryIO, chunk: Struct, size: int, most: int) -> None:
    length, data, dictionary = (_number(chunk, field) for field in (7, 9, 11))
    place = min(data, dictionary) if dictionary > 0 else data
    end = min(place + length, size)
    while 0 <= place < end:
        header, place = _header_at(stream, place)
        compressed = _number(header, 3)
        _check_count(compressed, size - place)
        _check_count(_number(header, 2), LARGEST)
        _check_counts(header, _COUNTS, most)
        _check_counts(header, _LENGTHS, compressed)
        place += compressed


def _check_counts(header: Struct, fields: Mapping[int, tuple[int, ...]], most: int) -> None:
    for kind, numbers in fields.items():
        page = header.get(kind)
        if isinstance(page, dict):
            for number in numbers:
                _check_count(_number(page, number), most)


def _header_at(stream: BinaryIO, place: int) -> tuple[Struct, int]:
    """Read the header of a page; also return where its data begins."""
    stream.seek(place)
    start = stream.read(_USUAL_HEADER)
    try:
        return _header_in(start, place)
    except CutShortError:
        return _header_in(start + stream.read(_LONGEST_HEADER), place)


def _header_in(start: bytes, place: int) -> tuple[Struct, int]:
    reader = Reader(start)
    return reader.struct(), place + reader.place


def _number(struct: Struct, field: int) -> int:
    value = struct.get(field)
    return value if isinstance(value, int) else 0


def _check_count(value: int, most: int) -> None:
    if not 0 <= value <= most:
        raise InvalidValueError(f"a count or length must be from 0 to {most:,}, but one is {value:,}")
