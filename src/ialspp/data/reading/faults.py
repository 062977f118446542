"""Errors that name the file, the line or row, the column and the value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InvalidValueError
from .file_set import FileSet
from .text import Record, line_frame, records

if TYPE_CHECKING:
    from .columns import Columns

_REPLACED = "\ufffd"  # stands in for bytes that are not UTF-8
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|infinity)", re.IGNORECASE)


@contextmanager
def polars_errors(
    path: str | Path, source: FileSet | None = None, columns: Columns | None = None
) -> Iterator[None]:
    """Turn polars' errors of reading into ours, which say what is required, what came, and where."""
    import polars as pl

    try:
        yield
    except pl.exceptions.NoDataError as error:
        raise InvalidValueError(f"{path}: the file is empty") from error
    except pl.exceptions.PolarsError as error:
        if source is None:
            raise InvalidValueError(f"{path}: {str(error).splitlines()[0]}") from error
        raise first_fault(source, columns, error) from error
    except OSError as error:  # for example, of a compressed file that is cut short
        if str(path) in str(error):
            raise
        raise OSError(f"{path}: {error}") from error


def fault_at(source: FileSet, row: int, column: str | int, value: object, required: str) -> InvalidValueError:
    """The error for the value of one row that is not what is required; None is a missing value."""
    place = _line_of(source, row) if source.is_text else _file_and_row(source, row)
    what = "is missing" if value is None else f"must be {required}, but is {value!r}"
    return InvalidValueError(f"{place}: column {column!r} {what}")


def check_width(source: FileSet, rows: set[int] | None, width: int) -> None:
    """Raise unless these rows, or all rows if None, have `width` fields."""
    if rows is not None and all(_has_width(source, row, width) for row in rows):
        return
    for number, record in enumerate(records(source)):
        if (rows is None or number in rows) and len(record.fields) not in (0, width):
            raise _wrong_width(record, width)


def _has_width(source: FileSet, row: int, width: int) -> bool:
    """Look at one line only, which is quick. If rows are not lines, this is False and all are checked."""
    if len(source.files) > 1:
        return False
    place = source.blanks[0] + source.header + row
    found = line_frame(source.files[0], lenient=True).slice(place, 1).collect()
    return len(found) == 1 and (found.item() or "").count(source.separator) == width - 1


def first_fault(source: FileSet, columns: Columns | None, error: Exception) -> InvalidValueError:
    """Find the line and value that polars could not read; repeat its own words if none is found."""
    if source.is_text:
        width = 0 if columns is None else len(columns.file_names)
        for record in records(source):
            width = width or len(record.fields)
            fault = _fault_of(record, width, columns) if record.fields else None
            if fault:
                return fault
    hint = "; if quotes have no meaning in this file, pass quote=None" if "malformed" in str(error) else ""
    return InvalidValueError(f"{source.files[0]}: {str(error).splitlines()[0]}{hint}")


def _fault_of(record: Record, width: int, columns: Columns | None) -> InvalidValueError | None:
    if len(record.fields) != width:
        return _wrong_width(record, width)
    for field in record.fields:
        if _REPLACED in field:
            return InvalidValueError(f"{record}: text must be UTF-8, got {field!r}")
    return None if columns is None else _wrong_value(record, columns)


def _wrong_value(record: Record, columns: Columns) -> InvalidValueError | None:
    for role, name in columns.names.items():
        value, required = record.fields[columns.file_names.index(name)], columns.required_text(role)
        if value and required and _kind_of(value) != required:
            column = columns.requested[role]
            return InvalidValueError(f"{record}: column {column!r} must be {required}, but is {value!r}")
    return None


def check_times(source: FileSet, column: str | int, place: int, *, guessed: bool) -> None:
    """Raise unless times that are not numbers are ISO dates: others, such as 01/02/2026, are ambiguous.

    guessed: polars takes them for dates, so the first one decides.
    """
    required = None
    for record in records(source):
        value = record.fields[place] if place < len(record.fields) else ""
        kind = _kind_of(value)
        if value and (kind is None or kind != (required or kind)):
            wanted = required or "Unix seconds or an ISO date such as 2026-01-31"
            raise InvalidValueError(f"{record}: column {column!r} must be {wanted}, but is {value!r}")
        required = required or kind
        if required and guessed:
            return
    if required:
        raise InvalidValueError(
            f"{source.files[0]}: column {column!r} must be Unix seconds or dates, but is text"
        )


def _kind_of(value: str) -> str | None:
    """What the text stands for, in the words of `Columns.required_text`; None if neither."""
    value = value.strip()
    if _NUMBER.fullmatch(value):
        return "a number"
    try:
        datetime.fromisoformat(value.removesuffix("Z"))
    except ValueError:
        return None
    return "a date" if len(value) == len("2026-01-01") else "a date and time"


def _line_of(source: FileSet, row: int) -> str:
    found = (str(record) for number, record in enumerate(records(source)) if number == row)
    return next(found, f"{source.files[0]}, row {row}")


def _file_and_row(source: FileSet, row: int) -> str:
    """Name the file and its own row; `row` is counted over all files."""
    import polars as pl

    for one in source.each_file():
        count = one.scan().select(pl.len()).collect().item()
        if row < count:
            return f"{one.files[0]}, row {row}"
        row -= count
    return f"row {row}"


def _wrong_width(record: Record, width: int) -> InvalidValueError:
    shown = record.fields[: width + 1]
    return InvalidValueError(f"{record}: {width} fields are required, got {len(record.fields)}: {shown}")
