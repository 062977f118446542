"""Build an index of the items for approximate search, and measure its recall."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Floats
from ..data.ids import IdMap
from ..files.atomic import whole_files
from ..files.frames import polars_sink
from ..model.model import ImplicitMF
from ..model.ranking import PackedItems, pack, rank
from ..system.checks import checked_integer
from ..system.machine import resolve_threads
from ..system.progress import Progress, reporting
from .graphs import Graph, graph_of
from .tables import checked_model, described, id_columns, refuse_half_characters

# A graph of neighbours (HNSW) finds the nearest items, but the item of largest dot product need not be the
# nearest. One more coordinate makes it so (Bachrach et al., 2014): sqrt(M^2 - |h|^2) for an item and 0 for a
# user, where M is the length of the longest item. All items are then equally long, and dot products stay the
# same. That alone often makes recall worse: short items crowd in one corner, far from every user, and a
# search that starts among them stays there. So the longest items are added first: they form the graph, and
# the short ones attach to it. recall@10 of usearch / faiss, defaults as below, 64 factors (benchmarks/ann.py,
# 2026-11-16):
#
#                                        unchanged                 equally long
#                                   by row    longest first     by row    longest first
#   synthetic ml20m,  1,005 items  1.00 / 1.00  1.00 / 1.00  1.00 / 1.00  1.000 / 1.000
#   synthetic,       20,108 items   .99 /  .99   .72 /  .75   .28 /  .31  1.000 / 1.000
#   complete journey, 68,509 items  .87 /  .87   .71 /  .70   .88 /  .92   .986 /  .986
#   gowalla,         40,981 items   .99 /  .99   .97 /  .95   .78 /  .72   .998 /  .997
TIMED = 100  # queries that are timed, one by one
FIRST_BATCH, LARGEST_BATCH = 16, 8192
# Items that threads add at the same time do not see each other. In a small graph that costs usearch recall
# for good: with 2 threads from the first item on, .978 to .990 on Gowalla, and .997 if one thread adds these.
ALONE = 2048
TIE = 1e-6  # relative: an answer that scores the same as the k-th best counts as right

Kind = Literal["usearch", "faiss"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexReport:
    """What was built, its recall, and what a server must know to query it.

    Attributes
    ----------
    kind
        The library that reads the file.
    path, ids_path
        The index, whose keys are row numbers, and the Parquet file with the id of each row.
    items, dim
        How many items, and the length of their vectors.
    width
        The length of a query, dim + 1: a user's vector and then one 0.
    k, queries, recall
        recall is the share of the k best items that the index found, over `queries` users; nan if no user has
        a vector.
    ms_per_query, exact_ms_per_query
        Median time of a query to the index and of an exact search, one query at a time on one thread.
    build_seconds, bytes
        The time to build the index, and the size of its file.
    connectivity, expansion_add, expansion_search
        The settings. A usearch file does not store the last: set it after loading. A faiss file does.
    """

    kind: Kind
    path: Path
    ids_path: Path
    items: int
    dim: int
    width: int
    k: int
    queries: int
    recall: float
    ms_per_query: float
    exact_ms_per_query: float
    build_seconds: float
    bytes: int
    connectivity: int
    expansion_add: int
    expansion_search: int

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; nan becomes None.

        Examples
        --------
        >>> facts = build_index(model, "items.usearch", kind="usearch", k=2).as_dict()
        >>> facts["path"], facts["connectivity"]
        ('items.usearch', 16)
        """
        values = {**asdict(self), "path": str(self.path), "ids_path": str(self.ids_path)}
        return {n: None if isinstance(v, float) and math.isnan(v) else v for n, v in values.items()}


