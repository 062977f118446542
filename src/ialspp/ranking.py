"""The best k of many scores, as ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from . import _core
from .csr import Floats
from .ids import IdMap
from .settings import checked_integer

SCORES_AT_ONCE = 16 * 2**20  # 64 MB


class Ranking(list[Any]):
    """Ids, best first; `scores` holds the score of each."""

    def __init__(self, ids: list[Any], scores: Floats) -> None:
        super().__init__(ids)
        self.scores = scores


def rank(
    vectors: Floats, items: Floats, hidden: Iterable[Any], k: int, ids: IdMap, threads: int
) -> list[Ranking]:
    """For each vector the k items of highest score; `hidden` indexes the rows it may not name."""
    checked_integer("k", k, 0)
    rankings = []
    for scores, without in zip(_scores(vectors, items, threads), hidden, strict=True):
        scores[without] = -np.inf
        rankings.append(best(scores, k, ids))
    return rankings


def _scores(vectors: Floats, items: Floats, threads: int) -> Iterator[Floats]:
    """The scores of all items for one vector after the other, computed many at a time."""
    at_once = max(1, SCORES_AT_ONCE // len(items))
    for begin in range(0, len(vectors), at_once):
        yield from _core.scores(vectors[begin : begin + at_once], items, threads)


def best(scores: Floats, k: int, ids: IdMap) -> Ranking:
    """The k highest scores, equal ones by row; -inf marks what may not be named.

    Fewer than k allowed makes a shorter ranking.
    """
    k = min(k, int(np.count_nonzero(scores != -np.inf)))
    if k == 0:
        return Ranking([], np.empty(0, dtype=np.float32))
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    above = np.flatnonzero(scores > threshold)
    level = np.flatnonzero(scores == threshold)[: k - len(above)]
    rows = np.concatenate([above, level])
    rows = rows[np.lexsort((rows, -scores[rows]))]
    return Ranking(ids.ids[rows].tolist(), scores[rows])
