"""The linear map that best predicts the vectors of users or items from their features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import InvalidValueError
from ..system.locks import one_blas_thread
from .csr import Csr, Floats, aligned, transpose
from .features import Features
from .ids import IdMap

Doubles = NDArray[np.float64]


class FeatureRegression:
    """A ridge regression of one side's vectors W on the features F of its rows.

        A = argmin over A of  sum over u of lambda_u |w_u - A'f_u|^2  +  mu |A|^2
          = (F'RF + mu I)^-1 F'R W,     R = diag(lambda_u)

    The centre of row u is A'f_u. A depends on W alone, so that nothing of it has to be kept between epochs:
    it is computed anew from the vectors whenever it is needed.
    """

    def __init__(self, features: Csr, regularization: Floats, mu: float, threads: int) -> None:
        self.features = features
        self._rows, self._lambda, self._threads = features.native(), regularization, threads
        system = _core.feature_gramian(self._rows, transpose(features).native(), regularization, threads)
        system[np.diag_indices_from(system)] += mu
        if not np.isfinite(system).all():
            raise InvalidValueError("the features are too large: the sums of their squares are not finite")
        with one_blas_thread():
            self._inverse_root = np.linalg.inv(_cholesky(system))  # of the system's Cholesky factor

    @classmethod
    def of(
        cls, features: Features | None, ids: IdMap, regularization: Floats, threads: int
    ) -> FeatureRegression | None:
        """Set up the regression for the rows of `ids`; None without features."""
        if features is None:
            return None
        mean = float(regularization.mean(dtype=np.float64)) if len(regularization) else 0.0
        if mean == 0:
            raise InvalidValueError(
                f"{ids.name} features need regularization > 0 in the objective: they say where it pulls "
                "vectors to"
            )
        return cls(features.rows_of(ids), regularization, features.regularization * mean, threads)

    def weights(self, factors: Floats) -> Doubles:
        """Return A, one row per feature."""
        projected = self._projected(factors)
        with one_blas_thread():
            return np.asarray(self._inverse_root.T @ projected, dtype=np.float64)

    def explained(self, factors: Floats) -> Doubles:
        """Return by how much features lower the penalty on each dimension: W'R W becomes W'R (W - F A).

        The penalty that is left is sum_u lambda_u (w_u - A'f_u)^2 + mu A^2 at its minimum over A.
        """
        return np.asarray(np.square(self._projected(factors)).sum(axis=0), dtype=np.float64)

    def centres(self, factors: Floats, out: Floats | None = None) -> Floats:
        """Return the centre of every row, in `out` if it is given."""
        out = aligned(factors.shape) if out is None else out
        return multiplied(self._rows, self.weights(factors).astype(np.float32), out, self._threads)

    def _projected(self, factors: Floats) -> Doubles:
        """Return C^-1 F'R W, where C C' = F'RF + mu I."""
        products = _core.feature_products(self._rows, self._lambda, factors, self._threads)
        with one_blas_thread():
            return np.asarray(self._inverse_root @ products, dtype=np.float64)


def multiplied(features: _core.Rows, weights: Floats, out: Floats, threads: int) -> Floats:
    """Compute out = F A of sparse features and a map."""
    if len(weights) == 0:
        out.fill(0)
    elif len(out):
        ones = np.ones(max(len(out), len(weights)), dtype=np.float32)
        _core.multiply_rows(features, out, ones[: len(out)], weights, ones[: len(weights)], threads)
    return out


def _cholesky(system: Doubles) -> Doubles:
    try:
        return np.asarray(np.linalg.cholesky(system), dtype=np.float64)
    except np.linalg.LinAlgError as error:
        raise InvalidValueError(
            "the features are nearly dependent, or differ too much in size; scale them to about 1, or raise "
            "the regularization of the Features"
        ) from error
