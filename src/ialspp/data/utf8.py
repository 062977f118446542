"""A column of strings as bytes, as in Arrow: a string is decoded only when it is needed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValueError


@dataclass(frozen=True, slots=True, eq=False)
class Utf8:
    """String i is bytes offsets[i] .. offsets[i + 1]."""

    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]

    @classmethod
    def of(cls, strings: Iterable[str]) -> Utf8:
        """Encode strings; half of a surrogate pair, which strict UTF-8 cannot encode, is kept too."""
        encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(string) for string in encoded], out=offsets[1:])
        return cls(offsets, np.frombuffer(b"".join(encoded), dtype=np.uint8))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def check(self, *, whole: bool = True) -> None:
        """Raise unless the offsets divide the bytes into strings; only check the ends unless `whole`."""
        ends = len(self.offsets) > 0 and self.offsets[0] == 0 and self.offsets[-1] == len(self.data)
        if not ends or (whole and (np.diff(self.offsets) < 0).any()):
            raise InvalidValueError(f"offsets must rise from 0 to {len(self.data)}, the number of bytes")

    def bytes_at(self, row: int) -> bytes:
        """The encoded bytes of one string."""
        return self.data[self.offsets[row] : self.offsets[row + 1]].tobytes()

    def take(self, rows: NDArray[np.integer[Any]]) -> list[str]:
        """Decode the strings of these rows."""
        return [_decoded(self.bytes_at(row)) for row in rows.tolist()]

    def all(self) -> NDArray[np.object_]:
        """Decode every string."""
        text, ends = self.data.tobytes(), self.offsets.tolist()
        strings = np.empty(len(self), dtype=object)
        strings[:] = [_decoded(text[a:b]) for a, b in pairwise(ends)]
        return strings

    def find(self, string: str, order: NDArray[np.int64] | None) -> int:
        """Find the row of a string, or -1, by binary search in `order`, or in row order if that is None.

        Bytes of UTF-8 sort in the same order as the strings.
        """
        wanted = string.encode("utf-8", "surrogatepass")
        places = range(len(self)) if order is None else order

        def string_at(row: int) -> bytes:
            if not 0 <= row < len(self):
                raise InvalidValueError(f"the order of ids must have rows below {len(self)}, got {row}")
            return self.bytes_at(row)

        at = bisect_left(places, wanted, key=string_at)
        row = int(places[at]) if at < len(self) else -1
        return row if row >= 0 and self.bytes_at(row) == wanted else -1


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogatepass")