def build_index(
    model: ImplicitMF,
    path: str | Path,
    *,
    kind: Kind,
    k: int = 10,
    queries: int = 1000,
    threads: int | None = None,
    seed: int = 0,
    progress: Progress = None,
    connectivity: int = 16,
    expansion_add: int = 128,
    expansion_search: int = 128,
) -> IndexReport:
    """Write an index that finds the items of highest score for a user's vector, and measure its recall.

    A query is a user's vector followed by one 0. The keys of the index are row numbers of items; the file
    `<path>.items.parquet` has the id of each row, and its metadata says how to query. A score is what faiss
    calls distance, or 1 minus what usearch calls distance. The metric of both libraries is the inner product.
    Both files are complete before either gets its name, and the index gets its name last.

    With one thread, the same model and the same versions of the libraries give the same bytes.

    Parameters
    ----------
    model
        A fitted model.
    path
        The file of the index.
    kind
        "usearch" or "faiss": the library of the index. Both build an HNSW graph.
    k
        Recall is measured at this many items.
    queries
        Recall is measured with so many random users, or all if there are fewer. Users whose vectors are zero
        are left out: all items have the same score for them.
    threads
        None: one thread builds the index, so that it is the same every time. Several threads may build a
        different graph each time; they begin once one thread has added the longest items. Recall is measured
        with this many threads, or with all if None.
    seed
        Draws the users.
    progress
        True: draw a bar. False: don't. None: only on a terminal or in a notebook. A function: call it
        with each `ProgressEvent`.
    connectivity
        Edges of a node of the graph; faiss calls it M. More edges give higher recall and a larger file.
    expansion_add
        Candidates examined for the edges of a new node; faiss calls it efConstruction. More candidates give
        higher recall and a slower build.
    expansion_search
        Candidates examined for an answer; faiss calls it efSearch. More candidates give higher recall and
        slower queries.

    Examples
    --------
    >>> report = build_index(model, "items.usearch", kind="usearch", k=2)
    >>> report.items, report.width, report.recall
    (5, 3, 1.0)
    >>> print(report.ids_path)
    items.usearch.items.parquet
    """
    (_, user_vectors), (ids, items) = checked_model(model)
    refuse_half_characters(ids)
    test_users = user_vectors[_sampled(user_vectors, checked_integer("queries", queries, 1), seed)]
    k = min(checked_integer("k", k, 1), len(ids))
    settings = {
        "connectivity": checked_integer("connectivity", connectivity, 2),
        "expansion_add": checked_integer("expansion_add", expansion_add, 1),
        "expansion_search": checked_integer("expansion_search", expansion_search, 1),
    }
    all_threads = resolve_threads(threads)
    graph = graph_of(kind)(items.shape[1] + 1, **settings)
    path, ids_path = Path(path), Path(f"{path}.items.parquet")
    # Open the files first, so that a wrong path is an error before the work, not after it.
    with whole_files([path, ids_path]) as (index_file, ids_file):
        seconds = _fill(graph, items, 1 if threads is None else all_threads, progress)
        recall, milliseconds, exact_milliseconds = _measured(graph, test_users, items, k, all_threads)
        size = index_file.write(graph.saved())
        _write_ids(ids_file, ids, {"kind": kind, "dim": items.shape[1], **settings})
    return IndexReport(
        kind=kind,
        path=path,
        ids_path=ids_path,
        items=len(ids),
        dim=items.shape[1],
        width=items.shape[1] + 1,
        k=k,
        queries=len(test_users),
        recall=recall,
        ms_per_query=milliseconds,
        exact_ms_per_query=exact_milliseconds,
        build_seconds=seconds,
        bytes=size,
        **settings,
    )


def _fill(graph: Graph, items: Floats, threads: int, progress: Progress) -> float:
    """Add all items, the longest first, and return the seconds it took."""
    start, done = time.perf_counter(), 0
    squares = np.einsum("id,id->i", items, items, dtype=np.float64)
    missing = np.sqrt(squares.max() - squares).astype(np.float32)
    with reporting("indexing", len(items), progress) as report:
        for rows in batches(np.argsort(-squares, kind="stable")):
            vectors = np.column_stack([items[rows], missing[rows]])
            graph.add(rows, vectors, threads if done >= ALONE else 1)
            done += len(rows)
            report(done)
    return time.perf_counter() - start


def batches(order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield rows in growing batches: within a batch, threads and faiss itself change the order."""
    done = 0
    while done < len(order):
        rows = order[done : done + min(max(FIRST_BATCH, done // 4), LARGEST_BATCH)]
        yield rows
        done += len(rows)


def _sampled(users: Floats, queries: int, seed: int) -> NDArray[np.int64]:
    """Draw rows of users whose vector is not zero."""
    known = np.flatnonzero(users.any(axis=1))
    rng = np.random.default_rng(checked_integer("seed", seed, 0))
    return np.sort(rng.choice(known, min(queries, len(known)), replace=False))


def _measured(graph: Graph, users: Floats, items: Floats, k: int, threads: int) -> tuple[float, float, float]:
    """Return the recall, and the milliseconds of a query to the index and of an exact search."""
    if len(users) == 0:
        return math.nan, math.nan, math.nan
    packed = pack(items, threads)
    queries = np.column_stack([users, np.zeros(len(users), dtype=np.float32)])
    return (
        _recall(users, items, graph.search(queries, k, threads), _exact(users, packed, k, threads)),
        _milliseconds(lambda query: graph.search(query, k, 1), queries),
        _milliseconds(lambda user: _exact(user, packed, k, 1), users),
    )


def _exact(users: Floats, items: PackedItems, k: int, threads: int) -> NDArray[np.int32]:
    return rank(users, items, k, threads)[0]


def _recall(users: Floats, items: Floats, found: NDArray[np.int64], best: NDArray[np.int32]) -> float:
    """Return the share of answers that score no less than the k-th best item."""
    right = 0
    for user, answers, exact in zip(users.astype(np.float64), found, best, strict=True):
        least = (items[exact] @ user).min()
        right += int(np.sum(items[answers[answers >= 0]] @ user >= least - TIE * abs(least)))
    return right / best.size


def _milliseconds(search: Callable[[Floats], object], queries: Floats) -> float:
    """Return the median time of the first few queries, one by one."""
    taken = []
    for row in range(min(TIMED, len(queries))):
        start = time.perf_counter()
        search(queries[row : row + 1])
        taken.append(1e3 * (time.perf_counter() - start))
    return float(np.median(taken))


def _write_ids(file: IO[bytes], ids: IdMap, facts: dict[str, Any]) -> None:
    import polars as pl

    metadata = {
        **described(ids),
        **{name: str(value) for name, value in facts.items()},
        "query": "a user's vector and one 0 after it",
        "metric": "inner product",
        "keys": "row",
    }
    rows = pl.Series("row", np.arange(len(ids), dtype=np.int64))
    with polars_sink(file) as sink:
        pl.DataFrame([rows, *id_columns(ids, 0, len(ids))]).write_parquet(sink, metadata=metadata)
