"""Counts and ranges of interactions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..files.parsing import check_values, part
from .csr import Csr, Times


def statistics(by_user: Csr, times: Times | None) -> dict[str, Any]:
    """Describe the data in plain values that JSON can hold.

    Always has `users`, `items` and `pairs`; with at least one pair also `density`, `pairs_per_user` and
    `pairs_per_item` (least, median, most); `label`, `weight` (least, most) and `time` (first, last) where
    the data has them.

    Users and items without interactions count as users and items.
    """
    users, items, pairs = len(by_user.counts), by_user.n_columns, len(by_user.columns)
    facts: dict[str, Any] = {"users": users, "items": items, "pairs": pairs}
    if pairs == 0:
        return facts
    facts["density"] = pairs / users / items
    for name, counts in (("user", by_user.counts), ("item", by_user.column_counts)):
        least, median, most = np.quantile(counts, [0, 0.5, 1], method="lower").astype(int).tolist()
        facts[f"pairs_per_{name}"] = {"least": least, "median": median, "most": most}
    for name, values in (("label", by_user.labels), ("weight", by_user.weights)):
        if values is not None:
            facts[name] = {"least": float(values.min()), "most": float(values.max())}
    if times is not None:
        facts["time"] = {"first": _date(times.min()), "last": _date(times.max())}
    return facts


def described(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return statistics for people to read: one line for each, a group of numbers in one text."""
    return {
        name.replace("_", " "): _listed(value) if isinstance(value, Mapping) else value
        for name, value in facts.items()
    }


def _listed(group: Mapping[str, Any]) -> str:
    shown = {
        name: f"{value:,.6g}" if isinstance(value, (int, float)) else value for name, value in group.items()
    }
    return ", ".join(f"{name} {value}" for name, value in shown.items())


def checked_statistics(described: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the statistics of the data: numbers, texts, and groups of them."""
    statistics: dict[str, Any] | None = part(described, "statistics", dict, type(None))
    if statistics is not None:
        groups = {name: value for name, value in statistics.items() if type(value) is dict}
        check_values("statistics", statistics, but=tuple(groups))
        for name, group in groups.items():
            check_values(name, group)
    return statistics


def _date(seconds: float) -> str:
    return f"{np.datetime64(int(seconds), 's')}Z"  # numpy has years that datetime lacks
