"""Tables of FlatBuffers, the encoding of Arrow's metadata: every access is inside the bytes, or an error."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ...errors import InvalidValueError


@dataclass(frozen=True, slots=True)
class Table:
    """A table at a place in some bytes; its fields are found by their number in Arrow's schema files."""

    data: bytes
    place: int

    @classmethod
    def root(cls, data: bytes) -> Table:
        """The outermost table."""
        return cls(data, unpacked("<I", data, 0)[0])

    def number(self, field: int, format: str, default: int = 0) -> int:
        """A field that is a number."""
        place = self._place_of(field)
        return default if place is None else int(unpacked(format, self.data, place)[0])

    def table(self, field: int) -> Table | None:
        """A field that is a table; None if it is absent."""
        place = self._place_of(field)
        return None if place is None else Table(self.data, place + unpacked("<I", self.data, place)[0])

    def structs(self, field: int, format: str) -> list[tuple[int, ...]]:
        """A field that is a list of structs."""
        place = self._place_of(field)
        if place is None:
            return []
        start = place + unpacked("<I", self.data, place)[0]
        count = unpacked("<I", self.data, start)[0]
        end = start + 4 + count * struct.calcsize(format)
        if end > len(self.data):
            raise InvalidValueError("a list that ends beyond its metadata")
        return list(struct.iter_unpack(format, self.data[start + 4 : end]))

    def text(self, field: int) -> bytes:
        """A field that is text; empty if it is absent."""
        return bytes(byte for (byte,) in self.structs(field, "<B"))

    def tables(self, field: int) -> list[Table]:
        """A field that is a list of tables."""
        place = self._place_of(field)
        if place is None:
            return []
        start = place + unpacked("<I", self.data, place)[0] + 4
        offsets = self.structs(field, "<I")
        return [Table(self.data, start + 4 * k + offset) for k, (offset,) in enumerate(offsets)]

    def _place_of(self, field: int) -> int | None:
        index = self.place - unpacked("<i", self.data, self.place)[0]
        if 4 + 2 * field >= unpacked("<H", self.data, index)[0]:
            return None
        offset = unpacked("<H", self.data, index + 4 + 2 * field)[0]
        return self.place + offset if offset else None


def unpacked(format: str, data: bytes, place: int) -> tuple[int, ...]:
    """Unpack numbers at a place; raise if they are not inside the bytes."""
    if place < 0 or place + struct.calcsize(format) > len(data):
        raise InvalidValueError("a place beyond its metadata")
    return struct.unpack_from(format, data, place)
