"""Read files in one pass, batch by batch, into the arrays of interactions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from ...errors import InvalidTypeError, InvalidValueError
from ...system.checks import LARGEST_FLOAT
from ...system.progress import Progress, Report, reporting
from ..csr import Floats, RowNumbers, Times
from ..ids import IdMap
from ..spool import MemorySpool, Spool
from ..values import LATEST_TIME, looks_like_calendar
from .codes import Codes
from .columns import BLANK, BROKEN, Columns
from .expressions import needs_header
from .faults import REPLACED, fault_at, not_utf8, place_of, polars_errors
from .file_set import COMPRESSED, ROW, FileSet
from .headers import refuse_header
from .limits import check_rows
from .lines import check_width
from .opening import Paths, files_of, unchanged
from .querying import load_polars, whole_batches
from .text import records

if TYPE_CHECKING:
    import polars as pl

ROLES = ("user", "item", "label", "weight", "time", "rating")  # what a column may be
NUMBERS = {"label": np.float32, "weight": np.float32, "time": np.float64}
BATCH = 2**17  # rows at a time: enough to keep every thread busy, and little memory

Triples = tuple[IdMap, IdMap, RowNumbers, RowNumbers, Floats | None, Floats | None, Times | None]


def read(
    path: Paths,
    roles: dict[str, Any],
    *,
    min_rating: float | None = None,
    where: Any = None,
    format: str | None = None,
    separator: str | None = None,
    header: bool | None = None,
    quote: str | None = '"',
    progress: Progress = None,
    spool: Callable[[DTypeLike], Spool] = MemorySpool,
) -> Triples:
    """Return users and items, and for each interaction the rows of both, its label, weight and time.

    `spool` makes what the columns are collected in.
    """
    for role in ("user", "item"):
        if roles[role] is None:
            raise InvalidTypeError(f"{role} must be the name or the position of a column, got None")
    if min_rating is not None:
        if isinstance(min_rating, bool) or not isinstance(min_rating, Real) or not math.isfinite(min_rating):
            raise InvalidValueError(f"min_rating must be a finite number, got {min_rating!r}")
        if roles["rating"] is None:
            if not header and not any(map(needs_header, roles.values())):
                raise InvalidValueError(
                    "rating must be the position of the column that min_rating looks at, because the other "
                    "columns are given by position"
                )
            roles = {**roles, "rating": "rating"}
    elif roles["rating"] is not None:
        raise InvalidValueError(f"rating={roles['rating']!r} needs min_rating, which is not given")
    files = files_of(path)
    shown = path if isinstance(path, (str, Path)) else ", ".join(map(str, path))
    load_polars()
    named = any(map(needs_header, roles.values()))
    with unchanged(files):
        with polars_errors(shown):
            source = FileSet.of(files, format, separator, header, quote, named)
            if source.is_text and header is None and not named:
                positions = [column for column in roles.values() if isinstance(column, int)]
                for file in files:
                    refuse_header(records(file, source.separator, quote), positions)
        with polars_errors(shown, source):
            columns = Columns.of(source, roles, where)
        with polars_errors(shown, source, columns):
            query = columns.needed(source, min_rating)
            return _collect(source, columns, query, spool, progress)


def _collect(
    source: FileSet,
    columns: Columns,
    query: pl.LazyFrame,
    spool: Callable[[DTypeLike], Spool],
    progress: Progress,
) -> Triples:
    users, items = (Codes(name, spool(np.int32), from_text=source.is_text) for name in ("user", "item"))
    numbers = {role: spool(kind) for role, kind in NUMBERS.items() if role in columns.requested}
    with reporting("reading", _rows_expected(source), progress) as report:
        for batch in _sound_batches(source, columns, query, report):
            users.add(batch["user"])
            items.add(batch["item"])
            for role, column in numbers.items():
                column.append(batch[role].to_numpy())
    user_ids, user_rows = users.finish()
    item_ids, item_rows = items.finish()
    label, weight, time = (
        numbers[role].whole() if role in numbers else None for role in ("label", "weight", "time")
    )
    return user_ids, item_ids, user_rows, item_rows, label, weight, time


def _sound_batches(
    source: FileSet, columns: Columns, query: pl.LazyFrame, report: Report
) -> Iterator[pl.DataFrame]:
    """Yield batches without missing or unusable values; raise at the first such value."""
    import polars as pl

    broken: set[int] = set()  # the first and the last row that may have a wrong number of fields
    for number, batch in enumerate(whole_batches(query, BATCH)):
        report(int(batch[ROW][-1]) + 1)
        if BLANK in batch.columns and batch[BLANK].any():
            batch = batch.filter(~pl.col(BLANK))
        for role in columns.requested:
            _check(source, batch, role, columns.described(role))
        if number == 0 and "time" in columns.requested:  # all rows, or far more than look so by chance
            _refuse_calendar(source, batch, columns.described("time"))
        if BROKEN in batch.columns and batch[BROKEN].any():
            rows = batch.filter(BROKEN)[ROW]
            broken = {min(broken, default=rows[0]), rows[-1]}
        yield batch
    if broken:
        check_width(source, broken, len(columns.file_names))


def _check(source: FileSet, batch: pl.DataFrame, role: str, what: str) -> None:
    values = batch[role]
    if values.null_count():
        row = int(np.argmax(values.is_null().to_numpy()))
        raise fault_at(source, batch[ROW][row], what, None, "")
    if role in ("user", "item"):
        if source.separator == "::":  # polars reads other text strictly; here it replaces such bytes
            _refuse_replaced(source, batch, role)
        return
    least, most, required = {
        "label": (-LARGEST_FLOAT, LARGEST_FLOAT, "a finite number in single precision"),
        "weight": (0.0, LARGEST_FLOAT, "a finite number in single precision, not negative"),
        "rating": (-np.inf, np.inf, "a number"),
        "time": (-LATEST_TIME, LATEST_TIME, "Unix seconds (not milliseconds) or a date"),
    }[role]
    numbers = values.to_numpy()
    bad = np.flatnonzero(~((numbers >= least) & (numbers <= most)))
    if len(bad):
        row = int(bad[0])
        raise fault_at(source, batch[ROW][row], what, float(numbers[row]), required)


def _refuse_replaced(source: FileSet, batch: pl.DataFrame, role: str) -> None:
    """Raise at an id that is not UTF-8: different ones would become the same."""
    import polars as pl

    if batch[role].dtype == pl.String:
        replaced = batch.filter(pl.col(role).str.contains(REPLACED, literal=True))
        if len(replaced):
            raise not_utf8(place_of(source, replaced[ROW][0]), replaced[role][0])


def _refuse_calendar(source: FileSet, batch: pl.DataFrame, what: str) -> None:
    numbers = batch["time"].to_numpy()
    if looks_like_calendar(numbers):
        raise fault_at(
            source, batch[ROW][0], what, int(numbers[0]), "Unix seconds, or a date such as 2026-12-31"
        )


def _rows_expected(source: FileSet) -> float | None:
    """Count or estimate the rows, for the progress bar; None if the text is compressed."""
    import polars as pl

    if not source.is_text:
        rows = int(source.scan().select(pl.len()).collect().item())
        check_rows(source.files, rows)
        return float(rows)
    if any(file.suffix.lower() in COMPRESSED for file in source.files):
        return None
    with source.files[0].open("rb") as file:
        start = file.read(2**16)
    return sum(file.stat().st_size for file in source.files) * max(start.count(b"\n"), 1) / max(len(start), 1)
