"""The graphs of two libraries behind one interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Floats
from ..errors import InvalidValueError, MissingExtraError


class Graph(Protocol):
    """What the two libraries have in common."""

    def add(self, rows: NDArray[np.int64], vectors: Floats, threads: int) -> None:
        """Add vectors to the index, under their row numbers."""

    def search(self, queries: Floats, k: int, threads: int) -> NDArray[np.int64]:
        """Return the rows of the k best for each query; -1 where fewer were found."""

    def saved(self) -> memoryview:
        """Return the bytes of the file; we write them ourselves, so that an error names the path given."""


class _Usearch:
    def __init__(self, width: int, connectivity: int, expansion_add: int, expansion_search: int) -> None:
        self._index = _required("usearch.index").Index(
            ndim=width,
            metric="ip",
            dtype="f32",
            connectivity=connectivity,
            expansion_add=expansion_add,
            expansion_search=expansion_search,
        )

    def add(self, rows: NDArray[np.int64], vectors: Floats, threads: int) -> None:
        self._index.add(rows, vectors, threads=threads)

    def search(self, queries: Floats, k: int, threads: int) -> NDArray[np.int64]:
        found = self._index.search(queries, k, threads=threads)
        if len(queries) == 1:  # the answer to one query is a vector, without places for what was not found
            return np.pad(found.keys.astype(np.int64), (0, k - len(found.keys)), constant_values=-1)[None]
        there = np.arange(k) < found.counts[:, None]
        return np.where(there, found.keys.astype(np.int64), -1)

    def saved(self) -> memoryview:
        return memoryview(self._index.save())


class _Faiss:
    def __init__(self, width: int, connectivity: int, expansion_add: int, expansion_search: int) -> None:
        self._faiss = _required("faiss")
        graph = self._faiss.IndexHNSWFlat(width, connectivity, self._faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction, graph.hnsw.efSearch = expansion_add, expansion_search
        self._index = self._faiss.IndexIDMap(graph)

    def add(self, rows: NDArray[np.int64], vectors: Floats, threads: int) -> None:
        with self._threads(threads):
            self._index.add_with_ids(vectors, rows)

    def search(self, queries: Floats, k: int, threads: int) -> NDArray[np.int64]:
        with self._threads(threads):
            found: NDArray[np.int64] = self._index.search(queries, k)[1]
        return found

    def saved(self) -> memoryview:
        return memoryview(self._faiss.serialize_index(self._index))

    @contextmanager
    def _threads(self, threads: int) -> Iterator[None]:
        """Set faiss' number of threads, which is the whole process's, and restore it afterwards."""
        before = self._faiss.omp_get_max_threads()
        self._faiss.omp_set_num_threads(threads)
        try:
            yield
        finally:
            self._faiss.omp_set_num_threads(before)


def graph_of(kind: str) -> Callable[..., Graph]:
    """Return the class of graphs of this kind."""
    if kind not in ("usearch", "faiss"):
        raise InvalidValueError(f'kind must be "usearch" or "faiss", got {kind!r}')
    return _Usearch if kind == "usearch" else _Faiss


def _required(module: str) -> Any:
    name = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(f'{name} is required for this index: pip install "ialspp[ann]"') from error
