"""The layout of Arrow files, checked before polars reads them: a forged length would end the process.

Only metadata is read, and the eight bytes before a compressed buffer that say how large it gets. The numbers
of fields are those of Arrow's Message.fbs, Schema.fbs and File.fbs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ...errors import InvalidValueError
from .arrow_columns import Buffer, check_columns, check_fields
from .flatbuffer import Table, unpacked
from .limits import SMALL, most_rows

MAGIC = b"ARROW1"
MOST_EXPANSION = 1000  # of a compressed buffer that is larger than its rows need
_SCHEMA, _DICTIONARY, _BATCH = 1, 2, 3  # kinds of messages
_CONTINUES = b"\xff\xff\xff\xff"


@dataclass(frozen=True, slots=True)
class _Message:
    kind: int
    header: Table
    body: int  # place in the file
    body_length: int


def check_arrow(file: Path) -> None:
    """Raise unless every part that the metadata names is inside the file, and no larger than plausible."""
    with file.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        try:
            is_file = stream.read(len(MAGIC)) == MAGIC
            fields: list[Table] = []
            for message in _file_messages(stream, size) if is_file else _stream_messages(stream, size):
                if message.kind == _SCHEMA:
                    fields = message.header.tables(1)
                    check_fields(fields)
                else:
                    _check_batch(stream, message, fields, size)
        except (InvalidValueError, RecursionError) as error:
            raise InvalidValueError(f"{file}: the Arrow file is damaged: {error}") from error


def _file_messages(stream: BinaryIO, size: int) -> Iterator[_Message]:
    end = _bytes(stream, size - 10, 10, size)
    length = unpacked("<i", end, 0)[0]
    if not end.endswith(MAGIC):
        raise InvalidValueError("it does not end as it should")
    footer = Table.root(_bytes(stream, size - 10 - length, length, size))
    schema = footer.table(1)
    if schema is None:
        raise InvalidValueError("it has no schema")
    yield _Message(_SCHEMA, schema, 0, 0)
    for offset, head, body in footer.structs(2, "<qi4xq") + footer.structs(3, "<qi4xq"):
        message, end_of_head = _message_at(stream, offset, size)
        if message is None or message.body_length != body or end_of_head > offset + head:
            raise InvalidValueError("the index does not fit the parts")
        yield _Message(message.kind, message.header, offset + head, body)
        _check_inside(offset + head, body, size)


def _stream_messages(stream: BinaryIO, size: int) -> Iterator[_Message]:
    place = 0
    while place < size:
        message, body = _message_at(stream, place, size)
        if message is None:
            return
        yield message
        place = body + message.body_length


def _message_at(stream: BinaryIO, place: int, size: int) -> tuple[_Message | None, int]:
    """Read a message's metadata and say where it ends; the message is None if it marks the end."""
    start = _bytes(stream, place, 4, size)
    if start == _CONTINUES:
        place += 4
        start = _bytes(stream, place, 4, size)
    length = unpacked("<i", start, 0)[0]
    if length == 0:
        return None, place + 4
    table = Table.root(_bytes(stream, place + 4, length, size))
    header = table.table(2)
    if header is None:
        raise InvalidValueError("a message without content")
    end = place + 4 + length
    message = _Message(table.number(1, "<B"), header, end, table.number(3, "<q"))
    _check_inside(end, message.body_length, size)
    return message, end


def _check_batch(stream: BinaryIO, message: _Message, fields: list[Table], size: int) -> None:
    batch = message.header.table(1) if message.kind == _DICTIONARY else message.header
    if batch is None or message.kind not in (_DICTIONARY, _BATCH):
        raise InvalidValueError("a message of an unknown kind")
    rows = batch.number(0, "<q")
    nodes = batch.structs(1, "<qq")
    for length, nulls in ((rows, 0), *nodes):
        if not 0 <= nulls <= length <= most_rows(size):
            raise InvalidValueError(f"{length:,} rows with {nulls:,} missing cannot be in {size:,} bytes")
    buffers = [
        Buffer(length, length if batch.table(3) is None else _expanded(stream, message, at, length, rows))
        for at, length in _checked_places(batch, message)
    ]
    if message.kind == _BATCH:
        check_columns(fields, rows, nodes, buffers, [n for (n,) in batch.structs(4, "<q")])


def _checked_places(batch: Table, message: _Message) -> list[tuple[int, int]]:
    places = [(at, length) for at, length in batch.structs(2, "<qq")]
    for at, length in places:
        _check_inside(at, length, message.body_length)
    return places


def _expanded(stream: BinaryIO, message: _Message, at: int, length: int, rows: int) -> int:
    """The length of a buffer once it is decompressed."""
    if length == 0:
        return 0
    expanded = unpacked("<q", _bytes(stream, message.body + at, 8, message.body + at + length), 0)[0]
    if expanded == -1:  # not compressed after all
        return length - 8
    if not 0 <= expanded <= max(16 * (rows + 1), MOST_EXPANSION * length, SMALL):
        raise InvalidValueError(f"a buffer of {length:,} bytes that expands to {expanded:,}")
    return expanded


def _bytes(stream: BinaryIO, place: int, length: int, size: int) -> bytes:
    _check_inside(place, length, size)
    stream.seek(place)
    return stream.read(length)


def _check_inside(place: int, length: int, size: int) -> None:
    if place < 0 or length < 0 or place + length > size:
        raise InvalidValueError(f"{length:,} bytes at {place:,} are required, but there are {size:,}")
