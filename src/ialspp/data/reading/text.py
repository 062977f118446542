"""Text by lines and records: for headers, and for the line that an error is about.

Reading itself goes by columns, in batches, and does not count lines. Only when something is wrong is the text
gone through once more, record by record.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InvalidValueError

if TYPE_CHECKING:
    import polars as pl

    from .source import Source

_NEVER = "\0"  # a separator that text does not have: the whole line is one field


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a text file, and the line it starts on."""

    file: Path
    line: int
    fields: list[str]  # none: a blank line

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}"


def line_frame(file: Path, *, skip: int = 0, lenient: bool = False) -> pl.LazyFrame:
    """A column of lines; blank ones are missing, and what is not UTF-8 in them is replaced.

    lenient: what follows a NUL is cut off instead of an error.
    """
    import polars as pl

    return pl.scan_csv(
        file,
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
    """The lines of a file, one after the other."""
    start = "\ufeff"  # a byte order mark
    for batch in line_frame(file, lenient=True).collect_batches(maintain_order=True):
        for line in batch.to_series().to_list():
            yield "" if line is None else line.removeprefix(start)
            start = ""


def first_line(file: Path) -> str:
    """The first line that is not blank."""
    for line in lines(file):
        if line:
            return line
    raise InvalidValueError(f"{file}: the file is empty")


def leading_blanks(file: Path) -> int:
    """How many blank lines come first."""
    for number, line in enumerate(lines(file)):
        if line:
            return number
    raise InvalidValueError(f"{file}: the file is empty")


def first_record(source: Source) -> Record:
    """The header, or without one the first record, of the first file."""
    for record in _records(source.files[0], source):
        if record.fields:
            return record
    raise InvalidValueError(f"{source.files[0]}: the file is empty")


def records(source: Source) -> Iterator[Record]:
    """All records but headers, of all files, as polars counts rows; the first broken one is an error."""
    for file in source.files:
        yield from _without_header(_records(file, source), source.header)


def _without_header(found: Iterator[Record], header: bool) -> Iterator[Record]:
    started = False
    for record in found:
        if started or (record.fields and not header):
            yield record
        started = started or bool(record.fields)


def _records(file: Path, source: Source) -> Iterator[Record]:
    if source.separator == "::":
        for number, line in enumerate(lines(file), 1):
            yield Record(file, number, line.split("::") if line else [])
        return
    limit = csv.field_size_limit(2**31 - 1)
    start = 1
    try:
        reader = _reader((line + "\n" for line in lines(file)), source)
        for fields in reader:
            yield Record(file, start, fields)
            start = reader.line_num + 1
    except csv.Error as error:
        raise InvalidValueError(f"{file}, line {start}: {error}") from error
    finally:
        csv.field_size_limit(limit)


def _reader(text: Iterable[str], source: Source) -> Any:
    return csv.reader(
        text,
        delimiter=source.separator,
        quotechar=source.quote,
        quoting=csv.QUOTE_NONE if source.quote is None else csv.QUOTE_MINIMAL,
        strict=True,
    )
