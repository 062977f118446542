"""The header of a file of arrays: where each array is, the text beside them, and checksums.

The layout is that of safetensors (https://github.com/huggingface/safetensors): eight bytes with the length
of the rest, then {name: {dtype, shape, data_offsets}, "__metadata__": {key: text}} as JSON. The checksums are
metadata too.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidTypeError, InvalidValueError
from ..system.checksum import crc32
from .parsing import MAX_LENGTH, StoreError, corrupted_header, parsed_object, too_much

ALIGNMENT = 64  # bytes: a cache line, and the longest vector of any instruction set
MAX_ARRAYS = 10_000
MAX_NAME = 200  # characters of an array's name
MAX_DIMENSIONS = 64  # the limit of numpy

DTYPES = {
    "BOOL": np.dtype("?"),
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "F16": np.dtype("<f2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "F32": np.dtype("<f4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
}
_CODES = {dtype.str: code for code, dtype in DTYPES.items()}

METADATA = "__metadata__"
CHECKSUMS = "checksums"
HEADER_CHECKSUM = "header_checksum"
# Inside a JSON string there is a backslash before each quotation mark: this matches the key alone.
_OWN_CHECKSUM = re.compile(rb'[{,]"header_checksum":"([0-9a-f]{8})"')
_BLANK = "00000000"  # the header's checksum while that is computed

_OTHER_FORMATS = {
    b"PK\x03\x04": "a zip archive, perhaps .npz",
    b"\x93NUMPY": "an array of numpy, .npy",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
    b"\x1f\x8b": "compressed by gzip",
    b"PAR1": "Parquet",
}

NamedArrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Place:
    """An array's type, shape, and range of bytes in the file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Header:
    """The contents of a header. Its errors are `StoreError`s without the file's name."""

    metadata: dict[str, str]
    places: dict[str, Place]  # without holes between them
    checksums: dict[str, str] | None  # of the arrays; None if another tool wrote the file
    file_size: int

    @classmethod
    def read(cls, file: IO[bytes], size: int) -> Header:
        """Read and check the header of a file of this size; the file is at its start."""
        text = _text_of(file, size)
        content = parsed_object(text)
        metadata = _metadata_of(content)
        _check_own_checksum(text, metadata)
        first = 8 + len(text)
        places = _places_of(content, first)
        checksums = _checksums_of(metadata, places)
        return cls(metadata, places, checksums, max((place.end for place in places.values()), default=first))


