"""What a fit found out about features: the linear map from them to vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.csr import Csr, Floats
from ..data.feature_rows import rows_of_matrix
from ..data.features import Features
from ..data.regression import FeatureRegression, multiplied
from ..errors import InvalidValueError
from ..files.arrays import is_finite


@dataclass(frozen=True, slots=True, eq=False)
class FeatureMap:
    """The map from the features of users or items to their vectors, and the features of its rows."""

    names: tuple[str, ...]
    weights: Floats  # A: one row per feature, one column per dimension
    rows: Csr  # the features of each user or item

    @classmethod
    def found(
        cls, features: Features | None, regression: FeatureRegression | None, vectors: Floats
    ) -> FeatureMap | None:
        """Return the map that belongs to the vectors of a side; None without features."""
        if features is None or regression is None:
            return None
        return cls(features.names, regression.weights(vectors).astype(np.float32), regression.features)

    def centres(self, rows: Csr, threads: int) -> Floats:
        """Return what the map makes of some rows of features."""
        out = np.empty((len(rows), self.weights.shape[1]), dtype=np.float32)
        return multiplied(rows.native(), self.weights, out, threads)

    def matched(self, given: Any) -> Csr:
        """Return rows of features in the columns of this map.

        given: `Features`, whose names are looked up, so that features the map does not know count nothing; or
        a matrix with the columns of the training's.
        """
        if isinstance(given, Features):
            return self._renumbered(given)
        rows = rows_of_matrix(given)
        if rows.n_columns != len(self.names):
            raise InvalidValueError(
                f"features as a matrix must have the {len(self.names)} columns that the model was trained "
                f"with, got {rows.n_columns}"
            )
        if rows.labels is not None and not is_finite(rows.labels):
            raise InvalidValueError("features must be finite in single precision, and are not")
        return rows

    def _renumbered(self, given: Features) -> Csr:
        numbers = {name: number for number, name in enumerate(self.names)}
        places = np.array([numbers.get(name, -1) for name in given.names], dtype=np.int64)
        if len(places) and (places < 0).all():
            raise InvalidValueError(
                f"none of the {len(places)} features is known to the model: {given.names[0]!r} is not, for "
                "example"
            )
        rows, columns = given.rows.row_numbers, places[given.rows.columns]
        order = np.lexsort((columns, rows))
        order = order[columns[order] >= 0]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(rows[order], minlength=len(given)))])
        values = None if given.rows.labels is None else given.rows.labels[order]
        return Csr(offsets, columns[order].astype(np.int32), len(self.names), values)

    def with_rows(self, rows: Csr) -> FeatureMap:
        """Return the same map for other rows."""
        return replace(self, rows=rows)

    def check(self, length: int, name: str) -> None:
        """Raise unless this is the map of so many rows: a file may say anything."""
        if not is_finite(self.weights):
            raise InvalidValueError(f"the map of {name} features must be finite, and is not")
        if len(self.rows) != length:
            raise InvalidValueError(f"{length} rows of {name} features are required, got {len(self.rows)}")
        self.rows.check()
