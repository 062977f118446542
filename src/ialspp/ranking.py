"""The best k of many scores, as ids."""

from __future__ import annotations

from typing import Any

from . import _core
from .csr import Csr, Floats
from .ids import IdMap
from .settings import checked_integer


class Ranking(list[Any]):
    """Ids, best first; `scores` holds the score of each."""

    def __init__(self, ids: list[Any], scores: Floats) -> None:
        super().__init__(ids)
        self.scores = scores


def rank(
    vectors: Floats, items: Floats, hidden: Csr | None, k: int, ids: IdMap, threads: int
) -> list[Ranking]:
    """For each vector the k items of highest score, equal ones by row, but those in its row of `hidden`.

    Fewer than k left makes a shorter ranking.
    """
    checked_integer("k", k, 0)
    hide = None if hidden is None else hidden.native()
    best, scores, _ = _core.rank(vectors, items, hide, None, min(k, len(items)), 0, threads)
    left = (best >= 0).sum(axis=1)
    return [
        Ranking(ids.ids[row[:n]].tolist(), of_row[:n])
        for row, of_row, n in zip(best, scores, left, strict=True)
    ]
