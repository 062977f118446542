"""What identifies data: its counts, and a hash of its ids and interactions."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidTypeError
from .names import Names
from .stored_ids import arrays_of_ids, kind_of

if TYPE_CHECKING:
    from .features import Features
    from .interactions import Interactions


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Equal for data on which a fit gives the same bits, and for no other."""

    users: int
    items: int
    pairs: int
    sha256: str

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value).__name__ != field.type:
                raise InvalidTypeError(f"{field.name} must be of type {field.type}, got {value!r}")

    @classmethod
    def of(cls, data: Interactions) -> Fingerprint:
        """Take the fingerprint of data."""
        return cls(data.n_users, data.n_items, len(data), _hash(data))

    def difference(self, other: Fingerprint) -> str | None:
        """Say how other data differs from this, or return None if it does not."""
        counts = [
            f"{getattr(self, name):,} {name} are required, got {getattr(other, name):,}"
            for name in ("users", "items", "pairs")
            if getattr(self, name) != getattr(other, name)
        ]
        if counts:
            return ", ".join(counts)
        return None if self == other else "the counts are the same, but ids, pairs, labels or weights differ"


def fingerprint_of(features: Features) -> str:
    """Return a text that is equal for features with which a fit gives the same bits, and for no other."""
    rows = features.rows
    arrays = {
        **arrays_of_ids("id", features.ids),
        "names": Names(features.names).utf8.data,
        "name_offsets": Names(features.names).utf8.offsets,
        "offsets": rows.offsets,
        "columns": rows.columns,
        **({} if rows.labels is None else {"values": rows.labels}),
    }
    return _digest(f"{kind_of(features.ids)} {features.regularization!r} ", arrays)


def _hash(data: Interactions) -> str:
    """Hash everything that training reads: ids in their order, pairs, labels and weights."""
    kinds = "".join(f"{kind_of(axis)} " for axis in (data.users, data.items))
    return _digest(kinds, _arrays(data))


def _digest(kinds: str, arrays: dict[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256(kinds.encode())
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _arrays(data: Interactions) -> dict[str, NDArray[Any]]:
    rows = data.by_user
    arrays = {
        **arrays_of_ids("user", data.users),
        **arrays_of_ids("item", data.items),
        "offsets": rows.offsets,
        "columns": rows.columns,
        "labels": rows.labels,
        "weights": rows.weights,
    }
    return {name: array for name, array in arrays.items() if array is not None}
