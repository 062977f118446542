"""Histories of users or items the model has not seen, as rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..data.csr import Csr, SortedPairs
from ..data.ids import IdMap
from ..data.values import labels_of, weights_of


def rows_of_histories(
    histories: Iterable[Iterable[Any]],
    items: IdMap,
    weights: Iterable[Iterable[float]] | None,
    labels: Iterable[Iterable[float]] | None,
    users: IdMap | None = None,
    name: str = "histories",
) -> Csr:
    """One row per history, by the rules of `Interactions`; its ids must be among `items`.

    users: so that an error can say if it was given their ids. name: what an error calls the histories.
    """
    listed = [
        _listed(history, f"each of {name}", f"{items.name} ids")
        for history in _listed(histories, name, f"sequences of {items.name} ids")
    ]
    numbers = IdMap(np.arange(len(listed)), name="history")
    item = items.rows([value for history in listed for value in history], users)
    pairs = SortedPairs.of(
        numbers,
        items,
        np.repeat(np.arange(len(listed), dtype=np.int32), [len(history) for history in listed]),
        item.astype(np.int32),
        labels_of(_flattened("labels", labels, listed, items.name), len(item)),
        weights_of(_flattened("weights", weights, listed, items.name), len(item)),
    )
    return pairs.merged()[0]


def _listed(sequence: Any, name: str, of: str) -> list[Any]:
    if isinstance(sequence, (str, bytes)) or not isinstance(sequence, Iterable):
        raise TypeError(f"{name} must be a sequence of {of}, got {sequence!r}")
    return list(sequence)


def _flattened(
    name: str, values: Iterable[Iterable[float]] | None, histories: list[list[Any]], of: str
) -> list[float] | None:
    if values is None:
        return None
    listed = [
        _listed(row, f"each of {name}", "numbers") for row in _listed(values, name, "sequences of numbers")
    ]
    if len(listed) != len(histories):
        raise ValueError(f"{name} must be given for each of {len(histories)} histories, got {len(listed)}")
    for number, (row, history) in enumerate(zip(listed, histories, strict=True)):
        if len(row) != len(history):
            raise ValueError(
                f"{name} must have one number per {of} of each history: history {number} has {len(history)}, "
                f"got {len(row)}"
            )
    return [value for row in listed for value in row]
