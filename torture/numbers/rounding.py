"""What single precision may do to a loss: the judge of the attack on numbers.

Factors, residuals and the systems of rows have single precision. Rounding changes a residual by a share eps
of the terms that cancel in it. Let T be the loss with nothing cancelled: |w| |h| + |y| in the place of
<w, h> - y. Then rounding changes the root of the loss by about eps sqrt(T).

A row's step solves a system, which amplifies what rounding did to the gradient: the root of the loss changes
by eps sqrt(K T), where K is the system's condition number once its diagonal is 1. Solvers damp a system
whose K is over a million (`kPivotTolerance` in native/kernels/cholesky.h), so K counts up to there.

The unobserved part of a history's loss comes from Gramians in single precision. It is off by a share eps of
alpha0 |W|^2 |H|^2, however small it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ialspp import Interactions, Objective
from ialspp.data.csr import Csr
from ialspp.model.history import EpochRecord

Matrix = NDArray[np.float64]
EPS = {"single": 2.0**-24, "mixed": 2.0**-11}  # an epoch of mixed precision reads a side in half precision
TINY = 2.0**-126  # smaller numbers lose digits, or become zero
WORST_CONDITION = 1e6
FACTOR = 8.0  # times these estimates: an epoch rounds many times, and what that adds up to grows like a root


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The parts of a loss."""

    observed: float
    unobserved: float
    penalty: float

    @property
    def total(self) -> float:
        """Their sum."""
        return self.observed + self.unobserved + self.penalty


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """The factors between two epochs, in double precision, and the precision that they come from."""

    W: Matrix
    H: Matrix
    precision: str = "single"


class Judge:
    """The loss of one problem in double precision, and how far off single precision may be."""

    def __init__(self, data: Interactions, objective: Objective) -> None:
        self._data, self._alpha0 = data, objective.unobserved_weight
        rows = data.by_user
        self._labels = np.ones(len(data)) if rows.labels is None else rows.labels.astype(float)
        self._weights = np.ones(len(data)) if rows.weights is None else rows.weights.astype(float)
        self._user_lambda = objective.row_regularization(rows.counts, data.n_items).astype(float)
        self._item_lambda = objective.row_regularization(data.by_item.counts, data.n_users).astype(float)

    def faults(self, before: Moment, after: Moment, record: EpochRecord) -> Iterator[str]:
        """Say what is wrong with the epoch between two moments."""
        start, end = (self._parts(moment.W @ moment.H.T, self._labels, moment) for moment in (before, after))
        terms = self._terms(before, after)
        eps = FACTOR * EPS[record.precision]
        lost = self._lost(after)
        slack = max(eps, FACTOR * EPS[before.precision]) * np.sqrt(terms.total) + np.sqrt(lost)
        if self._rises(start.total, end.total, slack, before, after):
            yield f"the loss rose from {start.total:g} to {end.total:g} in epoch {record.epoch}"
        updates = 2 * after.W.shape[1]  # of a cached residual in an epoch, at most
        slack = eps * np.sqrt((1 + updates) * terms.total)
        off = 2 * np.sqrt(end.total) * slack + slack**2 + eps * terms.unobserved + lost
        if not abs(record.loss - end.total) <= off:
            yield f"the history says {record.loss:g} of epoch {record.epoch}, and the loss is {end.total:g}"

    def _rises(self, start: float, end: float, slack: float, before: Moment, after: Moment) -> bool:
        rise = np.sqrt(end) - np.sqrt(start)
        return bool(rise > slack) and bool(rise > slack * np.sqrt(self._condition(before.H, after.W)))

    def _parts(self, scores: Matrix, labels: Matrix, moment: Moment) -> Parts:
        rows = self._data.by_user
        residuals = scores[rows.row_numbers, rows.columns] - labels
        return Parts(
            float(np.sum(self._weights * residuals**2)),
            float(self._alpha0 * np.sum(scores**2)),
            float(np.sum(self._user_lambda @ moment.W**2) + np.sum(self._item_lambda @ moment.H**2)),
        )

    def _terms(self, before: Moment, after: Moment) -> Parts:
        """Return the parts of T, of the larger factors of each row."""
        users, items = (
            np.maximum(*(np.linalg.norm(side, axis=1, keepdims=True) for side in sides))
            for sides in ((before.W, after.W), (before.H, after.H))
        )
        return self._parts(users @ items.T, -np.abs(self._labels), Moment(users, items))

    def _lost(self, moment: Moment) -> float:
        """Return what the loss may lose because squares in it are too small for single precision."""
        W, H = moment.W, moment.H
        squares = len(W) * np.sum(H**2) + len(H) * np.sum(W**2)
        return float(self._alpha0 * TINY * W.shape[1] * squares + TINY**2 * len(self._data))

    def _condition(self, H: Matrix, W: Matrix) -> float:
        """Return the largest K of an epoch that solves users given H, then items given W."""
        data = self._data
        systems = (
            *self._systems(data.by_user, H, self._user_lambda),
            *self._systems(data.by_item, W, self._item_lambda),
        )
        return min(max(map(_condition, systems)), WORST_CONDITION)

    def _systems(self, rows: Csr, H: Matrix, lambdas: Matrix) -> Iterator[Matrix]:
        gramian = self._alpha0 * H.T @ H
        for row, regularization in enumerate(lambdas):
            entries = slice(rows.offsets[row], rows.offsets[row + 1])
            near = H[rows.columns[entries]]
            weights = np.ones(len(near)) if rows.weights is None else rows.weights[entries].astype(float)
            yield (near.T * weights) @ near + gramian + regularization * np.eye(len(gramian))


def _condition(system: Matrix) -> float:
    diagonal = np.sqrt(np.diag(system))
    if not np.all(diagonal > 0):
        return float("inf")
    eigenvalues = np.linalg.eigvalsh(system / np.outer(diagonal, diagonal))
    return float(eigenvalues[-1] / eigenvalues[0]) if eigenvalues[0] > 0 else float("inf")
