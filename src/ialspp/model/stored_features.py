"""Features and the map from them to vectors as arrays for a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr
from ..data.feature_rows import MOST_FEATURES
from ..data.features import checked_names
from ..data.names import Names
from ..data.offsets import is_framed
from ..data.utf8 import Utf8
from ..files.arrays import Arrays, part_named
from ..files.container import StoreError
from .feature_map import FeatureMap


def arrays_of_features(axis: str, features: FeatureMap | None) -> dict[str, NDArray[Any]]:
    """Return the arrays that hold the features of the "user"s or the "item"s; none if there are none."""
    if features is None:
        return {}
    names, rows, prefix = Names(features.names).utf8, features.rows, f"{axis}_features"
    return {
        f"{prefix}.map": features.weights,
        f"{prefix}.names.offsets": names.offsets,
        f"{prefix}.names.utf8": names.data,
        f"{prefix}.offsets": rows.offsets,
        f"{prefix}.columns": rows.columns,
        **({} if rows.labels is None else {f"{prefix}.values": rows.labels}),
    }


def has_features(arrays: Arrays, axis: str) -> bool:
    """Whether a file has features of the "user"s or the "item"s."""
    return f"{axis}_features.map" in arrays


def features_of(arrays: Arrays, axis: str, length: int, dim: int) -> FeatureMap | None:
    """Restore the features of so many rows; None if the file has none."""
    if not has_features(arrays, axis):
        return None
    prefix = f"{axis}_features"
    weights = arrays.get(f"{prefix}.map", np.float32, dimensions=2)
    if weights.shape[1] != dim or len(weights) > MOST_FEATURES:
        raise StoreError(f"a map of {axis} features of shape {weights.shape} does not fit {dim} dimensions")
    offsets = arrays.get(f"{prefix}.offsets", np.int64, length=length + 1)
    columns = arrays.get(f"{prefix}.columns", np.int32)
    if not is_framed(offsets, len(columns)):
        raise StoreError(f"the {axis} features do not fit {length} {axis}s")
    values = arrays.maybe(f"{prefix}.values", np.float32, len(columns))
    return FeatureMap(
        _names(arrays, axis, len(weights)), weights, Csr(offsets, columns, len(weights), values)
    )


def _names(arrays: Arrays, axis: str, length: int) -> tuple[str, ...]:
    offsets = arrays.get(f"{axis}_features.names.offsets", np.int64, length=length + 1)
    strings = Utf8(offsets, arrays.get(f"{axis}_features.names.utf8", np.uint8), "names")
    with part_named(f"the names of {axis} features"):
        strings.check(whole=True)
        return checked_names(Names.stored(strings))