def header_bytes(arrays: NamedArrays, metadata: Mapping[str, str], checksums: Mapping[str, str]) -> bytes:
    """Return all bytes before the arrays: a multiple of 64, however the checksums turn out."""
    content: dict[str, Any] = {
        METADATA: {**metadata, CHECKSUMS: _as_json(checksums), HEADER_CHECKSUM: _BLANK},
    }
    end = 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        code = _code_of(name, array)
        content[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": [start, end]}
    text = _as_json(content).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    _require_readable(text, arrays)
    [(begin, end)] = _places_of_own_checksum(text)
    return len(text).to_bytes(8, "little") + text[:begin] + checksum(text).encode() + text[end:]


def _require_readable(text: bytes, arrays: NamedArrays) -> None:
    """Raise an error before a file is written that would be refused when it is read."""
    if len(text) > MAX_LENGTH:
        raise InvalidValueError(f"names and metadata may take {MAX_LENGTH:,} bytes, got {len(text):,}")
    fault = too_much(text)
    if fault is not None:
        raise InvalidValueError(f"names and metadata are too large: {fault}")
    if len(arrays) > MAX_ARRAYS:
        raise InvalidValueError(f"a file may have {MAX_ARRAYS:,} arrays, got {len(arrays):,}")
    longest = max(map(len, arrays), default=0)
    if longest > MAX_NAME:
        raise InvalidValueError(f"the name of an array may have {MAX_NAME} characters, got {longest:,}")


def checksum(*parts: bytes | memoryview) -> str:
    """Return the CRC-32 of the parts, one after the other, as eight hexadecimal digits."""
    value = 0
    for data in parts:
        value = crc32(data, value)
    return f"{value:08x}"


def _as_json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def _code_of(name: str, array: NDArray[Any]) -> str:
    code = _CODES.get(array.dtype.str.replace(">", "<"))
    if code is None:
        known = ", ".join(dtype.name for dtype in DTYPES.values())
        raise InvalidTypeError(f"array {name!r} must have one of the dtypes {known}, got {array.dtype}")
    return code


def _text_of(file: IO[bytes], size: int) -> bytes:
    if size == 0:
        raise StoreError("is empty")
    if size <= 8:
        raise StoreError(f"is cut short: more than 8 bytes are required, got {size}")
    start = file.read(9)
    if start[8:] != b"{":
        raise StoreError(f"is not a file of ialspp, with arrays in the safetensors layout{_guess(start[:8])}")
    length = int.from_bytes(start[:8], "little")
    if length > MAX_LENGTH:
        raise corrupted_header(f"it may have {MAX_LENGTH:,} bytes, got {length:,}")
    file.seek(8)
    text = file.read(length) if size >= 8 + length else b""
    if len(text) < length:
        raise StoreError(
            f"is cut short: {8 + length:,} bytes are required for its header alone, got {size:,}"
        )
    return text


def _guess(start: bytes) -> str:
    for magic, what in _OTHER_FORMATS.items():
        if start.startswith(magic):
            return f"; it looks like {what}"
    is_text = all(byte >= 32 or byte in b"\t\r\n" for byte in start)
    return "; it looks like text" if is_text else ""


def _metadata_of(content: dict[str, Any]) -> dict[str, str]:
    metadata = content.pop(METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise corrupted_header("metadata must be text by name")
    return metadata


def _check_own_checksum(text: bytes, metadata: dict[str, str]) -> None:
    """Check the header's checksum. A file of another tool has none; ours has both kinds of checksum."""
    if CHECKSUMS not in metadata and HEADER_CHECKSUM not in metadata:
        return
    found = _places_of_own_checksum(text)
    if len(found) == 1:
        [(begin, end)] = found
        whole = memoryview(text)
        if metadata.get(HEADER_CHECKSUM) == checksum(whole[:begin], _BLANK.encode(), whole[end:]):
            return
    raise corrupted_header("its checksum is wrong")


def _places_of_own_checksum(text: bytes) -> list[tuple[int, int]]:
    """Find the bytes of the header's checksum in a header: one place if it is right, up to two if not."""
    return [match.span(1) for match in islice(_OWN_CHECKSUM.finditer(text), 2)]


def _places_of(content: dict[str, Any], start: int) -> dict[str, Place]:
    if len(content) > MAX_ARRAYS:
        raise corrupted_header(f"it may have {MAX_ARRAYS:,} arrays, got {len(content):,}")
    places = {name: _place(name, said, start) for name, said in content.items()}
    places = dict(sorted(places.items(), key=lambda item: (item[1].start, item[1].end)))
    for name, place in places.items():
        if place.start != start:
            raise corrupted_header(f"array {name!r} must start at byte {start:,}, got {place.start:,}")
        start = place.end
    return places


def _place(name: str, said: object, first: int) -> Place:
    if len(name) > MAX_NAME:
        raise corrupted_header(f"the name of an array may have {MAX_NAME} characters, got {len(name):,}")
    match said:
        case {"dtype": str(code), "shape": [*shape], "data_offsets": [start, end]}:
            pass
        case _:
            raise corrupted_header(f"array {name!r} must have a dtype, a shape and two data_offsets")
    if code not in DTYPES:
        raise StoreError(f"has an array {name!r} of dtype {code[:20]}; known are {', '.join(DTYPES)}")
    numbers = [*shape, start, end]
    if len(shape) > MAX_DIMENSIONS or not all(type(n) is int and 0 <= n < 2**63 for n in numbers):
        raise corrupted_header(f"array {name!r} has an impossible shape or impossible data_offsets")
    required = math.prod(shape) * DTYPES[code].itemsize
    if end - start != required:
        raise corrupted_header(
            f"array {name!r} must have {required:,} bytes for its shape, got {end - start:,}"
        )
    return Place(DTYPES[code], tuple(shape), first + start, first + end)


def _checksums_of(metadata: dict[str, str], places: dict[str, Place]) -> dict[str, str] | None:
    """Take the checksum of each array out of the metadata."""
    metadata.pop(HEADER_CHECKSUM, None)
    text = metadata.pop(CHECKSUMS, None)
    if text is None:
        return None
    checksums = parsed_object(text)
    if checksums.keys() != places.keys():
        raise corrupted_header("its checksums must be those of its arrays")
    return checksums
