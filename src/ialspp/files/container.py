"""Named arrays and text in one file that is mapped, not read.

The layout is that of safetensors. The safetensors package copies each array it gives to numpy, and keeps no
checksums. Here arrays are views of the mapped file, and each starts at a multiple of 64 bytes. The layout
allows no holes, so the bytes between arrays are arrays too: "padding.0", "padding.1", ...
"""

from __future__ import annotations

import hashlib
import json
import mmap
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValueError
from ..system.checksum import CHUNK, crc32
from .atomic import whole_file
from .header import (
    ALIGNMENT,
    CHECKSUMS,
    HEADER_CHECKSUM,
    METADATA,
    Header,
    NamedArrays,
    Place,
    checksum,
    header_bytes,
)
from .mapped import ArrayPlace, MappedFile
from .parsing import StoreError, corrupted_header
from .regular import regular_file
from .version import FileVersion

__all__ = ["Container", "StoreError", "write"]

Memory = mmap.mmap | memoryview  # the bytes of a file
_PADDING = re.compile(r"padding\.[0-9]+")


def write(
    path: Path,
    arrays: NamedArrays,
    metadata: Mapping[str, str],
    report: Callable[[int], None] = lambda _written: None,
    instead_of: Collection[FileVersion] | None = None,
) -> FileVersion:
    """Write arrays and text to one file, atomically, and return its version. Same input, same bytes.

    Parameters
    ----------
    path
        The file to write or replace.
    arrays
        Arrays of numbers by name, in the order of the file. An array that is not C-contiguous and
        little-endian is copied while it is written; the others are not.
    metadata
        Text by name.
    report
        Called from time to time with the number of bytes written.
    instead_of
        The versions of the file that may be replaced. Another one at `path` is a `FileChangedError`.
    """
    _check_names(arrays, metadata)
    parts = _padded(arrays)
    unfinished = header_bytes(parts, metadata, dict.fromkeys(parts, checksum(b"")))
    with whole_file(path, instead_of=instead_of) as file:
        file.write(bytes(len(unfinished)))  # for the header, whose length does not depend on the checksums
        checksums = {name: _append(file, array, report) for name, array in parts.items()}
        file.seek(0)
        file.write(header_bytes(parts, metadata, checksums))
        file.flush()
        return FileVersion.of(file.fileno())


Opened = TypeVar("Opened", bound="Container")


