"""The best answers in the form that implicit gives them: arrays of one width, with its fillers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, Floats, RowNumbers
from ..model.fitted import Embedding, Similarity
from ..model.ranking import Filter, rank

LOWEST = -np.finfo(np.float32).max  # the score of an answer that is filtered out


def topk(
    vectors: Floats,
    side: Embedding,
    n: int,
    threads: int,
    *,
    metric: Similarity = "dot",
    hidden: Csr | None = None,
    only: NDArray[np.int64] | None = None,
    never: NDArray[np.int64] | None = None,
    filler: int = 0,
) -> tuple[RowNumbers, Floats]:
    """Return the n best rows of a side for each vector, and their scores, best first.

    As in implicit, rows of equal score come in descending order. Where filters leave fewer than n, rows that
    are filtered out follow, with the lowest score there is. Where there are fewer than n rows at all, the
    filler follows, with scores of zero.

    Parameters
    ----------
    hidden
        The rows to filter out for each vector.
    only
        The rows to choose from, ascending; None for all.
    never
        Rows to filter out for every vector.
    """
    n_rows = len(side.vectors)
    eligible = np.full(n_rows, only is None)
    eligible[np.empty(0, dtype=np.int64) if only is None else only] = True
    if never is not None:
        eligible[never] = False
    universe = np.arange(n_rows) if only is None else only
    width = min(n, len(universe))
    allowed = Filter(hidden=hidden, eligible=None if eligible.all() else eligible)
    best, scores, _ = rank(vectors, side.packed(threads, metric), width, threads, allowed=allowed)
    order = np.lexsort((-best, -scores))  # last key first
    best, scores = np.take_along_axis(best, order, axis=1), np.take_along_axis(scores, order, axis=1)
    for row in np.flatnonzero((best < 0).any(axis=1)):
        _append_filtered(best[row], scores[row], universe[:width])
    return _padded(best, n, filler), _padded(scores, n, 0)


def _append_filtered(best: RowNumbers, scores: Floats, first: NDArray[np.int64]) -> None:
    """Fill places that are left with rows that are filtered out, the ones that implicit's heap still has.

    The heap starts with the first rows, whatever their score. Each better row then pushes out the lowest.
    """
    count = int((best >= 0).sum())
    filtered = np.setdiff1d(first, best[:count])
    best[count:] = filtered[::-1][: len(best) - count]
    scores[count:] = LOWEST


def _padded(array: NDArray[Any], n: int, filler: int) -> NDArray[Any]:
    return np.pad(array, ((0, 0), (0, n - array.shape[1])), constant_values=filler)
