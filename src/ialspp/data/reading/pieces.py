"""The bytes of a text file, piece by piece and decompressed, so that little memory is taken."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ...errors import InvalidValueError

PIECE = 2**19  # bytes, at most
_ZSTD = b"\x28\xb5\x2f\xfd"
_DEFLATED = (b"\x1f\x8b", b"x\x01", b"x^", b"x\x9c", b"x\xda")  # gzip and zlib


def is_compressed(file: Path) -> bool:
    """Whether polars decompresses this file; its first bytes say so, not its name."""
    return _first_bytes(file).startswith((_ZSTD, *_DEFLATED))


def pieces_of(file: Path) -> Iterator[bytes]:
    """Yield the text, decompressed as polars does it."""
    start = _first_bytes(file)
    with file.open("rb", buffering=0) as stream:
        try:
            if start == _ZSTD:
                yield from _unpacked_zstd(stream)
            else:
                yield from _inflated(stream) if start.startswith(_DEFLATED) else _plain(stream)
        except (zlib.error, EOFError) as error:
            raise InvalidValueError(f"{file}: the compressed text is damaged: {error}") from error


def _first_bytes(file: Path) -> bytes:
    with file.open("rb", buffering=0) as stream:
        return stream.read(4)


def _plain(stream: BinaryIO) -> Iterator[bytes]:
    while piece := stream.read(PIECE):
        yield piece


def _inflated(stream: BinaryIO) -> Iterator[bytes]:
    data = stream.read(PIECE)
    while data:  # one member of the file after another
        member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # gzip or zlib, as its first bytes say
        while not member.eof:
            if not data:
                raise EOFError("it ends too early")
            yield member.decompress(data, PIECE)
            data = member.unconsumed_tail or (b"" if member.eof else stream.read(PIECE))
        data = member.unused_data or stream.read(PIECE)


def _unpacked_zstd(stream: BinaryIO) -> Iterator[bytes]:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    data = stream.read(PIECE)
    while data:  # one frame of the file after another
        frame = zstd.ZstdDecompressor()
        while not frame.eof:
            if frame.needs_input and not data:
                raise EOFError("it ends too early")
            try:
                yield frame.decompress(data, PIECE)
            except zstd.ZstdError as error:
                raise EOFError(str(error)) from error
            data = stream.read(PIECE) if frame.needs_input and not frame.eof else b""
        data = frame.unused_data or stream.read(PIECE)
