"""Why a user gets an item: what each past item adds to the score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr
from ..errors import SolveError
from ..objective import Objective
from ..system.blas import one_blas_thread
from .fitted import Embedding


class Explanation(list[tuple[Any, float]]):
    """Past items with what each contributes to a score, largest first.

    Attributes
    ----------
    score
        <w, h>: what `recommend` ranks the item by.
    contributions
        The numbers alone, in the same order.
    rest
        The score less the sum of the contributions: zero, up to rounding, where the user's vector is the
        exact solution for their history, as after `update`; else how far training was from that.
    """

    def __init__(self, items: list[Any], contributions: NDArray[np.float64], score: float) -> None:
        super().__init__(zip(items, contributions.tolist(), strict=True))
        self.contributions = contributions
        self.score = score
        self.rest = score - float(contributions.sum())


def explain(
    history: Csr, vector: NDArray[Any], item: int, items: Embedding, objective: Objective, threads: int
) -> Explanation:
    """The score of one item for the user with this one row of history and this vector.

    The loss is least at w = A^-1 sum_j a_j y_j h_j, with A as in `native/step.h`. The score <w, h_i> is then
    a sum over the past: item j adds a_j y_j <h_j, A^-1 h_i>.
    """
    target = items.vectors[item].astype(np.float64)
    score = float(vector.astype(np.float64) @ target)
    if len(history.columns) == 0:
        return Explanation([], np.zeros(0), score)
    history.native()  # raises where a damaged file names an item that there is not
    neighbours = items.vectors[history.columns].astype(np.float64)
    weight = np.ones(len(neighbours)) if history.weights is None else history.weights.astype(np.float64)
    label = 1.0 if history.labels is None else history.labels.astype(np.float64)
    regularization = objective.row_regularization(history.counts, len(items.ids))[0]
    gramian = objective.unobserved_weight * items.gramian(threads)
    with one_blas_thread():
        hessian = (neighbours.T * weight) @ neighbours + gramian + regularization * np.eye(len(target))
        _check_solvable(hessian, float(regularization))
        contributions = weight * label * (neighbours @ np.linalg.solve(hessian, target))
    order = np.argsort(-contributions, kind="stable")
    return Explanation(items.ids.named(history.columns[order]), contributions[order], score)


def _check_solvable(hessian: NDArray[np.float64], regularization: float) -> None:
    """Without regularization there may be many solutions, and contributions that mean nothing."""
    if not np.isfinite(hessian).all():
        raise SolveError("the vectors of the items in the user's past must be finite, and are not")
    enough = regularization > np.finfo(np.float64).eps * hessian.trace()
    if not enough and np.linalg.matrix_rank(hessian, hermitian=True) < len(hessian):
        raise SolveError("the user's system has no unique solution; explain needs regularization > 0")
