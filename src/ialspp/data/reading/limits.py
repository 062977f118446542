"""Limits of files, checked before polars reads them: polars holds a whole line in memory, several times over.

Nothing here takes more memory than a few pieces of a file, whatever the file holds or expands to.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ...errors import InvalidValueError
from ...files.format import KINDS, name_in
from .pieces import is_compressed, pieces_of

LONGEST_LINE = 2**20  # bytes; a row of a table has a hundred, or ten thousand if there is a review in it
MOST_EXPANSION = 100  # of compressed text; tables of interactions expand to 3 to 20 times their size
SMALL = 2**24  # bytes of text, or rows, that may come from a compressed file of any size
MOST_ROWS_PER_BYTE = 100  # of Parquet and Arrow; ids that differ from row to row take a bit each, or more
_PROBE = 2**12
_OTHER_KINDS = {
    b"PK\x03\x04": "a zip archive, or a spreadsheet; unpack or export it first",
    b"PAR1": 'Parquet; give format="parquet"',
    b"ARROW1": 'Arrow; give format="arrow"',
}
_READ_BY = {
    "ialspp": "ImplicitMF.load",
    "ialspp data": "Interactions.open",
    "ialspp checkpoint": "ImplicitMF.resume",
}
_JSON = (".json", ".jsonl", ".ndjson")


def check_text(file: Path) -> None:
    """Raise if this is no text or UTF-16, has a line that is too long, or expands beyond all measure."""
    start = next(pieces_of(file), b"")[:_PROBE]
    _check_kind(file, start)
    _check_encoding(file, start)
    check_lines(file)


def check_lines(file: Path) -> None:
    """Raise if text in any encoding has a line that is too long, or expands beyond all measure."""
    if is_compressed(file) or not _has_newlines(file):
        _check_lines(file)


def _check_kind(file: Path, start: bytes) -> None:
    """Raise if a file that is to be read as a table of text starts like one of another kind."""
    ours = name_in(start)
    if ours is not None:
        raise InvalidValueError(
            f"{file}: a table is required, but this is {KINDS[ours]}, which {_READ_BY[ours]} reads"
        )
    for sign, what in _OTHER_KINDS.items():
        if start.startswith(sign):
            raise InvalidValueError(f"{file}: a table is required, but this is {what}")
    if file.suffix.lower() in _JSON and start.lstrip()[:1] in (b"{", b"["):
        raise InvalidValueError(
            f"{file}: a table is required, but this is JSON; read it with polars.read_ndjson or "
            "polars.read_json, and give the result to Interactions.from_dataframe"
        )


def _check_encoding(file: Path, start: bytes) -> None:
    """Raise if text starts like UTF-16: by its byte order mark, or because every second byte is NUL."""
    even, odd = start[::2].count(0), start[1::2].count(0)
    has_nuls = max(even, odd) > len(start) // 4 > 0 and min(even, odd) * 8 < max(even, odd)
    if has_nuls or start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidValueError(
            f"{file}: text must be UTF-8, but this looks like UTF-16; convert it, "
            "for example with iconv -f UTF-16 -t UTF-8"
        )


def _has_newlines(file: Path) -> bool:
    """Whether every half of the longest line has the end of a line, so that no line is too long.

    Only the first bytes of each half are read, if the end of a line is among them.
    """
    half = LONGEST_LINE // 2
    with file.open("rb", buffering=0) as stream:
        for start in range(0, os.fstat(stream.fileno()).st_size, half):
            for length in (_PROBE, half):
                stream.seek(start)
                if b"\n" in stream.read(length):
                    break
            else:
                return False
    return True


def _check_lines(file: Path) -> None:
    most = max(SMALL, MOST_EXPANSION * file.stat().st_size)
    length = total = 0  # of the line, and of all text so far
    for piece in pieces_of(file):
        first = piece.find(b"\n")
        if length + (len(piece) if first < 0 else first) > LONGEST_LINE:
            line = 1 + _newlines(file, total)
            raise InvalidValueError(
                f"{file}, line {line}: a line may have {LONGEST_LINE:,} bytes, but this one has more"
            )
        length = length + len(piece) if first < 0 else len(piece) - piece.rfind(b"\n") - 1
        total += len(piece)
        if total > most:
            raise InvalidValueError(
                f"{file}: compressed text may expand to {MOST_EXPANSION} times its size, but this expands to "
                "more; if it is meant to, decompress it and read the result"
            )


def _newlines(file: Path, end: int) -> int:
    """Count the ends of lines in the pieces before `end`."""
    count = place = 0
    for piece in pieces_of(file):
        if place >= end:
            break
        count, place = count + piece.count(b"\n"), place + len(piece)
    return count


def most_rows(size: int) -> int:
    """How many rows a Parquet or Arrow file of this many bytes may have."""
    return SMALL + MOST_ROWS_PER_BYTE * size


def check_rows(files: Sequence[Path], rows: int) -> None:
    """Raise if Parquet or Arrow files have more rows than data of that size can have."""
    size = sum(file.stat().st_size for file in files)
    if rows > most_rows(size):
        raise InvalidValueError(
            f"{files[0]}: {rows:,} rows cannot be in {size:,} bytes, unless all are alike"
        )
