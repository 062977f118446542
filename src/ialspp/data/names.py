"""Names: what people read instead of an id, one for each row of an axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValueError
from .utf8 import Utf8


class Names(Sequence[str]):
    """One string per row, empty where a row has no name. Names of a file are read only when needed.

    They are text for people: nothing is computed from them, and two rows may have the same name. Half of a
    surrogate pair, which is not a character, is replaced, so that any file or terminal can take a name.
    """

    __slots__ = ("utf8",)

    utf8: Utf8

    def __init__(self, names: Iterable[str]) -> None:
        self.utf8 = Utf8.of(map(_whole_characters, names), "names")

    @classmethod
    def stored(cls, utf8: Utf8) -> Names:
        """Use the encoded names of a file unchanged."""
        made = cls.__new__(cls)
        made.utf8 = utf8
        return made

    def __len__(self) -> int:
        return len(self.utf8)

    @overload
    def __getitem__(self, index: int, /) -> str: ...

    @overload
    def __getitem__(self, index: slice, /) -> Names: ...

    def __getitem__(self, index: int | slice, /) -> str | Names:
        if isinstance(index, slice):
            return self.selected(np.arange(len(self))[index])
        return self.take(np.array([range(len(self))[index]]))[0]

    def __iter__(self) -> Iterator[str]:
        return map(_whole_characters, self.utf8.all().tolist())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) or not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.take(np.arange(min(3, len(self))))))
        return f"Names({len(self)}: {shown}{', ...' if len(self) > 3 else ''})"

    @property
    def filled(self) -> int:
        """The number of rows that have a name."""
        return int(np.count_nonzero(np.diff(self.utf8.offsets)))

    def take(self, rows: NDArray[np.integer[Any]]) -> list[str]:
        """Return the names of some rows."""
        return [_whole_characters(name) for name in self.utf8.take(rows)]

    def selected(self, rows: NDArray[np.integer[Any]]) -> Names:
        """Return the names of some rows, as those of the rows 0, 1, 2, ..."""
        return Names.stored(self.utf8.selected(rows))

    def extended(self, length: int) -> Names:
        """Return names for more rows, of which the new ones have none."""
        offsets = np.full(length + 1, len(self.utf8.data), dtype=np.int64)
        offsets[: len(self.utf8.offsets)] = self.utf8.offsets
        return Names.stored(Utf8(offsets, self.utf8.data, "names"))

    def replaced(self, rows: Iterable[int], names: Iterable[str]) -> Names:
        """Return names of which some are others."""
        listed = list(self)
        for row, name in zip(rows, names, strict=True):
            listed[row] = name
        return Names(listed)

    def check(self, length: int) -> None:
        """Raise unless these are names of so many rows: those of a file were not looked at yet."""
        if len(self) != length:
            raise InvalidValueError(f"{length} names are required, one per row, got {len(self)}")
        self.utf8.check_characters()


def _whole_characters(text: str) -> str:
    """Replace halves of surrogate pairs, which UTF-8 cannot encode; two that belong together are joined."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
