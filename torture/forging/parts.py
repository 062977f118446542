"""Forged files of arrays: taken apart, changed at random, and put together again with right checksums."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

DTYPES = {
    "BOOL": "?",
    "U8": "u1",
    "I8": "i1",
    "U16": "<u2",
    "F16": "<f2",
    "U32": "<u4",
    "I32": "<i4",
    "F32": "<f4",
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
}
INTEGERS = (-1, 0, 1, 2, 3, 7, 100, 2**31 - 1, 2**31, -(2**31), 2**40, 2**63 - 1, -(2**63))
FLOATS = (math.nan, math.inf, -math.inf, 0.0, -0.0, -1.0, 1.0, 1e-45, 3.4e38, -3.4e38, 1e19)
ODD_TEXTS = ("", "\ud800", "\0", "a\x1b[2J", "\u202e", "😀", "IALS", "string", "digits", "int64", "x" * 5000)


@dataclass(slots=True)
class Parts:
    """A file taken apart."""

    arrays: dict[str, dict[str, Any]]  # name: {dtype, shape, data}; padding is one of them
    metadata: dict[str, str]
    pad: int = 64  # the header's length is a multiple of it

    @classmethod
    def of(cls, file: bytes) -> Parts:
        """Take a file apart that `container.write` wrote."""
        first = 8 + int.from_bytes(file[:8], "little")
        header = json.loads(file[8:first])
        metadata = header.pop("__metadata__")
        del metadata["checksums"], metadata["header_checksum"]
        arrays = {}
        for name, said in header.items():
            start, end = said.pop("data_offsets")
            arrays[name] = {**said, "data": file[first + start : first + end]}
        return cls(arrays, metadata)

    def array(self, name: str) -> NDArray[Any]:
        """Return a copy of an array."""
        said = self.arrays[name]
        return np.frombuffer(said["data"], DTYPES[said["dtype"]]).reshape(said["shape"]).copy()

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Replace an array."""
        code = next(code for code, dtype in DTYPES.items() if np.dtype(dtype) == array.dtype)
        self.arrays[name] = {"dtype": code, "shape": list(array.shape), "data": array.tobytes()}

    def signed(self, random: Random | None = None) -> bytes:
        """Put the file together, with checksums as the library writes them."""
        header: dict[str, Any] = {}
        end = 0
        for name, said in self.arrays.items():
            start, end = end, end + len(said["data"])
            header[name] = {"dtype": said["dtype"], "shape": said["shape"], "data_offsets": [start, end]}
        checksums = {name: f"{zlib.crc32(said['data']):08x}" for name, said in self.arrays.items()}
        if random is not None:
            forge_places(header, random)
        metadata = {**self.metadata, "checksums": json.dumps(checksums), "header_checksum": "00000000"}
        text = json.dumps({"__metadata__": metadata, **header}, separators=(",", ":")).encode()
        text += b" " * (-(8 + len(text)) % self.pad)
        own = b'"header_checksum":"%08x"' % zlib.crc32(text)
        text = text.replace(b'"header_checksum":"00000000"', own)
        return len(text).to_bytes(8, "little") + text + b"".join(s["data"] for s in self.arrays.values())


def forge_places(header: dict[str, Any], random: Random) -> None:
    """Change what the header says of one array; the bytes stay where they are."""
    said = header[random.choice(list(header))]
    key = random.choice(["dtype", "shape", "data_offsets"])
    if key == "dtype":
        said[key] = random.choice([*DTYPES, "BF16", "", odd_value(random)])
    elif random.random() < 0.5:
        said[key] = odd_value(random)
    else:
        said[key] = [random.choice([*said[key], *INTEGERS, 1.5, "1", None]) for _ in said[key]]


def odd_value(random: Random) -> Any:
    """Draw a value of any type that JSON has."""
    return random.choice(ODD_VALUES)(random)


def _nested(random: Random) -> Any:
    value: Any = []
    for _ in range(random.choice([2, 10, 30, 200])):
        value = [value] if random.random() < 0.5 else {"a": value}
    return value


ODD_VALUES: tuple[Callable[[Random], Any], ...] = (
    lambda _: None,
    lambda random: random.random() < 0.5,
    lambda random: random.choice(INTEGERS),
    lambda random: random.choice((10**20, 10**400, -(10**4000))),
    lambda random: random.choice(FLOATS),
    lambda random: random.choice(ODD_TEXTS),
    lambda _: [],
    lambda _: {},
    lambda random: [random.choice(INTEGERS)],
    lambda random: {random.choice(ODD_TEXTS): random.choice(INTEGERS)},
    _nested,
)
