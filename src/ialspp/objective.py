"""The loss that every solver minimises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from .data.csr import Csr, Floats
from .data.features import Features
from .data.ids import IdMap
from .data.interactions import Interactions
from .data.regression import FeatureRegression
from .errors import InvalidValueError
from .system.checks import checked_number
from .system.machine import resolve_threads


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss in its three parts."""

    observed: float
    unobserved: float
    regularization: float

    @property
    def total(self) -> float:
        """The sum of the parts."""
        return self.observed + self.unobserved + self.regularization


class PartOfLoss(NamedTuple):
    """What the loss needs of the users or of the items."""

    gramian: NDArray[np.float64]
    penalties: NDArray[np.float64]


def in_single_precision(numbers: NDArray[np.float64]) -> Floats:
    """Round numbers. Those that are too large become infinite, and whoever uses them reports it."""
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32)


def penalties_of(
    factors: Floats,
    regularization: Floats,
    threads: int,
    regression: FeatureRegression | None = None,
    shards: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Return the penalty on the factors of one side, dimension by dimension: sum_u lambda_u w_uk^2.

    With features it is that around the centres, and that on their map. shards: the ranges of rows over which
    it is summed.
    """
    penalties = _core.weighted_column_squares(factors, regularization, threads, shards)
    if regression is None:
        return penalties
    return np.maximum(penalties - regression.explained(factors), 0)  # -1e-30 is rounding


def loss_of(observed: float, unobserved_weight: float, users: PartOfLoss, items: PartOfLoss) -> Loss:
    """Complete the loss from its observed part.

    The sum of all squared scores is the sum of the products of the two Gramians' entries, so no score is
    computed.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # the caller sees that the sum is not finite
        squared_scores = float(np.maximum(np.sum(users.gramian * items.gramian), 0))  # -1e-30 is rounding
    penalty = float(users.penalties.sum() + items.penalties.sum())
    return Loss(observed, unobserved_weight * squared_scores, penalty)


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """Squared loss on what was observed, plus a small pull to zero on every pair.

        L(W, H) = sum over (u, i, y, a) in S of a (<w_u, h_i> - y)^2
                + alpha_0 sum over all u, i of <w_u, h_i>^2
                + sum over u of lambda_u |w_u|^2 + sum over i of lambda_i |h_i|^2

        lambda_u = lambda (|S_u| + alpha_0 |I|)^nu,   lambda_i = lambda (|S_i| + alpha_0 |U|)^nu

    With features f_u of the users, and in the same way of the items, vectors are pulled to what a linear map
    A makes of their features, instead of to zero. A is the best one: the loss is its least value over A.

        sum over u of lambda_u |w_u - A'f_u|^2 + mu |A|^2   instead of   sum over u of lambda_u |w_u|^2

        mu = rho times the mean of all lambda_u, rho = the regularization of the `Features`

    Parameters
    ----------
    unobserved_weight
        alpha_0, the weight of every pair's pull to zero. 0.1 is the paper's choice for MovieLens 20M.
    regularization
        lambda. 0.003 is the paper's choice for MovieLens 20M.
    exponent
        nu: 0 is the plain regulariser, 1 (the paper's experiments) makes it grow with a row's count.

    Examples
    --------
    >>> model = ImplicitMF(dim=8, objective=Objective(unobserved_weight=0.05, regularization=0.01)).fit(data)
    >>> model.recommend("cyd", k=1)
    ['milk']
    """

    unobserved_weight: float = 0.1
    regularization: float = 0.003
    exponent: float = 1.0

    def __post_init__(self) -> None:
        for name in ("unobserved_weight", "regularization", "exponent"):
            object.__setattr__(self, name, checked_number(name, getattr(self, name)))

    def row_regularization(self, counts: NDArray[Any], n_other: int) -> Floats:
        """Return lambda of each row: regularization * (count + unobserved_weight * n_other) ** exponent.

        Examples
        --------
        Two users have 2 and 4 of the 4 items:

        >>> strong = Objective(unobserved_weight=0.5, regularization=0.25)
        >>> strong.row_regularization(np.array([2, 4]), 4).tolist()
        [1.0, 1.5]
        """
        if self.regularization == 0:
            return np.zeros(len(counts), dtype=np.float32)
        mass = counts + self.unobserved_weight * n_other
        with np.errstate(over="ignore"):
            values = in_single_precision(self.regularization * mass**self.exponent)
        if not np.isfinite(values).all():
            raise InvalidValueError(
                f"regularization {self.regularization} with exponent {self.exponent} overflows "
                f"single precision for a row with {counts[np.argmax(values)]} interactions"
            )
        return values

    def loss(
        self,
        data: Interactions,
        user_factors: Floats,
        item_factors: Floats,
        *,
        user_features: Features | None = None,
        item_features: Features | None = None,
        threads: int | None = None,
    ) -> Loss:
        """Return the loss of any factors, summed in double precision.

        Examples
        --------
        >>> loss = objective.loss(data, model.user_factors, model.item_factors)
        >>> round(loss.total, 2)
        0.59
        """
        threads = resolve_threads(threads)
        users, items = _checked_factors(data, user_factors, item_factors)
        residuals = _core.residuals(data.by_user.native(), users, items, threads)
        sides = (
            self._part(rows, ids, factors, features, threads)
            for rows, ids, factors, features in (
                (data.by_user, data.users, users, user_features),
                (data.by_item, data.items, items, item_features),
            )
        )
        return loss_of(_core.squared_sum(residuals, threads), self.unobserved_weight, *sides)

    def _part(
        self, rows: Csr, ids: IdMap, factors: Floats, features: Features | None, threads: int
    ) -> PartOfLoss:
        lam = self.row_regularization(rows.counts, rows.n_columns)
        regression = FeatureRegression.of(features, ids, lam, threads)
        gramian = _core.gramian(factors, 0, factors.shape[1], threads)
        return PartOfLoss(gramian, penalties_of(factors, lam, threads, regression))

    def gradient(
        self,
        data: Interactions,
        user_factors: Floats,
        item_factors: Floats,
        *,
        user_features: Features | None = None,
        item_features: Features | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return dL/dW and dL/dH in double precision: for checking, not for training.

        Examples
        --------
        After training, the gradient is close to zero:

        >>> of_users, of_items = objective.gradient(data, model.user_factors, model.item_factors)
        >>> bool(abs(of_users).max() < 0.01)
        True
        """
        users, items = _checked_factors(data, user_factors, item_factors)
        return (
            self._side_gradient(data.by_user, data.users, users, items, user_features),
            self._side_gradient(data.by_item, data.items, items, users, item_features),
        )

    def _side_gradient(
        self, rows: Csr, ids: IdMap, factors: Floats, other: Floats, features: Features | None
    ) -> NDArray[np.float64]:
        x, h = factors.astype(float), other.astype(float)
        lam = self.row_regularization(rows.counts, rows.n_columns)
        regression = FeatureRegression.of(features, ids, lam, resolve_threads(None))
        centres = np.zeros_like(x) if regression is None else regression.centres(factors).astype(float)
        half = self.unobserved_weight * (x @ (h.T @ h)) + lam[:, None] * (x - centres)
        for row in range(len(x)):
            entries = slice(rows.offsets[row], rows.offsets[row + 1])
            neighbours = h[rows.columns[entries]]
            label = 1.0 if rows.labels is None else rows.labels[entries]
            weight = 1.0 if rows.weights is None else rows.weights[entries]
            half[row] += (weight * (neighbours @ x[row] - label)) @ neighbours
        return np.asarray(2 * half, dtype=np.float64)


def _checked_factors(data: Interactions, users: Floats, items: Floats) -> tuple[Floats, Floats]:
    users, items = (np.ascontiguousarray(side, dtype=np.float32) for side in (users, items))
    shapes = users.shape, items.shape
    if users.ndim != 2 or items.ndim != 2 or users.shape[1] != items.shape[1] or users.shape[1] == 0:
        raise InvalidValueError(f"factors must be two matrices of one width, at least 1, got shapes {shapes}")
    if (users.shape[0], items.shape[0]) != (data.n_users, data.n_items):
        raise InvalidValueError(
            f"factors must have {data.n_users} and {data.n_items} rows, got shapes {shapes}"
        )
    return users, items
