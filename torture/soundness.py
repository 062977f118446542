"""What interactions must be, wherever they came from."""

from __future__ import annotations

import numpy as np

from ialspp import Interactions


def unsound(data: Interactions) -> str:
    """Say what is wrong with interactions, "" if nothing."""
    rows = data.by_user
    shape = len(rows) == len(data.users) and rows.n_columns == len(data.items)
    if not shape or rows.offsets[0] != 0 or rows.offsets[-1] != len(rows.columns):
        return f"rows of {len(rows)} x {rows.n_columns}, ids {len(data.users)} x {len(data.items)}"
    if (np.diff(rows.offsets) < 0).any() or ((rows.columns < 0) | (rows.columns >= rows.n_columns)).any():
        return "offsets or columns out of range"
    if rows.labels is not None and not np.isfinite(rows.labels).all():
        return "labels that are not finite"
    if rows.weights is not None and not (np.isfinite(rows.weights) & (rows.weights >= 0)).all():
        return "weights that are not finite, or negative"
    if data.times is not None and not np.isfinite(data.times).all():
        return "times that are not finite"
    if any(len(set(ids)) != len(ids) for ids in (data.users, data.items)):
        return "an id twice"
    pairs = set(zip(rows.row_numbers.tolist(), rows.columns.tolist(), strict=True))
    other = data.by_item
    if pairs != set(zip(other.columns.tolist(), other.row_numbers.tolist(), strict=True)):
        return "other pairs by item than by user"
    return "" if len(pairs) == len(data) else "a pair twice"
