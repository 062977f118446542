"""Errors that name the file, the line or row, the column and the value."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import InvalidValueError
from .columns import Columns
from .file_set import FileSet
from .lines import kind_of, wrong_width
from .text import Record, shown

REPLACED = "\ufffd"  # stands in for bytes that are not UTF-8


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
    except pl.exceptions.PanicException as error:  # not an Exception: polars calls it a bug of its own
        raise InvalidValueError(f"{path}: the file is damaged: {str(error)[:200]}") from error
    except pl.exceptions.PolarsError as error:
        if source is None:
            raise InvalidValueError(f"{path}: {str(error).splitlines()[0]}") from error
        raise first_fault(source, columns, error) from error
    except OSError as error:  # for example, of a compressed file that is cut short
        if error.filename is not None or str(path) in str(error):  # another file, or this one
            raise
        raise OSError(f"{path}: {error}") from error


def fault_at(source: FileSet, row: int, what: str, value: object, required: str) -> InvalidValueError:
    """The error for a value of one row that is not what is required; None is a missing value."""
    fault = "has no value" if value is None else f"must be {required}, but is {value!r}"
    return InvalidValueError(f"{place_of(source, row)}: {what} {fault}")


def not_utf8(place: str, text: str) -> InvalidValueError:
    """The error for text in which bytes were replaced because they are not UTF-8."""
    return InvalidValueError(
        f"{place}: text must be UTF-8, got {shown(text)}; convert it, for example with "
        "`iconv -f latin1 -t utf8`"
    )


def place_of(source: FileSet, row: int) -> str:
    """Name the file and the line of a row, or the row of the file where there are no lines."""
    return _line_of(source, row) if source.is_text else _file_and_row(source, row)


def first_fault(source: FileSet, columns: Columns | None, error: Exception) -> InvalidValueError:
    """Find the line and value that polars could not read; repeat its own words if none is found."""
    if source.is_text:
        width = 0 if columns is None else len(columns.file_names)
        for record in source.records():
            width = width or len(record.fields)
            fault = _fault_of(record, width, columns) if record.fields else None
            if fault:
                return fault
    hint = "; if quotes have no meaning in this file, pass quote=None" if "malformed" in str(error) else ""
    file, words = _damaged_file(source, str(error))
    return InvalidValueError(f"{file}: {words.splitlines()[0]}{hint}")


def _damaged_file(source: FileSet, words: str) -> tuple[Path | str, str]:
    """Find the file that polars cannot read: where there are several, its words name none, or another one."""
    import polars as pl

    if len(source.files) == 1 or source.is_text:
        return source.files[0], words
    for one in source.each_file():
        try:
            one.scan().select(pl.all().null_count()).collect(engine="streaming")
        except pl.exceptions.PolarsError as fault:
            return one.files[0], str(fault)
    return f"one of {len(source.files)} files, of which {source.files[0]} is the first", words


def _fault_of(record: Record, width: int, columns: Columns | None) -> InvalidValueError | None:
    if len(record.fields) != width:
        return wrong_width(record, width)
    for field in record.fields:
        if REPLACED in field:
            return not_utf8(str(record), field)
    return None if columns is None else _wrong_value(record, columns)


def _wrong_value(record: Record, columns: Columns) -> InvalidValueError | None:
    for column, name, required in columns.required_texts():
        value = record.fields[columns.file_names.index(name)]
        if value and kind_of(value) != required:
            return InvalidValueError(f"{record}: column {column!r} must be {required}, but is {shown(value)}")
    return None


def _line_of(source: FileSet, row: int) -> str:
    found = (str(record) for number, record in enumerate(source.records()) if number == row)
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
