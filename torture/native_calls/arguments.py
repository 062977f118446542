"""Valid arguments for every function of the compiled core, drawn small but of every kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .streams import drawn_stream

DIMS = (1, 1, 2, 3, 5, 15, 16, 17, 33)
LONG_ROW = 40_000  # interactions: the core shares such a row among threads
LONG_SHARE = 0.001  # of the draws
_NUMBERS = np.random.default_rng(0).normal(size=1 << 17).astype(np.float32)


class Draw:
    """Draws the arguments of one call."""

    def __init__(self, core: ModuleType, random: Random):
        self.core, self.random = core, random

    def call(self, name: str) -> tuple[Callable[..., Any], list[Any]]:
        """Draw the arguments of a function; return both."""
        function: Any = self.core
        for part in name.split("."):
            function = getattr(function, part)
        if isinstance(function, property):
            function = function.fget
        return function, RECIPES[name](self)

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

    def shape(self) -> tuple[int, int]:
        """Draw a number of rows and one of columns."""
        return self.random.choice((0, 1, 2, 3, 5, 18)), self.random.choice((0, 1, 2, 5, 9, 20, 40))

    def rows(self, shape: tuple[int, int] | None = None, *, ascending: bool = False) -> Any:
        """Draw rows, and perhaps write over the arrays they were made from."""
        self.n_rows, self.n_columns = shape or self.shape()
        offsets, columns = self.pairs(self.n_rows, self.n_columns, ascending)
        if not ascending and self.random.random() < LONG_SHARE:
            self.n_rows, self.n_columns = 1, 7
            offsets, columns = np.array([0, LONG_ROW]), np.arange(LONG_ROW, dtype=np.int32) % 7
        self.size = len(columns)
        values = [self.positive(self.size) if self.random.random() < 0.5 else None for _ in range(2)]
        if self.random.random() < 0.5:
            offsets.flags.writeable = columns.flags.writeable = False
        rows = self.core.Rows(offsets, columns, self.n_columns, *values)
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

    def side(self, *, order: bool = False) -> list[Any]:
        """Draw rows, factors, regularization and the other side's factors."""
        rows = self.rows_with_order() if order else self.rows()
        self.dim = self.random.choice(DIMS)
        factors, other = self.floats(self.n_rows, self.dim), self.floats(self.n_columns, self.dim)
        return [rows, factors, self.positive(self.n_rows), other]

    def gramian(self) -> NDArray[np.float64]:
        """Draw a Gramian of the last side's width."""
        other = self.floats(self.dim + 1, self.dim).astype(np.float64)
        return other.T @ other

    def halves(self, rows: int) -> NDArray[np.uint16]:
        """Draw numbers in half precision, in rows as wide as the last side's factors, padded with zeros."""
        numbers = np.zeros((rows, self.core.padded(self.dim)), np.float16)
        numbers[:, : self.dim] = self.floats(rows, self.dim)
        return numbers.view(np.uint16)


def _solve_rows(draw: Draw) -> list[Any]:
    return [*draw.side(), draw.gramian(), 0.1, draw.below(2) == 1, 1.5, draw.threads()]


def _update_block(draw: Draw) -> list[Any]:
    side = draw.side(order=True)
    begin = draw.below(draw.dim)
    block = np.ascontiguousarray(draw.gramian()[:, begin : begin + 1 + draw.below(draw.dim - begin)])
    return [*side, block, 0.1, begin, draw.floats(draw.size), 1.0, draw.threads()]


def _update_side(draw: Draw) -> list[Any]:
    return [*draw.side(), draw.gramian(), 0.1, 1 + draw.below(20), 1.5, draw.threads()]


def _update_coordinate(draw: Draw) -> list[Any]:
    side = draw.side(order=True)
    column = draw.gramian()[0].astype(np.float32)
    return [*side, column, 0.1, draw.below(draw.dim), draw.floats(draw.size), draw.threads()]


def _improve_rows(draw: Draw) -> list[Any]:
    return [*draw.side(), draw.positive(draw.dim), draw.below(5), 0.0, 1.5, draw.threads()]


def _improve_rows_by_half(draw: Draw) -> list[Any]:
    _with_half(draw)
    rows, factors, regularization, _ = draw.side()
    other, spectrum = draw.halves(draw.n_columns), draw.positive(draw.dim)
    return [rows, factors, regularization, other, 0.5, spectrum, draw.below(5), 0.0, 1.5, draw.threads()]


def _multiply_rows(draw: Draw) -> list[Any]:
    rows, out, row_scales, x = draw.side()
    return [rows, row_scales, draw.positive(draw.n_columns), x, out, draw.threads()]


def _multiply_rows_by_half(draw: Draw) -> list[Any]:
    _with_half(draw)
    rows, out, row_scales, _ = draw.side()
    x = draw.halves(draw.n_columns)
    return [rows, row_scales, draw.positive(draw.n_columns), x, 0.5, out, draw.threads()]


def _residuals(draw: Draw) -> list[Any]:
    rows, factors, _, other = draw.side()
    return [rows, factors, other, draw.threads()]


def _transform(draw: Draw) -> list[Any]:
    draw.dim = draw.random.choice(DIMS)
    return [draw.floats(draw.below(100), draw.dim), draw.gramian(), draw.threads()]


def _transform_both(draw: Draw) -> list[Any]:
    return [*_transform(draw)[:2], *_transform(draw)]


