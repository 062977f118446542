"""Text as lines and records, to read headers and to find the line that an error is about.

Data itself is read by column, in batches, without counting lines. Only if something is wrong is the text read
again, record by record.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InvalidValueError
from .limits import LONGEST_LINE
from .opening import address
from .pieces import pieces_of

if TYPE_CHECKING:
    import polars as pl

LONGEST_SHOWN = 80  # characters of a value in a message
_NEVER = "\0"  # a separator that text does not contain, so that the whole line is one field


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a text file, and the line it starts on."""

    file: Path
    line: int
    fields: list[str]  # empty for a blank line

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}"


def shown(value: str) -> str:
    """Quote a value for a message, and cut a long one short."""
    cut = value[:LONGEST_SHOWN]
    return repr(value) if cut == value else f"{cut!r}... ({len(value):,} characters)"


def line_frame(file: Path, *, skip: int = 0, lenient: bool = False) -> pl.LazyFrame:
    """Query the column "line"; blank lines are null, and bytes that are not UTF-8 are replaced.

    lenient: cut a line off at a NUL instead of raising.
    """
    import polars as pl

    return pl.scan_csv(
        address(file),
        separator=_NEVER,
        has_header=False,
        quote_char=None,
        schema={"line": pl.String},
        encoding="utf8-lossy",
        raise_if_empty=False,
        skip_lines=skip,
        truncate_ragged_lines=lenient,
        glob=False,
    )


def lines(file: Path) -> Iterator[str]:
    """Yield the lines of a file as polars splits them; bytes that are not UTF-8 are replaced."""
    rest = b""
    is_first = True
    for piece in pieces_of(file):
        *whole, rest = (rest + piece).split(b"\n")
        if len(rest) > LONGEST_LINE:
            raise InvalidValueError(f"{file}: a line may have {LONGEST_LINE:,} bytes, but one has more")
        for line in whole:
            yield _decoded(line, is_first)
            is_first = False
    if rest:
        yield _decoded(rest, is_first)


def _decoded(line: bytes, is_first: bool) -> str:
    text = line.removesuffix(b"\r").decode(errors="replace")
    return text.removeprefix("\ufeff") if is_first else text  # a byte order mark


def first_line(file: Path) -> str:
    """Return the first line that is not blank."""
    for line in lines(file):
        if line:
            return line
    raise InvalidValueError(f"{file}: the file is empty")


def leading_blanks(file: Path) -> int:
    """Count the blank lines at the start."""
    for number, line in enumerate(lines(file)):
        if line:
            return number
    raise InvalidValueError(f"{file}: the file is empty")


def records(file: Path, separator: str, quote: str | None) -> Iterator[Record]:
    """Yield all records, the header among them; raise at a malformed one."""
    if separator == "::":
        for number, line in enumerate(lines(file), 1):
            yield Record(file, number, line.split("::") if line else [])
        return
    limit = csv.field_size_limit(LONGEST_LINE)
    start = 1
    try:
        reader = _reader((line + "\n" for line in lines(file)), separator, quote)
        for fields in reader:
            yield Record(file, start, fields)
            start = reader.line_num + 1
    except csv.Error as error:
        raise InvalidValueError(f"{file}, line {start}: {error}") from error
    finally:
        csv.field_size_limit(limit)


def _reader(text: Iterable[str], separator: str, quote: str | None) -> Any:
    return csv.reader(
        text,
        delimiter=separator,
        quotechar=quote,
        quoting=csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL,
        strict=True,
    )
