"""Forge the contents of prepared data so that its parts agree: by user, by item and the statistics."""

from __future__ import annotations

import json
from contextlib import suppress
from random import Random
from typing import Any

from numpy.typing import NDArray

from ialspp.data.csr import Csr, transpose
from ialspp.data.statistics import statistics
from ialspp.errors import IalsppError
from torture.forging.forgeries import with_changes
from torture.forging.parts import Parts


def alike(file: bytes, random: Random) -> bytes:
    """Change numbers of the rows by user, and let all else follow from them where it can."""
    parts = Parts.of(file)
    for _ in range(random.choice([1, 1, 2])):
        name = random.choice([name for name in parts.arrays if name.startswith("by_user.")])
        parts.put(name, with_changes(parts.array(name), random))
    with suppress(IalsppError, OverflowError, ValueError):  # rows or times that cannot be
        _follow(parts)
    return parts.signed()


def _follow(parts: Parts) -> None:
    """Put the transpose of the rows by user in the place of the rows by item, and their statistics."""

    def found(name: str) -> NDArray[Any] | None:
        return parts.array(f"by_user.{name}") if f"by_user.{name}" in parts.arrays else None

    n_items = len(parts.array("by_item.offsets")) - 1
    by_user = Csr(
        parts.array("by_user.offsets"),
        parts.array("by_user.items"),
        n_items,
        found("labels"),
        found("weights"),
    )
    by_item = transpose(by_user)
    made = {"users": by_item.columns, "labels": by_item.labels, "weights": by_item.weights}
    for name, array in {"offsets": by_item.offsets, **made}.items():
        if array is not None:
            parts.put(f"by_item.{name}", array)
    description = json.loads(parts.metadata["description"])
    description["statistics"] = statistics(by_user, found("times"))
    parts.metadata["description"] = json.dumps(description)
