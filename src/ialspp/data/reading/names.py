"""Read a file of ids and names, in any format and encoding."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InvalidValueError
from ..naming import NameTable
from .catalogues import columns_in, read_catalogue
from .columns import named_column
from .encoding import UTF8
from .file_set import ROW, FileSet
from .limits import check_rows
from .querying import whole_batches

if TYPE_CHECKING:
    import polars as pl

BATCH = 2**16  # rows at a time


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
    id
        The column of ids: by name, or by position, counted from 0.
    name
        The column of names: by name, or by position.
    encoding
        The encoding of text: "utf-8", "latin-1", "cp1252", or any other that Python knows.
    format
        "csv", "parquet" or "arrow". If not given, the suffix says it; an unknown suffix is text.
    separator
        Between fields of text: one character or "::". If not given, the suffix or the first line says it.
        Quotes around a field have a meaning if it is a comma or a semicolon.
    header
        Whether the first line of text holds names of columns. If not given: yes if a column is given by name.

    Examples
    --------
    >>> names = read_names("products.csv", id="product", name="name")
    >>> data.with_names(items=names).items.labels([0, 1, 2])
    ['Fresh milk', 'Brown rice', 'Green tea']
    """
    roles = {"id": id, "name": name}
    return read_catalogue(
        path,
        lambda source: _collected(source, _query(source, roles)),
        encoding=encoding,
        format=format,
        separator=separator,
        header=header,
        named=isinstance(id, str) or isinstance(name, str),
    )


def _query(source: FileSet, roles: dict[str, str | int]) -> pl.LazyFrame:
    """Query both columns as text, and the number of each row."""
    import polars as pl

    kinds: dict[str, Any] = columns_in(source)
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
