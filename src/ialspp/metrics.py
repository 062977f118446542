"""How good one ranking is."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any


def recall(ranking: Sequence[Any], relevant: Collection[Any], k: int) -> float:
    """The share of the relevant among the first k, out of min(k, number of relevant) (Liang et al. 2018)."""
    _require(relevant)
    hits = sum(item in relevant for item in ranking[:k])
    return hits / min(k, len(relevant))


def ndcg(ranking: Sequence[Any], relevant: Collection[Any], k: int) -> float:
    """Discounted gain of the first k, one per relevant item, relative to the best possible."""
    _require(relevant)
    gain = sum(1 / math.log2(rank + 2) for rank, item in enumerate(ranking[:k]) if item in relevant)
    return gain / sum(1 / math.log2(rank + 2) for rank in range(min(k, len(relevant))))


def _require(relevant: Collection[Any]) -> None:
    if not relevant:
        raise ValueError("no item is relevant: the metric is not defined for such a user; leave them out")
