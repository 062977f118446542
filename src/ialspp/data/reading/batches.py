"""The batches of a query, to its end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InvalidStateError

if TYPE_CHECKING:
    import polars as pl

_END = "\0end"  # a column that no file has


def batches(query: pl.LazyFrame, file: Path, **options: Any) -> Iterator[pl.DataFrame]:
    """Yield the batches of a query on a file, in order; raise if they end before the query does.

    polars has a handler of SIGINT of its own, which ends a query without an error, also where the program
    ignores the signal or handles it in another way. So one more row marks the end.
    """
    import polars as pl

    marked = pl.concat([query.with_columns(pl.lit(False).alias(_END)), _mark(query)])
    is_whole = False
    for batch in marked.collect_batches(maintain_order=True, engine="streaming", **options):
        if len(batch) == 0:
            continue
        is_whole = batch[_END][-1]
        yield batch.drop(_END).head(len(batch) - is_whole)
    if not is_whole:
        raise InvalidStateError(f"{file}: a signal (SIGINT) ended the reading before the end of the file")


def _mark(query: pl.LazyFrame) -> pl.LazyFrame:
    """Make the row at the end: nulls."""
    import polars as pl

    schema = query.collect_schema()
    row: dict[str, list[bool | None]] = {name: [None] for name in schema}
    return pl.LazyFrame({**row, _END: [True]}, {**schema, _END: pl.Boolean})
