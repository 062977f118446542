"""Random numbers, rows and factors, from which the arguments of native calls are made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIMS = (1, 1, 2, 3, 5, 15, 16, 17, 33)
LONG_ROW = 40_000  # interactions: the core shares such a row among threads
LONG_SHARE = 0.001  # of the draws
_NUMBERS = np.random.default_rng(0).normal(size=1 << 17).astype(np.float32)


class Draw:
    """Draws the arguments of one call."""

    def __init__(self, core: ModuleType, random: Random):
        self.core, self.random = core, random

    def below(self, end: int) -> int:
        """Draw an integer from 0 to `end` - 1."""
        return self.random.randrange(end)

    def threads(self) -> int:
        """Draw a number of threads."""
        return self.random.choice((1, 1, 1, 1, 1, 2, 3))

    def floats(self, *shape: int) -> NDArray[np.float32]:
        """Draw normally distributed numbers."""
        size = math.prod(shape)
        first = self.below(len(_NUMBERS) - size)
        return _NUMBERS[first : first + size].reshape(shape).copy()

    def positive(self, *shape: int) -> NDArray[np.float32]:
        """Draw positive numbers."""
        return np.abs(self.floats(*shape)) + np.float32(0.1)

    def pairs(self, n_rows: int, n_columns: int, ascending: bool) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw the offsets and columns of rows."""
        rows = []
        for _ in range(n_rows):
            drawn = [self.below(n_columns) for _ in range(self.below(6) if n_columns else 0)]
            rows.append(sorted(set(drawn)) if ascending or self.random.random() < 0.7 else drawn)
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return offsets, np.array([column for row in rows for column in row], dtype=np.int32)

    def shards(self, n_rows: int) -> NDArray[np.int64] | None:
        """Draw where shards of rows begin and end, or None."""
        inner = sorted(self.below(n_rows + 1) for _ in range(self.below(5)))
        return np.array([0, *inner, n_rows]) if self.random.random() < 0.5 else None

    def shape(self) -> tuple[int, int]:
        """Draw a number of rows and one of columns."""
        return self.random.choice((0, 1, 2, 3, 5, 18)), self.random.choice((0, 1, 2, 5, 9, 20, 40))

    def rows(self, shape: tuple[int, int] | None = None, *, ascending: bool = False) -> Any:
        """Draw rows, and perhaps write over the arrays they were made from."""
        self.n_rows, self.n_columns = shape or self.shape()
        offsets, columns = self.pairs(self.n_rows, self.n_columns, ascending)
        if shape is None and not ascending and self.random.random() < LONG_SHARE:
            self.n_rows, self.n_columns = 1, 7
            offsets, columns = np.array([0, LONG_ROW]), np.arange(LONG_ROW, dtype=np.int32) % 7
        self.size = len(columns)
        values = [self.positive(self.size) if self.random.random() < 0.5 else None for _ in range(2)]
        if self.random.random() < 0.5:
            offsets.flags.writeable = columns.flags.writeable = False
        rows = self.core.Rows(offsets, columns, self.n_columns, *values, self.shards(self.n_rows))
        for array in (offsets, columns):
            if array.flags.writeable:
                array[:] = np.iinfo(array.dtype).max
        return rows

    def rows_with_order(self) -> Any:
        """Draw rows which know, or do not know, where their entries are in the other side's order."""
        rows = self.rows(ascending=True)
        if self.random.random() < 0.5:
            rows.set_cache_order(*self.cache_order(rows))
        return rows

    def cache_order(self, rows: Any) -> tuple[Any, Any]:
        """Return where the last rows drawn, which ascend, have their entries in the other side's order."""
        starts, columns, *_ = self.core.transpose(rows)
        return starts, self.core.transposed_ranks(self.core.Rows(starts, columns, self.n_rows))

    def side(self, *, order: bool = False, dims: Sequence[int] = DIMS) -> list[Any]:
        """Draw rows, factors, regularization and the other side's factors."""
        rows = self.rows_with_order() if order else self.rows()
        self.dim = self.random.choice(dims)
        factors, other = self.floats(self.n_rows, self.dim), self.floats(self.n_columns, self.dim)
        return [rows, factors, self.positive(self.n_rows), other]

    def centres(self) -> NDArray[np.float32] | None:
        """Draw the centres of the last side's rows, or none."""
        return self.floats(self.n_rows, self.dim) if self.below(2) else None

    def gramian(self) -> NDArray[np.float64]:
        """Draw a Gramian of the last side's width."""
        other = self.floats(self.dim + 1, self.dim).astype(np.float64)
        return other.T @ other

    def halves(self, rows: int) -> NDArray[np.uint16]:
        """Draw numbers in half precision, in rows as wide as the last side's factors, padded with zeros."""
        numbers = np.zeros((rows, self.core.padded(self.dim)), np.float16)
        numbers[:, : self.dim] = self.floats(rows, self.dim)
        return numbers.view(np.uint16)
