"""Columns of text as Arrow streams, built by hand so that they can be damaged.

Arrow's C interface passes plain pointers. What a stream says about lengths and places can be damaged here, as
far as the reader can check it; pointers cannot, since nobody can check them.
"""

from __future__ import annotations

import ctypes
from random import Random
from typing import Any

import numpy as np

TEXTS = (
    "",
    "a",
    "item-7",
    "exactly12chr",
    "longer than twelve bytes",
    "\u00e4\u00f6\u00fc\u4e2d\u6587",
    "x" * 100,
)
WRONG = (-(2**31), -1, 1, 13, 2**20, 2**31 - 1)


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_pointer, _integer = ctypes.c_void_p, ctypes.c_int64
_Schema._fields_ = [
    *(("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p)),
    *(("flags", _integer), ("n_children", _integer), ("children", _pointer), ("dictionary", _pointer)),
    *(("release", _Release), ("private_data", _pointer)),
]
_Array._fields_ = [
    *(("length", _integer), ("null_count", _integer), ("offset", _integer), ("n_buffers", _integer)),
    *(("n_children", _integer), ("buffers", ctypes.POINTER(_pointer)), ("children", _pointer)),
    *(("dictionary", _pointer), ("release", _Release), ("private_data", _pointer)),
]
_GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))
_GetNext = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))
_GetError = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))
_Stream._fields_ = [
    *(("get_schema", _GetSchema), ("get_next", _GetNext), ("get_last_error", _GetError)),
    *(("release", _Release), ("private_data", _pointer)),
]
_nothing = _Release(lambda _: None)
_no_error = _GetError(lambda _: None)
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [_pointer, ctypes.c_char_p, _pointer]
_alive: list[Any] = []  # the memory behind the last capsules, which a capsule does not own


def drawn_stream(random: Random, *, damaged: bool) -> Any:
    """Draw a stream of up to three chunks of text."""
    del _alive[: max(0, len(_alive) - 20)]
    layout = random.choice(("u", "U", "vu"))
    chunks = [_chunk(random, layout, damaged) for _ in range(random.randrange(4))]
    wrong_layout = random.choice((b"i", b"", b"vz", None))
    name = wrong_layout if damaged and random.random() < 0.1 else layout.encode()
    failing = damaged and random.random() < 0.1

    def get_schema(_: Any, out: Any) -> int:
        out[0].format, out[0].release = name, _nothing
        return 5 if failing else 0

    remaining = iter(chunks)

    def get_next(_: Any, out: Any) -> int:
        chunk = next(remaining, None)
        if chunk is not None:
            ctypes.memmove(out, ctypes.byref(chunk[0]), ctypes.sizeof(_Array))
        return 0

    stream = _Stream(_GetSchema(get_schema), _GetNext(get_next), _no_error, _nothing, None)
    if damaged and random.random() < 0.1:
        stream.release = _Release()
    label = b"arrow_array_stream" if not damaged or random.random() < 0.95 else b"arrow_schema"
    _alive.append((stream, chunks, label))
    return _new_capsule(ctypes.addressof(stream), label, None)


def _chunk(random: Random, layout: str, damaged: bool) -> tuple[_Array, Any]:
    """Draw a chunk; return it and its memory."""
    texts = [random.choice(TEXTS).encode() for _ in range(random.randrange(6))]
    valid = np.packbits([random.random() < 0.8 for _ in range(8)])
    buffers = _views(random, texts, damaged) if layout == "vu" else _offsets(random, texts, layout, damaged)
    memory = [valid if random.random() < 0.5 else None, *buffers]
    pointers = (_pointer * len(memory))(*(None if part is None else part.ctypes.data for part in memory))
    array = _Array(len(texts), -1, 0, len(memory), 0, pointers, None, None, _nothing, None)
    if damaged and random.random() < 0.2:
        setattr(array, random.choice(("length", "offset", "n_buffers")), random.choice((-(2**63), -1, 0)))
    return array, (memory, pointers)


def _offsets(random: Random, texts: list[bytes], layout: str, damaged: bool) -> list[Any]:
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int32 if layout == "u" else np.int64)
    if damaged and texts:  # never beyond the characters: their number is known to us alone
        offsets[random.randrange(len(offsets))] = random.choice((-1, -(2**31), 0, int(offsets[-1])))
    characters = np.frombuffer(b"".join(texts) or b"\0", np.uint8)
    return [offsets, None if damaged and random.random() < 0.1 else characters]


def _views(random: Random, texts: list[bytes], damaged: bool) -> list[Any]:
    views, characters = np.zeros((max(1, len(texts)), 4), np.int32), b""
    for view, text in zip(views, texts, strict=False):
        view[0] = len(text)
        if len(text) <= 12:
            view.view(np.uint8)[4 : 4 + len(text)] = np.frombuffer(text, np.uint8)
        else:
            view[1:] = np.frombuffer(text[:4], np.int32)[0], 0, len(characters)
            characters += text
    if damaged:
        views[random.randrange(len(views)), random.choice((0, 2, 3))] = random.choice(WRONG)
    sizes = np.array([len(characters)], np.int64)
    missing = damaged and random.random() < 0.1
    return [views, None if missing else np.frombuffer(characters or b"\0", np.uint8), sizes]
