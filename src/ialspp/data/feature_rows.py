"""Rows of features, sparse, from matrices and lists of entries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidTypeError, InvalidValueError
from .csr import Csr

MOST_FEATURES = 10_000  # the regression solves a dense system of this size


def rows_of_matrix(matrix: Any) -> Csr:
    """Return the rows of a sparse or dense matrix, without its zeros."""
    if hasattr(matrix, "tocsr"):
        sparse = matrix.tocsr(copy=True)
        sparse.sum_duplicates()  # sorts columns, too
        sparse.eliminate_zeros()
        offsets, columns, values = sparse.indptr, sparse.indices, sparse.data
    elif isinstance(matrix, np.ndarray) and matrix.ndim == 2:
        row, columns = np.nonzero(matrix)
        offsets, values = np.searchsorted(row, np.arange(len(matrix) + 1)), matrix[row, columns]
    else:
        what = (
            f"an array of shape {matrix.shape}" if isinstance(matrix, np.ndarray) else type(matrix).__name__
        )
        raise InvalidTypeError(f"features must be Features, or a scipy.sparse or numpy matrix, got {what}")
    return made_rows(np.asarray(offsets, dtype=np.int64), columns, matrix.shape[1], values)


def made_rows(
    offsets: NDArray[np.int64], columns: NDArray[Any], n_features: int, values: NDArray[Any] | None
) -> Csr:
    """Make rows of features, in single precision."""
    if n_features > MOST_FEATURES:
        raise InvalidValueError(f"at most {MOST_FEATURES:,} features are possible, got {n_features:,}")
    if values is not None and values.dtype.kind not in "biuf":
        raise InvalidTypeError(f"features must be numbers, got {values.dtype}")
    with np.errstate(over="ignore"):
        floats = None if values is None else values.astype(np.float32)
    return Csr(offsets, columns.astype(np.int32), n_features, floats).without_ones()
