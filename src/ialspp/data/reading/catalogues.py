"""Read a table about users or items: text in any encoding, Parquet or Arrow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ...errors import InvalidValueError
from .encoding import UTF8, checked_encoding, in_utf8
from .faults import polars_errors
from .file_set import FileSet, separator_of, tell_format
from .lines import check_width
from .opening import files_of, unchanged
from .querying import load_polars

QUOTED = (",", ";")  # separators of files in which quotes have a meaning, as a rule
Table = TypeVar("Table")


def read_catalogue(
    path: str | Path,
    read: Callable[[FileSet], Table],
    *,
    encoding: str,
    format: str | None,
    separator: str | None,
    header: bool | None,
    named: bool,
) -> Table:
    """Return what `read` makes of a file, a folder or a pattern.

    named: whether columns are given by name, so that there is a header unless `header` says otherwise.
    """
    codec = checked_encoding(encoding)
    files = files_of(path)
    load_polars()
    if tell_format(files, format) != "csv":
        if codec != UTF8:
            raise InvalidValueError(f"{files[0]}: encoding={encoding!r} is for text, and this is not text")
        return _read(path, files, read, format, separator, header, named)
    with unchanged(files), in_utf8(files, codec) as readable:
        return _read(path, readable, read, format, separator, header, named)


def _read(
    path: str | Path,
    files: tuple[Path, ...],
    read: Callable[[FileSet], Table],
    format: str | None,
    separator: str | None,
    header: bool | None,
    named: bool,
) -> Table:
    with unchanged(files):
        with polars_errors(path):
            is_text = tell_format(files, format) == "csv"
            separator = separator or (separator_of(files[0]) if is_text else None)
            source = FileSet.of(files, format, separator, header, '"' if separator in QUOTED else None, named)
        with polars_errors(path, source):
            return read(source)


def columns_in(source: FileSet) -> dict[str, object]:
    """Return the names and types of the columns; raise if a later line of text has more than the first."""
    kinds = source.schema()
    if source.is_text and len(kinds) != (width := len(source.first_record().fields)):
        check_width(source, None, width)
    return kinds
