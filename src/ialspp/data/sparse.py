"""Interactions as a sparse matrix of scipy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidValueError, MissingExtraError
from .csr import Csr


def matrix_of(rows: Csr, values: str | None) -> Any:
    """Return a scipy.sparse.csr_array with its own arrays, which may be changed."""
    if values not in ("weight", "label", None):
        raise InvalidValueError(f'values must be "weight", "label" or None, got {values!r}')
    try:
        from scipy.sparse import csr_array
    except ImportError as error:
        raise MissingExtraError("to_scipy needs scipy: pip install scipy") from error
    numbers = {"weight": rows.weights, "label": rows.labels, None: None}[values]
    stored = np.ones(len(rows.columns), dtype=np.float32) if numbers is None else numbers.copy()
    return csr_array((stored, rows.columns.copy(), rows.offsets.copy()), (len(rows), rows.n_columns))