def _copy_to_half(draw: Draw) -> list[Any]:
    _with_half(draw)
    rows, draw.dim = draw.below(20), draw.random.choice(DIMS)
    return [draw.floats(rows, draw.dim), 0.5, draw.halves(rows), draw.threads()]


def _with_half(draw: Draw) -> None:
    """Choose kernels that have half precision, where the machine has any."""
    if not draw.core.has_half():
        draw.core.select_isa(draw.core.available_isas()[-1])


def _gramian(draw: Draw) -> list[Any]:
    dim = draw.random.choice(DIMS)
    begin = draw.below(dim)
    return [draw.floats(draw.below(300), dim), begin, begin + 1 + draw.below(dim - begin), draw.threads()]


def _weighted_column_squares(draw: Draw) -> list[Any]:
    rows = draw.below(40)
    return [draw.floats(rows, draw.random.choice(DIMS)), draw.positive(rows), draw.threads()]


def _sort_pairs(draw: Draw) -> list[Any]:
    n, n_rows, n_columns = draw.below(12), 1 + draw.below(6), draw.random.choice((1, 7, 600))
    rows, columns = (
        np.array([draw.below(end) for _ in range(n)], dtype=np.int32) for end in (n_rows, n_columns)
    )
    return [rows, columns, n_rows, n_columns, draw.below(2) == 1]


def _gather(draw: Draw, kind: type[np.floating[Any]]) -> list[Any]:
    n = 1 + draw.below(9)
    order = np.array([draw.below(n) for _ in range(draw.below(12))])
    return [draw.floats(n).astype(kind), order.astype(draw.random.choice((np.uint32, np.int64)))]


def _sum_runs(draw: Draw) -> list[Any]:
    n = draw.below(12)
    return [draw.floats(n), np.array([i == 0 or draw.below(2) == 1 for i in range(n)], dtype=bool)]


def _rows(draw: Draw) -> list[Any]:
    n_rows, n_columns = draw.shape()
    offsets, columns = draw.pairs(n_rows, n_columns, ascending=False)
    return [offsets, columns, n_columns, draw.floats(len(columns)), draw.positive(len(columns))]


def _set_cache_order(draw: Draw) -> list[Any]:
    rows = draw.rows(ascending=True)
    return [rows, *map(np.array, draw.cache_order(rows))]


def _packed_items(draw: Draw) -> list[Any]:
    return [draw.floats(draw.random.choice((0, 1, 16, 50)), draw.random.choice(DIMS)), draw.threads()]


def _rank(draw: Draw) -> list[Any]:
    users, items = draw.random.choice((0, 1, 3, 50)), draw.random.choice((0, 1, 16, 40, 40, 1100))
    draw.dim = draw.random.choice(DIMS[:5])
    packed = draw.core.PackedItems(draw.floats(items, draw.dim), 1)
    hidden, candidates, wanted = (
        draw.rows((users, items), ascending=True) if draw.below(2) else None for _ in range(3)
    )
    eligible = np.array(_NUMBERS[:items] > 0, dtype=np.uint8) if draw.below(2) else None
    k, depth = draw.below(items + 1), draw.below(items + 1)
    x = draw.floats(users, draw.dim)
    return [x, packed, hidden, candidates, eligible, wanted, k, depth, draw.threads()]


def _encode(draw: Draw) -> list[Any]:
    return [draw.core.Dictionary(), drawn_stream(draw.random, damaged=False)]


def _texts(draw: Draw) -> list[Any]:
    dictionary, stream = _encode(draw)
    dictionary.encode(stream)
    return [dictionary]


RECIPES: dict[str, Callable[[Draw], list[Any]]] = {
    "Dictionary": lambda _: [],
    "Dictionary.encode": _encode,
    "Dictionary.texts": _texts,
    "PackedItems": _packed_items,
    "Rows": _rows,
    "Rows.has_cache_order": lambda draw: [draw.rows_with_order()],
    "Rows.set_cache_order": _set_cache_order,
    "absolute_row_sums": lambda draw: [draw.rows(), draw.threads()],
    "available_isas": lambda _: [],
    "copy_to_half": _copy_to_half,
    "gather_doubles": lambda draw: _gather(draw, np.float64),
    "gather_floats": lambda draw: _gather(draw, np.float32),
    "gramian": _gramian,
    "has_half": lambda _: [],
    "improve_rows": _improve_rows,
    "improve_rows_by_half": _improve_rows_by_half,
    "isa": lambda _: [],
    "known_isas": lambda _: [],
    "mark_first": lambda draw: [draw.rows()],
    "multiply_rows": _multiply_rows,
    "multiply_rows_by_half": _multiply_rows_by_half,
    "padded": lambda draw: [draw.below(100)],
    "rank": _rank,
    "residuals": _residuals,
    "select_isa": lambda draw: [draw.random.choice(draw.core.available_isas())],
    "solve_rows": _solve_rows,
    "sort_pairs": _sort_pairs,
    "squared_sum": lambda draw: [draw.floats(draw.below(50)), draw.threads()],
    "sum_runs": _sum_runs,
    "transform": _transform,
    "transform_both": _transform_both,
    "transpose": lambda draw: [draw.rows()],
    "transposed_ranks": lambda draw: [draw.rows()],
    "update_block": _update_block,
    "update_coordinate": _update_coordinate,
    "update_side": _update_side,
    "weighted_column_squares": _weighted_column_squares,
}
NAMES = tuple(RECIPES)
INFINITE = ("rank",)  # its scores are -inf where no item is left
