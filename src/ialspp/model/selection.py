"""Items that a question names: ids for everyone, a mask, or ids for each user."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr
from ..data.id_values import refuse_masked
from ..data.ids import IdMap
from ..errors import UnknownIdError
from .histories import rows_of_histories
from .ranking import Filter


def filter_of(
    questions: int, items: IdMap, users: IdMap, *, seen: Csr | None, candidates: Any, exclude: Any
) -> Filter:
    """What may be named: of the candidates what is neither seen nor excluded.

    questions: how many rows are asked about, which is how many lists of ids "for each user" must have.
    """
    only, only_rows = _selected("candidates", candidates, questions, items, users)
    never, never_rows = _selected("exclude", exclude, questions, items, users)
    hidden = never_rows if seen is None else seen if never_rows is None else seen.union(never_rows)
    eligible = only if never is None else ~never if only is None else only & ~never
    return Filter(hidden, only_rows, eligible)


def _selected(
    name: str, value: Any, questions: int, items: IdMap, users: IdMap
) -> tuple[NDArray[np.bool_] | None, Csr | None]:
    """A mask over all items, or rows for each question; neither where nothing was said."""
    if value is None:
        return None, None
    if str(getattr(value, "dtype", "")).lower() in ("bool", "boolean") and hasattr(value, "to_numpy"):
        value = value.to_numpy()  # a column of a data frame
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable) or _is_single(value):
        raise TypeError(f"{name} must be ids of items, a mask, or ids for each user, got {value!r}")
    listed = value if isinstance(value, np.ndarray) else list(value)
    if _is_mask(listed) or (len(listed) and all(map(_is_mask, listed))):
        return _masked(name, listed, questions, len(items))
    try:
        if len(listed) and not isinstance(listed[0], (str, bytes)) and isinstance(listed[0], Iterable):
            if len(listed) != questions:
                raise ValueError(f"{name} must have ids for each user, {questions} in all, got {len(listed)}")
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
    name: str, listed: Any, questions: int, n_items: int
) -> tuple[NDArray[np.bool_] | None, Csr | None]:
    refuse_masked(listed, name)
    for number, mask in enumerate([] if _is_mask(listed) else listed):
        if mask.shape != (n_items,):
            raise ValueError(f"{name}: mask {number} must have shape ({n_items},), got {mask.shape}")
    mask = np.asarray(listed)
    if mask.shape == (n_items,):
        return mask, None
    if mask.shape != (questions, n_items):
        raise ValueError(
            f"{name} as a mask must have shape ({n_items},), one per item, or ({questions}, {n_items}), one "
            f"per user and item; got {mask.shape}"
        )
    offsets = np.concatenate([[0], np.cumsum(mask.sum(axis=1))]).astype(np.int64)
    return None, Csr(offsets, np.nonzero(mask)[1].astype(np.int32), n_items)
