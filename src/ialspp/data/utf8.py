"""A column of strings as bytes, as in Arrow: a string is decoded only when it is needed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from operator import lt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValueError
from .offsets import OF_A_FILE, damaged, gathered, is_framed, ranges_of, require_rising

AT_ONCE = 2**16  # strings that are compared at a time


@dataclass(frozen=True, slots=True, eq=False)
class Utf8:
    """String i is bytes offsets[i] .. offsets[i + 1]."""

    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]
    what: str = "ids"  # what errors call the strings

    @classmethod
    def of(cls, strings: Iterable[str], what: str = "ids") -> Utf8:
        """Encode strings; half of a surrogate pair, which strict UTF-8 cannot encode, is kept too."""
        encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(string) for string in encoded], out=offsets[1:])
        return cls(offsets, np.frombuffer(b"".join(encoded), dtype=np.uint8), what)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def check(self, *, whole: bool = True) -> None:
        """Raise unless the offsets divide the bytes into strings; only check the ends unless `whole`."""
        if whole:
            require_rising(self.offsets, len(self.data))
        elif not is_framed(self.offsets, len(self.data)):
            raise InvalidValueError(f"offsets must rise from 0 to {len(self.data)}, the number of bytes")

    def check_characters(self) -> None:
        """Raise unless all are strings."""
        self.check()
        begins = self.offsets[:-1][self.offsets[:-1] < self.offsets[1:]]
        if ((self.data[begins] & 0xC0) == 0x80).any():
            raise InvalidValueError(f"{self.what} must be UTF-8, but one begins inside a character")
        for begin in range(0, len(self), AT_ONCE):
            end = min(begin + AT_ONCE, len(self))
            self._decoded(self.data[self.offsets[begin] : self.offsets[end]].tobytes())

    def check_content(self, order: NDArray[np.int64] | None) -> None:
        """Raise unless all are strings that strictly ascend in this order of rows: no two are equal then."""
        self.check_characters()
        if order is not None and len(order) and not (order.min() >= 0 and order.max() < len(self)):
            raise InvalidValueError(f"the order of ids must have rows below {len(self)}, and does not")
        for begin in range(0, len(self), AT_ONCE):
            rows = np.arange(begin, min(begin + AT_ONCE + 1, len(self)))
            strings = self.encoded(rows if order is None else order[rows])
            if not all(map(lt, strings, strings[1:])):
                raise InvalidValueError("ids must be distinct and in order, but two are equal or misplaced")

    def encoded(self, rows: NDArray[np.integer[Any]]) -> list[bytes]:
        """Return the encoded bytes of these rows."""
        starts, ends = ranges_of(self.offsets, rows, len(self.data))
        data = self.data.data
        return [bytes(data[a:b]) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]

    def take(self, rows: NDArray[np.integer[Any]]) -> list[str]:
        """Decode the strings of these rows."""
        return [self._decoded(text) for text in self.encoded(rows)]

    def selected(self, rows: NDArray[np.integer[Any]]) -> Utf8:
        """Copy the strings of these rows, without decoding them."""
        offsets, places = gathered(self.offsets, rows, len(self.data))
        return Utf8(offsets, self.data[places], self.what)

    def all(self) -> NDArray[np.object_]:
        """Decode every string."""
        self.check()
        text, ends = self.data.tobytes(), self.offsets.tolist()
        strings = np.empty(len(self), dtype=object)
        strings[:] = [self._decoded(text[a:b]) for a, b in pairwise(ends)]
        return strings

    def find(self, string: str, order: NDArray[np.int64] | None) -> int:
        """Find the row of a string, or -1, by binary search in `order`, or in row order if that is None.

        Bytes of UTF-8 sort in the same order as the strings. One byte more than `string` has is enough to
        compare, however long a string a damaged file has.
        """
        wanted = string.encode("utf-8", "surrogatepass")
        places = range(len(self)) if order is None else order

        def start_of(row: int) -> bytes:
            if not 0 <= row < len(self):
                raise InvalidValueError(f"the order of ids must have rows below {len(self)}, got {row}")
            begin, end = int(self.offsets[row]), int(self.offsets[row + 1])
            if not 0 <= begin <= end <= len(self.data):
                raise damaged(len(self.data))
            return self.data[begin : min(end, begin + len(wanted) + 1)].tobytes()

        at = bisect_left(places, wanted, key=start_of)
        row = int(places[at]) if at < len(self) else -1
        return row if row >= 0 and start_of(row) == wanted else -1

    def _decoded(self, text: bytes) -> str:
        try:
            return text.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            shown = text[max(error.start - 20, 0) : error.end + 20]
            raise InvalidValueError(f"{self.what} must be UTF-8, got {shown!r}{OF_A_FILE}") from error
