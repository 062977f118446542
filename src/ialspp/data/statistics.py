"""Counts and ranges of interactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .interactions import Interactions


def statistics(data: Interactions) -> dict[str, Any]:
    """Describe the data in plain values that JSON can hold.

    Always has `users`, `items` and `pairs`; with at least one pair also `density`, `pairs_per_user` and
    `pairs_per_item` (least, median, most); `label`, `weight` (least, most) and `time` (first, last) where
    the data has them.

    Users and items without interactions count as users and items.
    """
    facts: dict[str, Any] = {"users": data.n_users, "items": data.n_items, "pairs": len(data)}
    if len(data) == 0:
        return facts
    facts["density"] = len(data) / data.n_users / data.n_items
    for name, counts in (("user", data.by_user.counts), ("item", data.by_user.column_counts)):
        least, median, most = np.quantile(counts, [0, 0.5, 1], method="lower").astype(int).tolist()
        facts[f"pairs_per_{name}"] = {"least": least, "median": median, "most": most}
    for name, values in (("label", data.by_user.labels), ("weight", data.by_user.weights)):
        if values is not None:
            facts[name] = {"least": float(values.min()), "most": float(values.max())}
    if data.times is not None:
        facts["time"] = {"first": _date(data.times.min()), "last": _date(data.times.max())}
    return facts


def _date(seconds: float) -> str:
    return f"{np.datetime64(int(seconds), 's')}Z"  # numpy has years that datetime lacks
