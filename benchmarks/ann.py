"""Indexes of trained models: recall and milliseconds of a query, for each way to put items into a graph.

Products as they are, or with one more coordinate that makes all items equally long; items in the order of
their rows, or the longest first. Everything on one thread; a query is asked alone.

    python benchmarks/ann.py [--gowalla FOLDER]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

from ialspp import ImplicitMF, Interactions, _core, datasets
from ialspp.export import ann
from ialspp.export.graphs import Graph, graph_of

K, QUERIES, DIM = 10, 1000, 64
EXPANSIONS = (64, 128, 256)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gowalla", help="the folder of the LightGCN split, if at hand")
    parser.add_argument("--connectivity", type=int, default=16)
    parser.add_argument("--expansion-add", type=int, default=128)
    arguments = parser.parse_args()
    print(f"recall@{K} and ms a query, with {EXPANSIONS} candidates in search")
    for name, data in known(arguments.gowalla):
        model = ImplicitMF(DIM).fit(data, progress=False)
        compare(name, model, arguments.connectivity, arguments.expansion_add)


def known(gowalla: str | None) -> Iterator[tuple[str, Interactions]]:
    yield "ml20m, a twentieth", datasets.synthetic("ml20m", scale=0.05)
    yield "sparse", datasets.synthetic(datasets.Shape(30_000, 20_108, 2_000_000))
    yield "complete journey", datasets.complete_journey()
    if gowalla is not None:
        yield "gowalla", datasets.lightgcn(gowalla).train


def compare(name: str, model: ImplicitMF, connectivity: int, expansion_add: int) -> None:
    users, items = model.user_factors, model.item_factors
    users = users[ann._sampled(users, QUERIES, 0)]
    packed = _core.PackedItems(items, 1)
    best = ann._exact(users, packed, K, 1)
    exact = ann._milliseconds(lambda user: ann._exact(user, packed, K, 1), users)
    print(f"{name}: {len(items):,} items, exact search {exact:.3f} ms")
    for widened in (False, True):
        for longest_first in (False, True):
            vectors, queries = (equally_long(items), followed_by_zero(users)) if widened else (items, users)
            order = np.argsort(-np.linalg.norm(items, axis=1), kind="stable")
            rows = order if longest_first else np.arange(len(items))
            for kind in ("usearch", "faiss"):
                graph = graph_of(kind)(vectors.shape[1], connectivity, expansion_add, EXPANSIONS[0])
                seconds = filled(graph, vectors, rows)
                found = [asked(kind, graph, e, users, queries, items, best) for e in EXPANSIONS]
                print(
                    f"  {kind:8}{'equally long' if widened else 'as they are':13}"
                    f"{'longest first' if longest_first else 'by row':14} built in {seconds:5.1f} s  ",
                    "  ".join(f"{recall:.3f} {ms:.3f} ms" for recall, ms in found),
                    flush=True,
                )


def equally_long(items: np.ndarray) -> np.ndarray:
    squares = np.einsum("id,id->i", items, items, dtype=np.float64)
    return np.column_stack([items, np.sqrt(squares.max() - squares).astype(np.float32)])


def followed_by_zero(users: np.ndarray) -> np.ndarray:
    return np.column_stack([users, np.zeros(len(users), dtype=np.float32)])


def filled(graph: Graph, vectors: np.ndarray, rows: np.ndarray) -> float:
    """The seconds to put the vectors in, in this order, by batches as `build_index` does it."""
    start = time.perf_counter()
    for batch in ann.batches(rows):
        graph.add(batch, vectors[batch], 1)
    return time.perf_counter() - start


def asked(
    kind: str,
    graph: Graph,
    expansion: int,
    users: np.ndarray,
    queries: np.ndarray,
    items: np.ndarray,
    best: np.ndarray,
) -> tuple[float, float]:
    if kind == "usearch":
        graph._index.expansion_search = expansion
    else:
        graph._faiss.downcast_index(graph._index.index).hnsw.efSearch = expansion
    recall = ann._recall(users, items, graph.search(queries, K, 1), best)
    return recall, ann._milliseconds(lambda query: graph.search(query, K, 1), queries)


if __name__ == "__main__":
    main()
