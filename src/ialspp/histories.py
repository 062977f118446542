"""Histories of users the model has not seen, as rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .csr import Csr, rows_by_user
from .ids import IdMap
from .interactions import labels_of, weights_of


def rows_of_histories(
    histories: Sequence[Iterable[Any]],
    items: IdMap,
    weights: Sequence[Iterable[float]] | None,
    labels: Sequence[Iterable[float]] | None,
) -> Csr:
    """One row per history, by the rules of `Interactions`; its ids must be among `items`."""
    for sequence in (histories, *histories) if _is_sequence(histories) else (histories,):
        if not _is_sequence(sequence):
            raise TypeError(
                f"histories must be a sequence of histories, each a sequence of item ids; got {sequence!r}"
            )
    listed = [list(history) for history in histories]
    numbers = IdMap(np.arange(len(listed)), name="history")
    item = items.rows([value for history in listed for value in history])
    return rows_by_user(
        numbers,
        items,
        np.repeat(np.arange(len(listed), dtype=np.int32), [len(history) for history in listed]),
        item.astype(np.int32),
        labels_of(_flattened("labels", labels, listed), len(item)),
        weights_of(_flattened("weights", weights, listed), len(item)),
    )


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes))


def _flattened(
    name: str, values: Sequence[Iterable[float]] | None, histories: list[list[Any]]
) -> list[float] | None:
    if values is None:
        return None
    listed = [list(row) for row in values]
    if [len(row) for row in listed] != [len(history) for history in histories]:
        raise ValueError(f"{name} must have one number per item of each history")
    return [value for row in listed for value in row]
