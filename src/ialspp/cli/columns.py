"""ialspp data show FILE, before the columns are known: their names, types and first values."""

from __future__ import annotations

from typing import Any

from ..data.reading.faults import polars_errors
from ..data.reading.file_set import EXTRA, ROW, FileSet
from ..data.reading.headers import look_like_names
from ..data.reading.opening import files_of, unchanged
from ..data.reading.querying import load_polars
from .output import remark, show_json, show_table, shown
from .signals import keep_signals_from_polars, signals_kept
from .source import Source, separator_of

VALUES = 3  # first values of a column
LONGEST = 40  # characters of a value


def show_columns(source: Source, *, as_json: bool) -> None:
    """Print the columns of a file, and which options read it."""
    with signals_kept():
        keep_signals_from_polars()
        files, columns = _columns_of(source)
    if as_json:
        show_json({"source": {"source": source.source}, "header": files.header, "columns": columns})
        return
    rows = [
        [str(place), column["name"], column["type"], ", ".join(map(_shortened, column["first"]))]
        for place, column in enumerate(columns)
    ]
    show_table(
        source.source,
        ["position", "name", "type", "first values"],
        rows,
        words=["name", "type", "first values"],
    )
    if files.is_text and source.header is None:
        line = "a header; --no-header if it is not" if files.header else "data; --header if it is a header"
        remark(f"the first line is taken for {line}")
    remark("--user COLUMN --item COLUMN, by name or position, count users and items")


def _columns_of(source: Source) -> tuple[FileSet, list[dict[str, Any]]]:
    paths = files_of(source.source)
    load_polars()
    separator = separator_of(source.separator)
    with unchanged(paths):
        with polars_errors(source.source):
            files = FileSet.of(paths, source.format, separator, source.header, '"', named=True)
            if files.is_text and source.header is None and not look_like_names(files.first_record().fields):
                files = FileSet.of(paths, source.format, separator, False, '"', named=False)
        with polars_errors(source.source, files):
            kinds = files.schema()
            frame = files.each_file()[0].scan().drop(ROW, EXTRA, strict=False).head(VALUES).collect()
    columns = [
        {"name": name, "type": _type_in_words(kind), "first": frame[name].cast(kind, strict=False).to_list()}
        for name, kind in kinds.items()
    ]
    return files, columns


def _type_in_words(kind: Any) -> str:
    """Say what a column of a polars type holds."""
    if kind.is_integer():
        return "integers"
    if kind.is_numeric():
        return "numbers"
    words = {"String": "text", "Date": "dates", "Boolean": "true or false"}
    return "dates and times" if str(kind).startswith("Datetime") else words.get(str(kind), str(kind))


def _shortened(value: Any) -> str:
    text = "(missing)" if value is None else shown(str(value))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
