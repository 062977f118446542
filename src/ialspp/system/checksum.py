"""CRC-32, the checksum of files: that of zlib, and the same result several times as fast where possible."""

from __future__ import annotations

import zlib

import numpy as np

from .. import _core

CHUNK = 1 << 22  # bytes processed between two checks for Ctrl-C


def crc32(data: bytes | memoryview, value: int = 0) -> int:
    """Return the CRC-32 of `data` after earlier bytes, whose CRC-32 is `value`."""
    for start in range(0, len(data), CHUNK):
        value = _crc32(data[start : start + CHUNK], value)
    return value


def _with_core(data: bytes | memoryview, value: int) -> int:
    return _core.crc32(np.frombuffer(data, np.uint8), value)


_crc32 = _with_core if _core.has_crc32() else zlib.crc32
