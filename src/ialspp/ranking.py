"""The best k of many scores, as ids."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .ids import IdMap


class Ranking(list[Any]):
    """Ids, best first; `scores` holds the score of each."""

    def __init__(self, ids: list[Any], scores: NDArray[np.float32]) -> None:
        super().__init__(ids)
        self.scores = scores


def best(scores: NDArray[np.float32], k: int, ids: IdMap) -> Ranking:
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
