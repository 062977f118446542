"""Turn ids into row numbers, batch by batch. Each id of text costs four bytes per interaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ..csr import RowNumbers
from ..id_values import INTEGER
from ..ids import IdMap

if TYPE_CHECKING:
    import polars as pl


class Codes:
    """Collects the ids of one axis.

    Text gets numbers in the order in which ids first occur. In the end the distinct ids are sorted, so that
    the row of an id does not depend on the order of the data. If every id of a text file is written as an
    integer, the ids become integers.
    """

    def __init__(self, name: str, *, from_text: bool) -> None:
        self.name, self.from_text = name, from_text
        self._batches: list[NDArray[Any]] = []
        self._dictionary: _core.Dictionary | None = None

    def add(self, column: pl.Series) -> None:
        """Add the next batch, in which no id is missing."""
        if column.dtype.is_integer():
            self._batches.append(column.to_numpy())
            return
        import polars as pl

        if self._dictionary is None:
            self._dictionary = _core.Dictionary()
        text = column if column.dtype == pl.String else column.cast(pl.String)
        stream: Any = text.__arrow_c_stream__()
        self._batches.append(self._dictionary.encode(stream))

    def finish(self) -> tuple[IdMap, RowNumbers]:
        """Return all ids, sorted, and the row of each interaction; the batches are released."""
        if self._dictionary is None:
            codes = np.concatenate(self._batches) if self._batches else np.empty(0, dtype=np.int32)
            self._batches.clear()
            return IdMap.factorize(codes, name=self.name)
        texts: list[Any] = self._dictionary.texts()
        ids = _as_integers(texts) if self.from_text else texts
        order = sorted(range(len(ids)), key=ids.__getitem__)
        rows = np.empty(len(ids), dtype=np.int32)
        rows[order] = np.arange(len(ids), dtype=np.int32)
        return IdMap([ids[code] for code in order], name=self.name), self._renumbered(rows)

    def _renumbered(self, rows: RowNumbers) -> RowNumbers:
        """Return rows[code] of every interaction; releases each batch in turn, to save memory."""
        whole = np.empty(sum(map(len, self._batches)), dtype=np.int32)
        end = len(whole)
        while self._batches:
            codes = self._batches.pop()
            whole[end - len(codes) : end] = rows[codes]
            end -= len(codes)
        return whole


def _as_integers(texts: list[str]) -> list[Any]:
    """Convert to integers if all are written as integers, else return the texts."""
    return [int(text) for text in texts] if all(map(INTEGER.fullmatch, texts)) else texts
