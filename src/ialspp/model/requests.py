"""What queries name: histories of unseen users, candidates and exclusions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, SortedPairs
from ..data.id_values import refuse_masked
from ..data.ids import IdMap
from ..data.values import labels_of, weights_of
from ..errors import InvalidTypeError, InvalidValueError, UnknownIdError
from .ranking import Filter


def rows_of_histories(
    histories: Iterable[Iterable[Any]],
    items: IdMap,
    weights: Iterable[Iterable[float]] | None,
    labels: Iterable[Iterable[float]] | None,
    users: IdMap | None = None,
    name: str = "histories",
) -> Csr:
    """Turn histories into rows, one each, by the rules of `Interactions`. Their ids must be among `items`.

    users: the other axis, so that an error can say that ids of users were given. name: what errors call the
    histories.
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
        raise InvalidTypeError(f"{name} must be a sequence of {of}, got {sequence!r}")
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
        raise InvalidValueError(
            f"{name} must be given for each of {len(histories)} histories, got {len(listed)}"
        )
    for number, (row, history) in enumerate(zip(listed, histories, strict=True)):
        if len(row) != len(history):
            raise InvalidValueError(
                f"{name} must have one number per {of} of each history: history {number} has {len(history)}, "
                f"got {len(row)}"
            )
    return [value for row in listed for value in row]


def filter_of(
    queries: int, items: IdMap, users: IdMap, *, seen: Csr | None, candidates: Any, exclude: Any
) -> Filter:
    """Combine candidates, exclusions and seen items into one filter.

    queries: how many users are queried, which is how many lists candidates "for each user" must have.
    """
    only, only_rows = _selected("candidates", candidates, queries, items, users)
    never, never_rows = _selected("exclude", exclude, queries, items, users)
    hidden = never_rows if seen is None else seen if never_rows is None else seen.union(never_rows)
    eligible = only if never is None else ~never if only is None else only & ~never
    return Filter(hidden, only_rows, eligible)


def _selected(
    name: str, value: Any, queries: int, items: IdMap, users: IdMap
) -> tuple[NDArray[np.bool_] | None, Csr | None]:
    """Return a mask over all items, or rows for each query; neither where `value` is None."""
    if value is None:
        return None, None
    if str(getattr(value, "dtype", "")).lower() in ("bool", "boolean") and hasattr(value, "to_numpy"):
        value = value.to_numpy()  # a column of a data frame
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable) or _is_single(value):
        raise InvalidTypeError(f"{name} must be ids of items, a mask, or ids for each user, got {value!r}")
    listed = value if isinstance(value, np.ndarray) else list(value)
    if _is_mask(listed) or (len(listed) and all(map(_is_mask, listed))):
        return _masked(name, listed, queries, len(items))
    try:
        if len(listed) and not isinstance(listed[0], (str, bytes)) and isinstance(listed[0], Iterable):
            if len(listed) != queries:
                raise InvalidValueError(
                    f"{name} must have ids for each user, {queries} in all, got {len(listed)}"
                )
            return None, rows_of_histories(listed, items, None, None, users, name)
        mask = np.zeros(len(items), dtype=bool)
        mask[items.rows(listed, users)] = True
    except UnknownIdError as error:
        raise UnknownIdError(f"{name}: {error}") from None
    return mask, None


def _is_single(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 0


def _is_mask(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == bool


def _masked(
    name: str, listed: Any, queries: int, n_items: int
) -> tuple[NDArray[np.bool_] | None, Csr | None]:
    refuse_masked(listed, name)
    for number, mask in enumerate([] if _is_mask(listed) else listed):
        if mask.shape != (n_items,):
            raise InvalidValueError(f"{name}: mask {number} must have shape ({n_items},), got {mask.shape}")
    mask = np.asarray(listed)
    if mask.shape == (n_items,):
        return mask, None
    if mask.shape != (queries, n_items):
        raise InvalidValueError(
            f"{name} as a mask must have shape ({n_items},), one per item, or ({queries}, {n_items}), one "
            f"per user and item; got {mask.shape}"
        )
    offsets = np.concatenate([[0], np.cumsum(mask.sum(axis=1))]).astype(np.int64)
    return None, Csr(offsets, np.nonzero(mask)[1].astype(np.int32), n_items)
