"""Recognise the files that our commands wrote, so that no other file is replaced by mistake."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..data.prepared import is_prepared
from ..errors import InvalidValueError
from ..model.saving import FORMAT

ForceOption = Annotated[
    bool, typer.Option("--force", help="Replace the file of -o whatever it is, not only one of this command.")
]
ASKED, ANSWERED = {"user", "item", "history"}, {"item", "similar_item", "similar_user"}
TABLE_COLUMNS = {"rank", "score", "fallback"}  # of a table of rankings, beside these
NUMPY_START = b"\x93NUMPY"
LONGEST_LINE = 2**16  # bytes of a first line; ours are shorter
PAGE_MARK = b'<meta name="generator" content="ialspp explorer">'
MODEL_REPORT_MARK = b'<meta name="generator" content="ialspp report">'
TUNED_START = b"# Settings found by ialspp tune"
REPORT_MARK = b'<meta name="generator" content="ialspp tune">'
LONGEST_START = 2**11  # bytes of a page before its style


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file that a command writes, and how to recognise one."""

    name: str
    recognises: Callable[[Path], bool]


def require_ours(path: Path, kind: Kind, force: bool) -> None:
    """Raise if a file would be replaced that is of another kind. An empty file has nothing to lose."""
    if force or not path.exists() or path.stat().st_size == 0 or kind.recognises(path):
        return
    raise InvalidValueError(
        f"{path} exists and is not {kind.name}; choose another name, or replace it with --force"
    )


def is_table(path: Path) -> bool:
    """Tell whether a file has the columns of a table of rankings, as `Rankings.to_frame` makes them."""
    try:
        columns = list(_columns_of(path))
    except (ValueError, RecursionError):  # not the text, the JSON or the Parquet that its name says
        return False
    ids = [name for name in columns if not name.endswith("_name") and name not in TABLE_COLUMNS]
    is_ours = len(ids) == 2 and ids[0] in ASKED and ids[1] in ANSWERED
    return is_ours and {"rank", "score"} <= set(columns)


def is_index(path: Path) -> bool:
    """Tell whether a file has the ids of its items beside it, as every index of ours has."""
    return not FORMAT.begins(path) and Path(f"{path}.items.parquet").exists()


def is_page(path: Path) -> bool:
    """Tell whether a file is a page that `ialspp explore` wrote."""
    return PAGE_MARK in _start_of(path, LONGEST_START)


def is_model_report(path: Path) -> bool:
    """Tell whether a file is a page that `ialspp report` wrote."""
    return MODEL_REPORT_MARK in _start_of(path, LONGEST_START)


def is_vectors(path: Path) -> bool:
    """Tell whether a file holds ids or vectors as `export` writes them."""
    if path.suffix != ".parquet":
        return path.is_file() and _start_of(path, len(NUMPY_START)) == NUMPY_START
    try:
        return {"id", "vector"} <= set(_parquet_columns(path))
    except ValueError:
        return False


def require_data(source: str, command: str) -> None:
    """Raise if the source of the data is a model file."""
    if FORMAT.begins(Path(source)):
        raise InvalidValueError(
            f"{source} is a model, and {command} needs data: the file of interactions. "
            f"`ialspp info {source}` describes the model, `ialspp recommend {source} --user ID` asks it"
        )


def _columns_of(path: Path) -> Iterable[str]:
    if path.suffix.lower() == ".parquet":
        return _parquet_columns(path)
    line = _start_of(path, LONGEST_LINE).partition(b"\n")[0].decode()
    if path.suffix.lower() == ".csv":
        return line.rstrip("\r").split(",")
    record = json.loads(line)
    return record if isinstance(record, dict) else ()


def _parquet_columns(path: Path) -> Iterable[str]:
    import polars as pl

    try:
        return pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ValueError(str(error)) from error


def _start_of(path: Path, count: int) -> bytes:
    with path.open("rb") as file:
        return file.read(count)


def is_tuned(path: Path) -> bool:
    """Tell whether a file has settings that `ialspp tune` found."""
    return path.is_file() and _start_of(path, len(TUNED_START)) == TUNED_START


def is_report(path: Path) -> bool:
    """Tell whether a file is a report of `ialspp tune`."""
    return REPORT_MARK in _start_of(path, LONGEST_START)


PREPARED = Kind("prepared data of ialspp", is_prepared)
MODEL = Kind("a model of ialspp", FORMAT.begins)
TABLE = Kind("a table of rankings", is_table)
INDEX = Kind("an index of ialspp", is_index)
PAGE = Kind("a page of ialspp", is_page)
MODEL_REPORT = Kind("a report of ialspp", is_model_report)
VECTORS = Kind("a file of ids or vectors of ialspp", is_vectors)
TUNED = Kind("a file of settings of ialspp tune", is_tuned)
REPORT = Kind("a report of ialspp tune", is_report)
