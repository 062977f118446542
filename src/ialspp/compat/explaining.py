"""Explanations as implicit gives them: contributions of liked items to one score."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import OutOfRangeError, SolveError
from ..model.fitted import Embedding
from ..system.checks import checked_integer
from .confidences import Confidences


def explain(
    liked: Confidences, items: Embedding, itemid: int, penalty: float, user_weights: Any, n: int, threads: int
) -> tuple[float, list[tuple[int, float]], Any]:
    """Split the score of an item for one user, given as one row, into what each liked item adds.

    The user's system is A = H'H + sum_j (c_j - 1) h_j h_j' + lambda I, and item j adds c_j <h_j, A^-1 h_i>.
    """
    from scipy.linalg import cho_factor, cho_solve  # where there are sparse matrices, there is scipy

    if not 0 <= itemid < len(items.vectors):
        raise OutOfRangeError(f"itemid must be from 0 to {len(items.vectors) - 1}, got {itemid}")
    confidence = liked.confidence.astype(np.float64)
    neighbours = items.vectors[liked.pairs.columns].astype(np.float64)
    if user_weights is None:
        system = items.gramian(threads) + penalty * np.eye(neighbours.shape[1])
        try:
            user_weights = cho_factor(system + (neighbours.T * (confidence - 1)) @ neighbours)
        except np.linalg.LinAlgError as error:
            raise SolveError("the user's system has no unique solution; raise regularization") from error
    contributions = confidence * (
        neighbours @ cho_solve(user_weights, items.vectors[itemid].astype(np.float64))
    )
    there = np.flatnonzero(liked.liked)
    best = there[np.lexsort((-liked.pairs.columns[there], -contributions[there]))]
    largest = best[: checked_integer("N", n, 0)]
    pairs = zip(liked.pairs.columns[largest].tolist(), contributions[largest].tolist(), strict=True)
    return float(contributions[there].sum()), list(pairs), user_weights
