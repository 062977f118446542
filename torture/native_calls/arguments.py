"""Valid arguments for every function of the compiled core, drawn small but of every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from torture.native_calls.draw import DIMS, Draw
from torture.native_calls.streams import drawn_stream

WHOLE_PANELS = (16, 32, 48)


def drawn_call(draw: Draw, name: str) -> tuple[Callable[..., Any], list[Any]]:
    """Draw the arguments of a function; return both."""
    function: Any = draw.core
    for part in name.split("."):
        function = getattr(function, part)
    if isinstance(function, property):
        function = function.fget
    return function, RECIPES[name](draw)


def _solve_rows(draw: Draw) -> list[Any]:
    return [*draw.side(), draw.gramian(), 0.1, draw.below(2) == 1, 1.5, draw.threads(), draw.centres()]


def _update_block(draw: Draw) -> list[Any]:
    side = draw.side(order=True)
    begin = draw.below(draw.dim)
    block = np.ascontiguousarray(draw.gramian()[:, begin : begin + 1 + draw.below(draw.dim - begin)])
    return [*side, block, 0.1, begin, draw.floats(draw.size), 1.0, draw.threads(), draw.centres()]


def _update_side(draw: Draw) -> list[Any]:
    return [*draw.side(), draw.gramian(), 0.1, 1 + draw.below(20), 1.5, draw.threads(), draw.centres()]


def _update_coordinate(draw: Draw) -> list[Any]:
    side = draw.side(order=True)
    column = draw.gramian()[0].astype(np.float32)
    return [*side, column, 0.1, draw.below(draw.dim), draw.floats(draw.size), draw.threads(), draw.centres()]


def _improve_rows(draw: Draw) -> list[Any]:
    return [*draw.side(), *_descent(draw)]


def _descent(draw: Draw) -> list[Any]:
    coupling = draw.gramian() if draw.below(2) else None
    spectrum, steps = draw.positive(draw.dim), draw.below(5)
    return [spectrum, coupling, steps, 0.0, 1.5, draw.threads(), draw.centres()]


def _improve_rows_by_half(draw: Draw) -> list[Any]:
    _with_half(draw)
    rows, factors, regularization, _ = draw.side()
    other = draw.halves(draw.n_columns)
    return [rows, factors, regularization, other, 0.5, *_descent(draw)]


def _feature_products(draw: Draw) -> list[Any]:
    rows, x, weights, _ = draw.side()
    return [rows, weights, x, draw.threads()]


def _feature_gramian(draw: Draw) -> list[Any]:
    n_rows, n_features = draw.shape()
    by_feature = draw.rows((n_features, n_rows))
    return [draw.rows((n_rows, n_features)), by_feature, draw.positive(n_rows), draw.threads()]


def _improve_rows_in_halves(draw: Draw) -> list[Any]:
    _with_half(draw)
    rows, factors, regularization, other = draw.side(dims=WHOLE_PANELS)
    return [rows, factors, regularization, other, 0.5, *_descent(draw)]


def _multiply_rows(draw: Draw) -> list[Any]:
    rows, out, row_scales, x = draw.side()
    return [rows, out, row_scales, x, draw.positive(draw.n_columns), draw.threads()]


def _multiply_rows_by_half(draw: Draw) -> list[Any]:
    _with_half(draw)
    rows, out, row_scales, _ = draw.side()
    x = draw.halves(draw.n_columns)
    return [rows, out, row_scales, x, 0.5, draw.positive(draw.n_columns), draw.threads()]


def _multiply_rows_in_halves(draw: Draw) -> list[Any]:
    _with_half(draw)
    rows, out, row_scales, x = draw.side(dims=WHOLE_PANELS)
    return [rows, out, row_scales, x, 0.5, draw.positive(draw.n_columns), draw.threads()]


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


def _round_to_halves(draw: Draw) -> list[Any]:
    _with_half(draw)
    return [draw.floats(draw.below(100), draw.random.choice(WHOLE_PANELS)), 0.5, draw.threads()]


def _with_half(draw: Draw) -> None:
    """Choose kernels that have half precision, where the machine has any."""
    if not draw.core.has_half():
        draw.core.select_isa(draw.core.available_isas()[-1])


def _gramian(draw: Draw) -> list[Any]:
    dim = draw.random.choice(DIMS)
    begin = draw.below(dim)
    rows, end = draw.below(300), begin + 1 + draw.below(dim - begin)
    return [draw.floats(rows, dim), begin, end, draw.threads(), draw.shards(rows)]


def _weighted_column_squares(draw: Draw) -> list[Any]:
    rows = draw.below(40)
    factors = draw.floats(rows, draw.random.choice(DIMS))
    return [factors, draw.positive(rows), draw.threads(), draw.shards(rows)]


def _sort_pairs(draw: Draw) -> list[Any]:
    n, n_rows, n_columns = draw.below(12), 1 + draw.below(6), draw.random.choice((1, 7, 600))
    rows, columns = (
        np.array([draw.below(end) for _ in range(n)], dtype=np.int32) for end in (n_rows, n_columns)
    )
    labels, weights, times = (
        draw.floats(n).astype(kind) if draw.below(2) else None for kind in (np.float32, np.float32, float)
    )
    begin = draw.below(n_rows + 1)
    end = begin + draw.below(n_rows - begin + 1)
    return [rows, columns, n_rows, n_columns, labels, weights, times, begin, end, draw.threads()]


def _offsets_of(draw: Draw) -> list[Any]:
    n = 1 + draw.below(6)
    return [np.array([draw.below(n) for _ in range(12)], dtype=np.int32), n, draw.threads()]


def _transpose(draw: Draw) -> list[Any]:
    rows, columns = draw.shape()
    begin = draw.below(columns + 1)
    return [draw.rows((rows, columns)), begin, begin + draw.below(columns - begin + 1), draw.threads()]


def _sum_runs(draw: Draw) -> list[Any]:
    n = draw.below(12)
    return [draw.floats(n), np.array([i == 0 or draw.below(2) == 1 for i in range(n)], dtype=bool)]


def _rows(draw: Draw) -> list[Any]:
    n_rows, n_columns = draw.shape()
    offsets, columns = draw.pairs(n_rows, n_columns, ascending=False)
    values = draw.floats(len(columns)), draw.positive(len(columns))
    return [offsets, columns, n_columns, *values, draw.shards(n_rows)]


def _set_cache_order(draw: Draw) -> list[Any]:
    rows = draw.rows(ascending=True)
    return [rows, *map(np.array, draw.cache_order(rows))]


def _packed_items(draw: Draw) -> list[Any]:
    return [draw.floats(draw.random.choice((0, 1, 16, 50, 700)), draw.random.choice(DIMS)), draw.threads()]


def _rank(draw: Draw) -> list[Any]:
    users, items = draw.random.choice((0, 1, 3, 50)), draw.random.choice((0, 1, 16, 40, 600, 1100))
    draw.dim = draw.random.choice(DIMS[:5])
    packed = draw.core.PackedItems(draw.floats(items, draw.dim), 1)
    hidden, candidates, wanted = (
        draw.rows((users, items), ascending=True) if draw.below(2) else None for _ in range(3)
    )
    eligible = np.array(draw.floats(items) > 0, dtype=np.uint8) if draw.below(2) else None
    few = items // 8 if draw.below(2) else items  # of few, most items are left out by bounds
    k, depth = draw.below(few + 1), draw.below(few + 1)
    x = draw.floats(users, draw.dim)
    return [x, packed, hidden, candidates, eligible, wanted, k, depth, draw.threads()]


def _encode(draw: Draw) -> list[Any]:
    return [draw.core.Dictionary(), drawn_stream(draw.random, damaged=False)]


def _texts(draw: Draw) -> list[Any]:
    dictionary, stream = _encode(draw)
    dictionary.encode(stream)
    return [dictionary]


def _integer_keys(draw: Draw) -> list[Any]:
    return [
        np.array([draw.random.choice((0, 1, -1, 2**63 - 1, -(2**63), draw.below(99))) for _ in range(20)])
    ]


def _integers(draw: Draw) -> list[Any]:
    dictionary = draw.core.IntegerDictionary()
    dictionary.encode(*_integer_keys(draw))
    return [dictionary]


def _crc32(draw: Draw) -> list[Any]:
    """Draw bytes of any length, at any place in memory."""
    size, first = draw.random.choice((0, 1, 15, 63, 64, 65, 200, 5000)), draw.below(16)
    return [np.frombuffer(draw.random.randbytes(first + size), np.uint8)[first:], draw.below(2**32)]


RECIPES: dict[str, Callable[[Draw], list[Any]]] = {
    "Dictionary": lambda _: [],
    "Dictionary.encode": _encode,
    "Dictionary.integers": _texts,
    "Dictionary.sorted": _texts,
    "IntegerDictionary": lambda _: [],
    "IntegerDictionary.encode": lambda draw: [draw.core.IntegerDictionary(), *_integer_keys(draw)],
    "IntegerDictionary.keys": _integers,
    "PackedItems": _packed_items,
    "Rows": _rows,
    "Rows.ascends": lambda draw: [draw.rows()],
    "Rows.has_cache_order": lambda draw: [draw.rows_with_order()],
    "Rows.set_cache_order": _set_cache_order,
    "absolute_row_sums": lambda draw: [draw.rows(), draw.threads()],
    "available_isas": lambda _: [],
    "copy_to_half": _copy_to_half,
    "crc32": _crc32,
    "feature_gramian": _feature_gramian,
    "feature_products": _feature_products,
    "find_core": lambda draw: [draw.rows(), draw.below(4), draw.below(4), draw.threads()],
    "gramian": _gramian,
    "has_crc32": lambda _: [],
    "has_half": lambda _: [],
    "improve_rows": _improve_rows,
    "improve_rows_by_half": _improve_rows_by_half,
    "improve_rows_in_halves": _improve_rows_in_halves,
    "isa": lambda _: [],
    "known_isas": lambda _: [],
    "mark_first": lambda draw: [draw.rows()],
    "multiply_rows": _multiply_rows,
    "multiply_rows_by_half": _multiply_rows_by_half,
    "multiply_rows_in_halves": _multiply_rows_in_halves,
    "round_to_halves": _round_to_halves,
    "offsets_of": _offsets_of,
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
    "transpose": _transpose,
    "transposed_ranks": lambda draw: [draw.rows(), draw.threads()],
    "update_block": _update_block,
    "update_coordinate": _update_coordinate,
    "update_side": _update_side,
    "weighted_column_squares": _weighted_column_squares,
}
NAMES = tuple(RECIPES)
INFINITE = ("rank",)  # its scores are -inf where no item is left
