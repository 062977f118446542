"""Thrift's compact protocol, Parquet's metadata: every access is inside the bytes, or an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import InvalidValueError

MOST_DEPTH = 32  # of structs and lists inside each other; Parquet has six
_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = range(14)
_LENGTHS = {_BYTE: 1, _DOUBLE: 8, _UUID: 16}  # of values that are skipped

Struct = dict[int, Any]  # fields by their number in Parquet's schema file; texts and maps are None


class CutShortError(InvalidValueError):
    """The bytes end inside a value."""


@dataclass(slots=True)
class Reader:
    """Reads values from bytes, one after the other."""

    data: bytes
    place: int = 0

    def struct(self, depth: int = 0) -> Struct:
        """Read the fields of a struct to its end."""
        found: Struct = {}
        number = 0
        while (head := self._byte()) & 15 != _STOP:
            number = number + (head >> 4) if head >> 4 else self._integer()
            kind = head & 15
            found[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth + 1)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if depth > MOST_DEPTH:
            raise InvalidValueError("its metadata is nested too deeply")
        if kind in (_I16, _I32, _I64):
            return self._integer()
        if kind == _STRUCT:
            return self.struct(depth)
        if kind in (_LIST, _SET):
            return self._list(depth)
        if kind == _MAP:
            return self._skip_map(depth)
        if kind == _BINARY:
            return self._skip(self._varint())
        if kind in (_TRUE, _FALSE):
            return self._byte() == _TRUE
        if kind not in _LENGTHS:
            raise InvalidValueError(f"its metadata has values of an unknown kind, {kind}")
        return self._skip(_LENGTHS[kind])

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        length = head >> 4 if head >> 4 < 15 else self._varint()
        return [self._value(head & 15, depth + 1) for _ in range(length)]

    def _skip_map(self, depth: int) -> None:
        length = self._varint()
        kinds = self._byte() if length else 0
        for _ in range(length):
            self._value(kinds >> 4, depth + 1)
            self._value(kinds & 15, depth + 1)

    def _skip(self, length: int) -> None:
        self.place += length
        if self.place > len(self.data):
            raise CutShortError("its metadata is cut short")

    def _byte(self) -> int:
        self._skip(1)
        return self.data[self.place - 1]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise InvalidValueError("its metadata has a number of more than 64 bits")

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
