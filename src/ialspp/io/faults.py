"""The line, the column and the value that an error is about.

Reading goes by columns, in batches, and does not count lines. Only when something is wrong is the text gone
through once more, record by record.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from .columns import Columns
from .source import Source

_REPLACED = "\ufffd"  # what stands where bytes were not UTF-8


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a text file, and the line it ends on."""

    file: Path
    line: int
    fields: list[str]

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}"


def records(source: Source) -> Iterator[Record]:
    """All records but headers, of all files, in order; a blank line is a record without fields."""
    limit = csv.field_size_limit(2**31 - 1)
    try:
        for file in source.files:
            reader = csv.reader(
                (line + "\n" for line in source.lines(file)),
                delimiter=source.separator[0],
                quotechar=source.quote,
                quoting=csv.QUOTE_NONE if source.quote is None else csv.QUOTE_MINIMAL,
            )
            for number, fields in enumerate(reader):
                if number or not source.header:
                    yield Record(file, reader.line_num, fields[:: source.stride])
    finally:
        csv.field_size_limit(limit)


def blank_rows(source: Source) -> set[int]:
    """Numbers of the rows that are blank lines."""
    if not source.is_text:
        return set()
    return {row for row, record in enumerate(records(source)) if not record.fields}


def fault_at(source: Source, row: int, column: str, value: object, required: str) -> ValueError:
    """The value of one row is not what is required."""
    place = f"{source.files[0] if len(source.files) == 1 else 'the files together'}, row {row}"
    if source.is_text:
        record = next(r for number, r in enumerate(records(source)) if number == row)
        place = str(record)
    what = "is missing" if value is None else f"must be {required}, but is {value!r}"
    return ValueError(f"{place}: column {column!r} {what}")


def check_width(source: Source, rows: set[int], width: int) -> None:
    """These rows must have all their fields."""
    for number, record in enumerate(records(source)):
        if number in rows and 0 < len(record.fields) < width:
            raise _wrong_width(record, width)


def first_fault(source: Source, columns: Columns, error: Exception) -> ValueError:
    """What polars could not read, as a line and a value; its own words where nothing is found."""
    width = len(columns.file_names)
    if source.is_text:
        numbers = {
            name: columns.file_names.index(name)
            for role, name in columns.names.items()
            if columns.is_number(role)
        }
        for record in records(source):
            if record.fields and len(record.fields) != width:
                return _wrong_width(record, width)
            for field in record.fields:
                if _REPLACED in field:
                    return ValueError(f"{record}: text must be UTF-8, got {field!r}")
            for name, place in numbers.items():
                if record.fields and record.fields[place] and not _is_number(record.fields[place]):
                    value = record.fields[place]
                    return ValueError(f"{record}: column {name!r} must be a number, but is {value!r}")
    for file in source.files[1:]:
        kinds = replace(source, files=(file,)).scan().collect_schema()
        for role, name in columns.names.items():
            if name in kinds and kinds[name] != columns.kinds[role]:
                before = f"in {source.files[0]} it is {columns.kinds[role]}"
                return ValueError(f"{file}: column {name!r} is {kinds[name]}, but {before}")
    return ValueError(f"{source.files[0]}: {str(error).splitlines()[0]}")


def _wrong_width(record: Record, width: int) -> ValueError:
    shown = record.fields if len(record.fields) <= width else record.fields[: width + 1]
    return ValueError(f"{record}: {width} fields are required, got {len(record.fields)}: {shown}")


def _is_number(text: str) -> bool:
    try:
        return not math.isnan(float(text)) or text.strip().lower() == "nan"
    except ValueError:
        return False
