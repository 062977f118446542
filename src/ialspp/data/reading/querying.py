"""Run polars' queries, and notice what polars hides: a binary that did not load, a query that broke off."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def load_polars() -> None:
    """Import polars. If its binary did not load, polars warns, and raises a NameError when it is used."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Polars binary is missing")
        import polars  # noqa: F401 - to see it fail
    try:
        from polars._plr import PyLazyFrame  # noqa: F401 - which a binary that did not load lacks
    except ImportError as error:
        raise MemoryError("polars could not be loaded (or it is not installed as a whole)") from error


def whole_batches(query: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    """Yield the results of a query in order, batch by batch; raise if it breaks off.

    If one of polars' threads panics, the batches just end. So they do at a SIGINT, which polars handles by
    itself, also where the program ignores it. So the query gets a row of nulls as its last, and has broken
    off where that row does not come.
    """
    import polars as pl

    is_whole = False
    marked = pl.concat([query, query.clear(1)])
    for batch in marked.collect_batches(chunk_size=rows, maintain_order=True, engine="streaming"):
        if len(batch) and batch.item(-1, 0) is None:
            is_whole, batch = True, batch[:-1]
        if len(batch):
            yield batch
    if not is_whole:
        raise pl.exceptions.ComputeError(
            "the file is damaged: it cannot be read to its end (unless a signal ended the reading)"
        )