class Container:
    """The arrays and the text of a file. The arrays are read-only views of it, mapped or read into memory.

    A mapped file stays mapped while the container or one of its arrays exists, also if it is replaced or
    deleted. If it is overwritten in place, the arrays change, and if it gets shorter the process dies.
    """

    __slots__ = ("_header", "_is_sound", "_memory", "arrays", "path", "version")

    path: Path
    version: FileVersion
    arrays: NamedArrays

    def __init__(self, path: Path, version: FileVersion, header: Header, memory: Memory) -> None:
        self.path, self.version = path, version
        self._header = header
        self._memory = memory
        self._is_sound = False  # whether `verify` found no fault
        self.arrays = {
            name: _view(memory, name, place)
            for name, place in header.places.items()
            if header.checksums is None or not _PADDING.fullmatch(name)
        }
        if isinstance(memory, MappedFile):
            memory.source = path.absolute(), self.checksum

    @classmethod
    def open(cls: type[Opened], path: Path, *, mapped: bool = True) -> Opened:
        """Open a file of `write`, or of another tool, and check everything but the contents of the arrays.

        A `StoreError` says what is wrong with the file. mapped=False reads it into memory.
        """
        with regular_file(path) as file:
            version = FileVersion.of(file.fileno())
            try:
                header = Header.read(file, version.size)
                _check_size(version.size, header.file_size)  # before memory of that size is taken
                memory = _mapped(file) if mapped else _read(file, version.size)
                _check_size(len(memory), header.file_size)  # the file may have become shorter meanwhile
                return cls(path, version, header, memory)
            except StoreError as error:
                raise StoreError(f"{path} {error}") from error.__cause__

    @property
    def metadata(self) -> dict[str, str]:
        """The text of the file, by name."""
        return self._header.metadata

    @property
    def checksum(self) -> str:
        """Sixteen hexadecimal digits that tell contents apart: made from the text and all checksums."""
        said = json.dumps([self.metadata, self._header.checksums], sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    def array_at(self, place: ArrayPlace) -> NDArray[Any]:
        """Return what `place_of` has described, in this process or another."""
        return np.ndarray(place.shape, place.dtype, self._memory, place.offset)

    def layout(self) -> dict[str, dict[str, Any]]:
        """Describe the arrays by name, as plain values."""
        return {
            name: {"dtype": str(array.dtype), "shape": list(array.shape), "bytes": array.nbytes}
            for name, array in self.arrays.items()
        }

    @contextmanager
    def read_in_order(self, names: Iterable[str]) -> Iterator[None]:
        """Tell the system that these arrays are read from their first number to their last, again and again.

        The system then reads them ahead, and when memory is short it drops what was read before anything
        else. This is advice about a mapped file: it changes no result.
        """
        memory = self._memory
        if not isinstance(memory, mmap.mmap) or not hasattr(mmap, "MADV_SEQUENTIAL"):
            yield
            return
        places = [self._header.places[name] for name in names if name in self._header.places]
        pages = [(place.start // mmap.PAGESIZE * mmap.PAGESIZE, place.end) for place in places]
        pages = [(begin, end) for begin, end in pages if begin < end]
        for begin, end in pages:
            memory.madvise(mmap.MADV_SEQUENTIAL, begin, end - begin)
        try:
            yield
        finally:
            for begin, end in pages:
                memory.madvise(mmap.MADV_NORMAL, begin, end - begin)

    def verify(self) -> None:
        """Read all arrays. A `StoreError` says which are wrong, or that there are no checksums."""
        if not self._is_sound or isinstance(self._memory, mmap.mmap):  # a mapped file can change at any time
            self._check_checksums()
        if not self._is_sound:
            self.check_content()
            self._is_sound = True

    def check_content(self) -> None:
        """Check the numbers in the arrays; a file whose kind is known has something to check."""

    def _check_checksums(self) -> None:
        checksums = self._header.checksums
        if checksums is None:
            raise StoreError(f"{self.path} has no checksums, so its arrays cannot be verified")
        memory = memoryview(self._memory)
        wrong = [
            repr(name)
            for name, place in self._header.places.items()
            if checksum(memory[place.start : place.end]) != checksums[name]
        ]
        if wrong:
            raise StoreError(f"{self.path} is corrupted: the checksum is wrong for {', '.join(wrong)}")


def _check_names(arrays: NamedArrays, metadata: Mapping[str, str]) -> None:
    taken = [name for name in arrays if name == METADATA or _PADDING.fullmatch(name)]
    taken += [key for key in metadata if key in (CHECKSUMS, HEADER_CHECKSUM)]
    if taken:
        raise InvalidValueError(f"the name {taken[0]!r} must be left to the file itself")
    for text in (*arrays, *metadata, *metadata.values()):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidValueError(f"names and metadata must be valid Unicode, got {text[:50]!r}") from error


def _padded(arrays: NamedArrays) -> dict[str, NDArray[Any]]:
    """Return the arrays together with the padding between them."""
    parts: dict[str, NDArray[Any]] = {}
    size = 0
    for number, (name, array) in enumerate(arrays.items()):
        gap = -size % ALIGNMENT
        if gap:
            parts[f"padding.{len(parts) - number}"] = np.zeros(gap, dtype=np.uint8)
        parts[name] = array
        size += gap + array.nbytes
    return parts


def _append(file: IO[bytes], array: NDArray[Any], report: Callable[[int], None]) -> str:
    """Write an array's bytes and return their checksum."""
    ordered = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    data = ordered.reshape(-1).view(np.uint8).data
    value = 0
    for start in range(0, len(data), CHUNK):
        chunk = data[start : start + CHUNK]
        value = crc32(chunk, value)
        file.write(chunk)
        report(file.tell())
    return f"{value:08x}"


def _mapped(file: IO[bytes]) -> MappedFile:
    try:
        return MappedFile(file.fileno(), 0, access=mmap.ACCESS_READ)
    except ValueError as error:
        raise StoreError("is empty") from error  # since a moment ago


def _read(file: IO[bytes], size: int) -> memoryview:
    """Read a file into memory, as aligned as a mapped one."""
    file.seek(0)
    room = np.empty(size + ALIGNMENT, dtype=np.uint8)
    first = -room.ctypes.data % ALIGNMENT
    memory = room.data[first : first + size]
    done = 0
    while done < size:  # in chunks, to notice Ctrl-C
        count = file.readinto(memory[done : done + CHUNK])  # type: ignore[attr-defined]  # IO lacks it
        if count == 0:
            return memory[:done].toreadonly()  # the file has become shorter
        done += count
    return memory.toreadonly()


def _view(memory: Memory, name: str, place: Place) -> NDArray[Any]:
    try:
        return np.ndarray(place.shape, place.dtype, memory, place.start)
    except ValueError as error:  # too many dimensions, or a huge one beside one of 0
        raise corrupted_header(f"array {name!r} has an impossible shape: {error}") from error


def _check_size(size: int, required: int) -> None:
    if size < required:
        raise StoreError(f"is cut short: {required:,} bytes are required, got {size:,}")
    if size > required:
        raise StoreError(f"has {size - required:,} bytes too many: {required:,} are required, got {size:,}")
