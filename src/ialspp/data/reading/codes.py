"""Turn ids into row numbers, batch by batch. Each id costs four bytes per interaction."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ..csr import RowNumbers
from ..id_values import INTEGER
from ..ids import IdMap
from ..spool import Spool, renumber
from ..utf8 import AT_ONCE, Utf8

if TYPE_CHECKING:
    import polars as pl


class Codes:
    """Collects the ids of one axis.

    Ids get numbers in the order in which they first occur. In the end the distinct ids are sorted, so that
    the row of an id does not depend on the order of the data. If every id of a text file is written as an
    integer, the ids become integers.
    """

    def __init__(self, name: str, spool: Spool, *, from_text: bool) -> None:
        self.name, self.from_text = name, from_text
        self._spool = spool
        self._integers = _core.IntegerDictionary()
        self._texts = _core.Dictionary()
        self._unsigned = False  # whether integers have 64 bits without a sign

    def add(self, column: pl.Series) -> None:
        """Add the next batch, in which no id is missing."""
        if column.dtype.is_integer():
            integers = column.to_numpy()
            self._unsigned = integers.dtype == np.uint64
            keys = integers.view(np.int64) if self._unsigned else integers.astype(np.int64, copy=False)
            self._spool.append(self._integers.encode(keys))
            return
        import polars as pl

        text = column if column.dtype == pl.String else column.cast(pl.String)
        stream: Any = text.__arrow_c_stream__()
        self._spool.append(self._texts.encode(stream))

    def finish(self) -> tuple[IdMap, RowNumbers]:
        """Return all ids, sorted, and the row of each interaction."""
        ids, order = self._sorted_ids()
        self._integers, self._texts = _core.IntegerDictionary(), _core.Dictionary()  # frees the large ones
        rows = np.empty(len(order), dtype=np.int32)
        rows[order] = np.arange(len(order), dtype=np.int32)
        numbers = self._spool.whole()
        renumber(numbers, rows)
        return ids, numbers

    def _sorted_ids(self) -> tuple[IdMap, NDArray[np.integer[Any]]]:
        """Return the ids in ascending order, and the code of each."""
        integers = self._as_integers()
        if integers is not None:
            order = np.argsort(integers)
            ids = integers[order]
            ids.flags.writeable = False
            return IdMap.stored(ids, name=self.name), order
        codes, offsets, characters = self._texts.sorted()
        strings = Utf8(offsets, characters)
        if not (self.from_text and _are_integers(strings)):
            return IdMap.stored(strings, name=self.name), codes
        large = [int(text) for text in strings.all()]
        by_value = sorted(range(len(large)), key=large.__getitem__)
        return IdMap([large[place] for place in by_value], name=self.name), codes[by_value]

    def _as_integers(self) -> NDArray[Any] | None:
        """Return the ids by code, if all are integers of up to 64 bits."""
        if len(self._texts) and not self.from_text:
            return None
        if len(self._texts):
            return self._texts.integers()
        integers: NDArray[Any] = self._integers.keys()
        if self._unsigned and (integers < 0).any():  # as their bits say with a sign
            return integers.view(np.uint64)
        return integers


def _are_integers(strings: Utf8) -> bool:
    """Tell whether all are written as integers. No more are decoded than it takes to find one that is not."""
    parts = (
        strings.take(np.arange(begin, min(begin + AT_ONCE, len(strings))))
        for begin in range(0, len(strings), AT_ONCE)
    )
    return all(map(INTEGER.fullmatch, chain.from_iterable(parts)))
