"""A file, once through, into interactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..csr import Floats, Rows, Times
from ..ids import IdMap
from ..interactions import LATEST_TIME
from ..progress import Report, bar
from ..settings import checked_number
from .codes import Codes
from .columns import LAST, Columns, expression_of
from .faults import blank_rows, check_width, fault_at, first_fault
from .source import ROW, Source

if TYPE_CHECKING:
    import polars as pl

BATCH = 2**17  # rows at a time: enough to keep every thread busy, little to hold
LARGEST_FLOAT = float(np.finfo(np.float32).max)

T = TypeVar("T")
Triples = tuple[IdMap, IdMap, Rows, Rows, Floats | None, Floats | None, Times | None]


def read(
    path: str | Path,
    roles: dict[str, str | int | None],
    *,
    min_rating: float | None,
    where: Any,
    format: str | None,
    separator: str | None,
    header: bool | None,
    quote: str | None,
    progress: bool | None,
) -> Triples:
    """Users, items, and for each interaction the rows of both, its label, weight and time."""
    if min_rating is None:
        roles = {**roles, "rating": None}
    else:
        min_rating = checked_number("min_rating", min_rating)
    by_name = all(isinstance(column, str) for column in roles.values() if column is not None)
    source = Source.of(path, format, separator, by_name if header is None else header, quote)
    columns = _with_polars_errors(source, None, lambda: Columns.of(source, roles))
    query = _query(source, columns, min_rating, expression_of(where, source.files[0]))
    return _with_polars_errors(source, columns, lambda: _collect(source, columns, query, progress))


def _query(source: Source, columns: Columns, min_rating: float | None, where: pl.Expr | None) -> pl.LazyFrame:
    in_filter = set() if where is None else set(where.meta.root_names())
    unknown = in_filter - set(columns.file_names)
    if unknown:
        raise ValueError(
            f"{source.files[0]}: where names {sorted(unknown)}, but the file has {columns.file_names}"
        )
    types = columns.types(in_filter) if source.is_text else None
    return columns.needed(source.scan(types), min_rating, where)


def _with_polars_errors(source: Source, columns: Columns | None, step: Callable[[], T]) -> T:
    """What polars says, as what was required, what came, and where."""
    import polars as pl

    try:
        return step()
    except pl.exceptions.NoDataError as error:
        raise ValueError(f"{source.files[0]}: the file is empty") from error
    except pl.exceptions.PolarsError as error:
        if columns is None:
            raise ValueError(f"{source.files[0]}: {str(error).splitlines()[0]}") from error
        raise first_fault(source, columns, error) from error
    except OSError as error:  # a compressed file cut short, for one
        raise OSError(f"{source.files[0]}: {error}") from error


def _collect(source: Source, columns: Columns, query: pl.LazyFrame, progress: bool | None) -> Triples:
    users, items = Codes("user"), Codes("item")
    numbers: dict[str, list[NDArray[Any]]] = {
        role: [] for role in columns.names if role in ("label", "weight", "time")
    }
    with bar("reading", _rows_expected(source), progress) as report:
        for batch in _sound_batches(source, columns, query, report):
            users.add(batch["user"])
            items.add(batch["item"])
            for role, parts in numbers.items():
                kind = np.float64 if role == "time" else np.float32
                parts.append(batch[role].to_numpy().astype(kind, copy=False))
    user_ids, user_rows = users.finish()
    item_ids, item_rows = items.finish()
    label, weight, time = (_whole(numbers.get(role)) for role in ("label", "weight", "time"))
    return user_ids, item_ids, user_rows, item_rows, label, weight, time


def _whole(parts: list[NDArray[Any]] | None) -> NDArray[Any] | None:
    if parts is None:
        return None
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.float32)


def _sound_batches(
    source: Source, columns: Columns, query: pl.LazyFrame, report: Report
) -> Iterator[pl.DataFrame]:
    """Batches in which every value is there and can be used; the first that cannot is an error."""
    import polars as pl

    blank: set[int] | None = None
    cut: set[int] = set()  # the first and the last row without a last field
    for batch in query.collect_batches(chunk_size=BATCH, maintain_order=True, engine="streaming"):
        if len(batch) == 0:
            continue
        if any(batch[role].null_count() for role in columns.names):
            blank = blank_rows(source) if blank is None else blank
            batch = batch.filter(~pl.col(ROW).is_in(sorted(blank)))
        for role, column in columns.names.items():
            _check(source, batch, role, column)
        if LAST in batch.columns and batch[LAST].any():
            without = batch.filter(LAST)[ROW]
            cut = {min(cut, default=without[0]), without[-1]}
        yield batch
        report(int(batch[ROW][-1]) + 1 if len(batch) else 0)
    if cut:
        check_width(source, cut, len(columns.file_names))


def _check(source: Source, batch: pl.DataFrame, role: str, column: str) -> None:
    values = batch[role]
    if values.null_count():
        row = int(np.argmax(values.is_null().to_numpy()))
        raise fault_at(source, batch[ROW][row], column, None, "")
    if role in ("user", "item"):
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
        raise fault_at(source, batch[ROW][row], column, float(numbers[row]), required)


def _rows_expected(source: Source) -> float | None:
    """For the progress bar: as the file says, or judged by its first lines; None where neither helps."""
    import polars as pl

    if not source.is_text:
        return float(source.scan().select(pl.len()).collect().item())
    if any(file.suffix.lower() in (".gz", ".zst", ".zstd") for file in source.files):
        return None
    with source.files[0].open("rb") as file:
        start = file.read(2**16)
    return sum(file.stat().st_size for file in source.files) * max(start.count(b"\n"), 1) / max(len(start), 1)
