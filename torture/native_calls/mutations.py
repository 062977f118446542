"""Hostile arguments: other shapes, types, layouts and numbers, other objects, arrays that overlap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torture.native_calls.draw import Draw
from torture.native_calls.streams import drawn_stream

AnyArray = NDArray[Any]

INTEGERS = (
    *(-(2**63) - 1, -(2**63), -(2**31), -1, 0, 1, 2, 15, 16, 17, 1000, 2**31 - 16, 2**31 - 1, 2**31),
    *(2**32, 2**40, 2**61 - 1, 2**62, 2**63 - 16, 2**63 - 1, 2**63, 2**100),
)
FLOATS = (
    *(float("nan"), float("inf"), -float("inf"), 0.0, -0.0, -1.0, 1e-45, 1e-30, 1.999, 2.0, 1e30, 3e38),
    *(1e39, 1e300, 10**400),
)
KINDS = ("f4", "f8", "f2", "i4", "i8", "u4", "u8", "u2", "u1", "?", "c8", "O", "U3", ">f4", ">i8", "M8[s]")
HUGE = (2**31, 2**40, 2**61 - 1)


def mutated(draw: Draw, arguments: list[Any]) -> list[Any]:
    """Change one to three of the arguments, or their number."""
    changed = list(arguments)
    count = min(draw.random.choice((1, 1, 1, 2, 3)), len(arguments))
    for place in draw.random.sample(range(len(arguments)), count):
        changed[place] = _other(draw, arguments[place], arguments)
    if not changed or draw.random.random() < 0.02:
        changed.append(_anything(draw))
    elif draw.random.random() < 0.02:
        changed.pop()
    return changed


def _other(draw: Draw, value: Any, arguments: list[Any]) -> Any:
    """Return something else in the place of a value."""
    if draw.random.random() < 0.05:
        return _anything(draw)
    if isinstance(value, np.ndarray):
        return _other_array(draw, value, arguments)
    if isinstance(value, draw.core.Rows):
        return draw.random.choice((draw.rows, draw.rows_with_order, lambda: _empty(draw)))()
    if isinstance(value, draw.core.PackedItems):
        return draw.core.PackedItems(draw.floats(draw.below(40), draw.random.choice((1, 2, 16))), 1)
    if isinstance(value, bool | int):
        return draw.random.choice(INTEGERS)
    if isinstance(value, float):
        return draw.random.choice(FLOATS)
    if type(value).__name__ == "PyCapsule":
        return drawn_stream(draw.random, damaged=True)
    return _anything(draw)


def _anything(draw: Draw) -> Any:
    """Return an object of any kind."""
    core = draw.core
    makers: tuple[Callable[[], Any], ...] = (
        lambda: None,
        lambda: draw.random.choice(INTEGERS),
        lambda: draw.random.choice(FLOATS),
        lambda: draw.random.choice(("", "avx2", "mmx\0", "\ud800", b"bytes", object, [], [1.0], {}, ...)),
        lambda: memoryview(bytearray(draw.below(40))),
        lambda: draw.random.choice((core.Rows, core.Dictionary, core.PackedItems)).__new__,
        lambda: core.Rows.__new__(core.Rows),
        lambda: core.PackedItems.__new__(core.PackedItems),
        lambda: core.Dictionary(),
        lambda: draw.rows(),
        lambda: _empty(draw),
        lambda: drawn_stream(draw.random, damaged=True),
        lambda: draw.floats(draw.below(5)),
        lambda: draw.floats(draw.below(5), draw.below(5)),
    )
    return draw.random.choice(makers)()


def _empty(draw: Draw) -> Any:
    """Return rows without entries, perhaps with as many columns as there may be."""
    offsets, columns = np.zeros(1 + draw.below(4), np.int64), np.zeros(0, np.int32)
    return draw.core.Rows(offsets, columns, draw.random.choice((0, 1, 2**31 - 16)))


def _other_array(draw: Draw, array: AnyArray, arguments: list[Any]) -> Any:
    if draw.random.random() < 0.1:  # the same array twice, or a view of another one's memory
        others = [other for other in arguments if isinstance(other, np.ndarray)]
        other = draw.random.choice(others)
        return other if draw.below(2) else _viewed(other, array.dtype)
    return draw.random.choice((_shape, _shape, _kind, _layout, _numbers, _numbers, _order))(draw, array)


def _viewed(array: AnyArray, kind: np.dtype[Any]) -> AnyArray:
    """Return an array's memory as numbers of another kind, as far as they fit."""
    memory = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return memory[: len(memory) // kind.itemsize * kind.itemsize].view(kind)


def _shape(draw: Draw, array: AnyArray) -> AnyArray:
    kind, huge = array.dtype, draw.random.choice(HUGE)
    wrong: tuple[Callable[[], AnyArray], ...] = (
        lambda: array[1:],
        lambda: array[..., 1:],
        lambda: array[:0],
        lambda: array[..., :0],
        lambda: array[None],
        lambda: array[..., None],
        lambda: array.reshape(-1),
        lambda: array.T,
        lambda: np.concatenate([array, array]),
        lambda: np.resize(array, (*array.shape[:-1], array.shape[-1] + 1)),
        lambda: np.empty((), kind),
        lambda: np.empty((huge // kind.itemsize, 0), kind),
        lambda: np.empty((0, huge // kind.itemsize), kind),
        lambda: np.empty((0,) * 30, kind),
        lambda: np.broadcast_to(np.ones((), kind), (2**40,) * array.ndim if array.ndim < 2 else (2**40, 3)),
    )
    return draw.random.choice(wrong)()


def _kind(draw: Draw, array: AnyArray) -> AnyArray:
    kind = draw.random.choice(KINDS)
    try:
        return array.astype(kind) if draw.below(2) else _viewed(array, np.dtype(kind))
    except (TypeError, ValueError):  # no way to convert
        return np.empty(array.shape, kind)


def _layout(draw: Draw, array: AnyArray) -> AnyArray:
    def misaligned() -> AnyArray:
        memory = np.zeros(array.nbytes + 1, np.uint8)
        memory[1:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        return memory[1:].view(array.dtype).reshape(array.shape)

    def locked() -> AnyArray:
        copy = array.copy()
        copy.flags.writeable = False
        return copy

    wrong: tuple[Callable[[], AnyArray], ...] = (
        misaligned,
        locked,
        lambda: np.asfortranarray(array),
        lambda: array[::-1],
        lambda: array[..., ::-1],
        lambda: np.repeat(array, 2, axis=-1)[..., ::2],
        lambda: np.ma.masked_array(array),
        lambda: np.broadcast_to(array[:1], array.shape),
    )
    return draw.random.choice(wrong)()


def _numbers(draw: Draw, array: AnyArray) -> AnyArray:
    """Put a few numbers beyond what is allowed into an array."""
    changed = array.copy()
    if changed.size == 0:
        return changed
    for _ in range(draw.random.choice((1, 1, 2, changed.size))):
        at = draw.below(changed.size)
        if changed.dtype.kind == "f":
            with np.errstate(over="ignore"):
                changed.flat[at] = float(draw.random.choice(FLOATS[:-1]))
        elif changed.dtype == bool:
            changed.view(np.uint8).flat[at] = draw.below(256)
        else:
            limits = np.iinfo(changed.dtype)
            value = draw.random.choice((limits.min, limits.max, -1, 0, 1, int(changed.flat[at]) + 1))
            changed.flat[at] = min(max(value, limits.min), limits.max)
    return changed


def _order(draw: Draw, array: AnyArray) -> AnyArray:
    """Put the numbers into another order, or repeat some."""
    if array.ndim != 1 or len(array) == 0:
        return array.copy()
    places = [draw.below(len(array)) for _ in range(len(array))]
    return np.array(array[places] if draw.below(2) else array[::-1])
