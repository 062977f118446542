"""Read a file of ids and names, in any format and encoding."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InvalidValueError
from ..naming import NameTable
from .columns import named_column
from .encoding import UTF8, checked_encoding, in_utf8
from .faults import polars_errors
from .file_set import ROW, FileSet, separator_of, tell_format
from .limits import check_rows
from .lines import check_width
from .opening import files_of, unchanged
from .querying import load_polars, whole_batches

if TYPE_CHECKING:
    import polars as pl

BATCH = 2**16  # rows at a time
QUOTED = (",", ";")  # separators of files in which quotes have a meaning, as a rule


def read_names(
    path: str | Path,
    *,
    id: str | int = 0,
    name: str | int = 1,
    encoding: str = UTF8,
    format: str | None = None,
    separator: str | None = None,
    header: bool | None = None,
) -> NameTable:
    """Read ids and names from a file: text in any encoding, Parquet or Arrow.

    Give what it returns to `Interactions.with_names` or `ImplicitMF.set_names`. An id of the file belongs to
    the user or item whose id is written in the same way, whether that is an integer or a string.

    Parameters
    ----------
    path
        A file, a folder of files, or a pattern such as "catalogue/*.csv". Text may be compressed.
    id, name
        Columns: by name, or by position, counted from 0.
    encoding
        The encoding of text: "utf-8", "latin-1", "cp1252", or any other that Python knows.
    format
        "csv", "parquet" or "arrow". If not given, the suffix says it; an unknown suffix is text.
    separator
        Between fields of text: one character or "::". If not given, the suffix or the first line says it.
        Quotes around a field have a meaning if it is a comma or a semicolon.
    header
        Whether the first line of text holds names of columns. If not given: yes if a column is given by name.
    """
    codec = checked_encoding(encoding)
    files = files_of(path)
    load_polars()
    if tell_format(files, format) != "csv":
        if codec != UTF8:
            raise InvalidValueError(f"{files[0]}: encoding={encoding!r} is for text, and this is not text")
        return _read(path, files, id, name, format, separator, header)
    with unchanged(files), in_utf8(files, codec) as readable:
        return _read(path, readable, id, name, format, separator, header)


def _read(
    path: str | Path,
    files: tuple[Path, ...],
    id: str | int,
    name: str | int,
    format: str | None,
    separator: str | None,
    header: bool | None,
) -> NameTable:
    named = isinstance(id, str) or isinstance(name, str)
    with unchanged(files):
        with polars_errors(path):
            is_text = tell_format(files, format) == "csv"
            separator = separator or (separator_of(files[0]) if is_text else None)
            source = FileSet.of(files, format, separator, header, '"' if separator in QUOTED else None, named)
        with polars_errors(path, source):
            return _collected(source, _query(source, {"id": id, "name": name}))


def _query(source: FileSet, roles: dict[str, str | int]) -> pl.LazyFrame:
    """Query both columns as text, and the number of each row."""
    import polars as pl

    kinds = source.schema()
    if source.is_text and len(kinds) != (width := len(source.first_record().fields)):
        check_width(source, None, width)  # a later line has more fields than the first
    chosen = {
        role: named_column(source.files[0], role, column, list(kinds)) for role, column in roles.items()
    }
    for role, column in chosen.items():
        kind = kinds[column]
        if not (source.is_text or kind.is_integer() or kind in (pl.String, pl.Categorical, pl.Enum)):
            raise InvalidValueError(
                f"{source.files[0]}: column {roles[role]!r} must be integers or strings, but is {kind}"
            )
    rows = source.scan(dict.fromkeys(kinds, pl.String()) if source.is_text else None)
    return rows.select(ROW, *(pl.col(column).cast(pl.String).alias(role) for role, column in chosen.items()))


def _collected(source: FileSet, query: pl.LazyFrame) -> NameTable:
    import polars as pl

    if not source.is_text:
        check_rows(source.files, int(source.scan().select(pl.len()).collect().item()))
    ids: list[str] = []
    names: list[str] = []
    for batch in whole_batches(query, BATCH):
        there = batch.drop_nulls().filter(pl.col("name") != "")  # a row without a name says nothing
        ids += there["id"].to_list()
        names += there["name"].to_list()
    return NameTable(ids, names)
