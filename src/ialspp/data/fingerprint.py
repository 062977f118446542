"""What identifies data: a hash of its ids and interactions."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from .stored_ids import arrays_of_ids, kind_of

if TYPE_CHECKING:
    from .interactions import Interactions


def fingerprint(data: Interactions) -> str:
    """Return a hash of everything that training reads: ids in their order, pairs, labels and weights."""
    rows = data.by_user
    arrays = {
        **arrays_of_ids("user", data.users),
        **arrays_of_ids("item", data.items),
        "offsets": rows.offsets,
        "columns": rows.columns,
        **({} if rows.labels is None else {"labels": rows.labels}),
        **({} if rows.weights is None else {"weights": rows.weights}),
    }
    digest = hashlib.sha256()
    for axis in (data.users, data.items):
        digest.update(kind_of(axis).encode())
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
