"""What queries name: users or items, histories of unseen users, candidates and exclusions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, SortedPairs
from ..data.id_values import refuse_masked
from ..data.ids import IdMap
from ..data.values import labels_of, weights_of
from ..errors import InvalidTypeError, InvalidValueError, UnknownIdError
from .ranking import Filter
from .skipped import Lookup


def is_one(ids: Any) -> bool:
    """Whether this is one id, and not a sequence of ids."""
    return isinstance(ids, (str, int, np.integer))


def as_list(ids: Any) -> Any:
    """Make a list of one id; leave anything else as it is."""
    return [ids] if is_one(ids) else ids


def rows_of_histories(
    histories: Iterable[Iterable[Any]],
    items: IdMap,
    weights: Iterable[Iterable[float]] | None,
    labels: Iterable[Iterable[float]] | None,
    lookup: Lookup,
    users: IdMap | None = None,
    name: str = "histories",
) -> Csr:
    """Turn histories into rows, one each, by the rules of `Interactions`.

    lookup: what to do with ids that are not among `items`; if they are skipped, so are their weights and
    labels. users: the other axis, so that an error can say that ids of users were given. name: what errors
    call the histories.
    """
    listed = [
        _listed(history, f"each of {name}", f"{items.name} ids")
        for history in _listed(histories, name, f"sequences of {items.name} ids")
    ]
    numbers = IdMap(np.arange(len(listed)), name="history")
    item, known = lookup.rows(name, [value for history in listed for value in history], items, users)
    user = np.repeat(np.arange(len(listed), dtype=np.int32), [len(history) for history in listed])
    label = labels_of(_flattened("labels", labels, listed, items.name), len(user))
    weight = weights_of(_flattened("weights", weights, listed, items.name), len(user))
    if known is not None:
        user = user[known]
        label, weight = (None if values is None else values[known] for values in (label, weight))
    return SortedPairs.of(numbers, items, user, item.astype(np.int32), label, weight).merged()[0]


def _listed(sequence: Any, name: str, of: str) -> list[Any]:
    if isinstance(sequence, (str, bytes, Mapping)) or not isinstance(sequence, Iterable):
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
    asked: NDArray[np.bool_],
    items: IdMap,
    users: IdMap,
    lookup: Lookup,
    *,
    seen: Csr | None,
    candidates: Any,
    exclude: Any,
) -> Filter:
    """Combine candidates, exclusions and seen items into one filter.

    asked: for each user that was named, whether there is a ranking for them, or they were skipped. Candidates
    "for each user" must have a list for all of them. seen: the items of those who were not skipped.
    """
    only, only_rows = _selected("candidates", candidates, asked, items, users, lookup)
    never, never_rows = _selected("exclude", exclude, asked, items, users, lookup)
    hidden = never_rows if seen is None else seen if never_rows is None else seen.union(never_rows)
    eligible = only if never is None else ~never if only is None else only & ~never
    return Filter(hidden, only_rows, eligible)


def _selected(
    name: str, value: Any, asked: NDArray[np.bool_], items: IdMap, users: IdMap, lookup: Lookup
) -> tuple[NDArray[np.bool_] | None, Csr | None]:
    """Return a mask over all items, or rows for each user asked; neither where `value` is None."""
    if value is None:
        return None, None
    try:
        mask, rows = _mask_or_rows(name, value, len(asked), items, users, lookup)
    except UnknownIdError as error:
        raise UnknownIdError(f"{name}: {error}") from None
    return mask, rows if rows is None or asked.all() else rows.take(np.flatnonzero(asked))


def _mask_or_rows(
    name: str, value: Any, queries: int, items: IdMap, users: IdMap, lookup: Lookup
) -> tuple[NDArray[np.bool_] | None, Csr | None]:
    if str(getattr(value, "dtype", "")).lower() in ("bool", "boolean") and hasattr(value, "to_numpy"):
        value = value.to_numpy()  # a column of a data frame
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable) or _is_single(value):
        raise InvalidTypeError(
            f"{name} must be ids of {items.name}s, a mask, or a sequence of ids for each user, in the order "
            f"of the users; got {value!r}"
        )
    if isinstance(value, np.ndarray) and _looks_like_a_mask(value, len(items)):
        raise InvalidTypeError(
            f"{name} has a 0 or a 1 for each of {len(items)} {items.name}s, but a mask must be of bool, got "
            f"{value.dtype}; call astype(bool)"
        )
    listed = value if isinstance(value, np.ndarray) else list(value)
    if _is_mask(listed) or (len(listed) and all(map(_is_mask, listed))):
        return _masked(name, listed, queries, len(items))
    if len(listed) and not isinstance(listed[0], (str, bytes)) and isinstance(listed[0], Iterable):
        if len(listed) != queries:
            raise InvalidValueError(
                f"{name} must have ids for each user, {queries} in all, got {len(listed)}"
            )
        return None, rows_of_histories(listed, items, None, None, lookup, users, name)
    mask = np.zeros(len(items), dtype=bool)
    mask[lookup.rows(name, listed, items, users)[0]] = True
    return mask, None


def _looks_like_a_mask(value: NDArray[Any], n_items: int) -> bool:
    """Tell whether these are numbers of a mask: as ids, 0 and 1 would not be there so often."""
    if value.dtype.kind not in "iuf" or n_items <= 2 or value.shape[-1] != n_items:
        return False
    return bool(((value == 0) | (value == 1)).all())


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
