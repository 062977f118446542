"""Users and items of which only features are known: their vectors are what the map makes of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, stacked
from ..data.features import Features
from ..data.ids import IdMap
from ..errors import InvalidTypeError, InvalidValueError
from .feature_map import FeatureMap
from .fitted import Embedding, Fitted
from .requests import rows_of_histories
from .skipped import Lookup

NO_ROWS = np.empty(0, dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class UnseenRows:
    """What is known of users, or items, that the model has not seen: their histories, features, or both."""

    histories: Csr  # empty where only features are known
    features: Csr | None = None  # in the columns of the model's map
    only_features: bool = False  # whether nothing is known of histories, not even that they are empty

    def __len__(self) -> int:
        return len(self.histories)

    @classmethod
    def stacked(cls, parts: Sequence[UnseenRows]) -> UnseenRows:
        """Put rows together of which the same is known."""
        features = [part.features for part in parts if part.features is not None]
        histories = stacked([part.histories for part in parts])
        return cls(histories, stacked(features) if features else None, parts[0].only_features)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many interactions and features there are of each."""
        return self.histories.counts + (0 if self.features is None else self.features.counts)


def unseen_rows(
    side: Embedding,
    other: Embedding,
    histories: Any,
    weights: Iterable[Iterable[float]] | None,
    labels: Iterable[Iterable[float]] | None,
    lookup: Lookup,
    given: Any,
) -> UnseenRows:
    """Look up what is known of unseen rows of a side: histories on the other side, features, or both."""
    if histories is None and given is not None:
        if weights is not None or labels is not None:
            raise InvalidValueError("weights and labels belong to histories, which were not given")
        features = require_map(side).matched(given)
        nothing = Csr(np.zeros(len(features) + 1, dtype=np.int64), NO_ROWS, len(other.ids))
        return UnseenRows(nothing, features, only_features=True)
    return unseen_of(side, rows_of_histories(histories, other.ids, weights, labels, lookup, side.ids), given)


def one_unseen(
    side: Embedding,
    other: Embedding,
    history: Iterable[Any] | None,
    weights: Iterable[float] | None,
    labels: Iterable[float] | None,
    lookup: Lookup,
    given: Any,
) -> UnseenRows:
    """Look up what is known of one unseen row of a side: a history, features, or both."""
    histories: Any = None if history is None and given is not None else [history]  # None is refused there
    weight, label = (None if values is None else [values] for values in (weights, labels))
    unseen = unseen_rows(side, other, histories, weight, label, lookup, given)
    if len(unseen) != 1:
        raise InvalidValueError(f"features of one {side.ids.name} are required, got {len(unseen)} rows")
    return unseen


def unseen_of(side: Embedding, histories: Csr, given: Any) -> UnseenRows:
    """Put together histories of unseen rows of a side, and features of each if any are given."""
    features = None if given is None else require_map(side).matched(given)
    if features is not None and len(features) != len(histories):
        raise InvalidValueError(
            f"features must be given for each of {len(histories)} histories, got {len(features)}"
        )
    return UnseenRows(histories, features)


def require_new(ids: IdMap, features: Features | None) -> None:
    """Raise an error if these are not `Features`, or a model knows one of their ids."""
    if features is None:
        return
    require_features(features, ids.name)
    known = ids.find(features.ids.ids).known
    if known.any():
        identity = features.ids[int(np.flatnonzero(known)[0])]
        raise InvalidValueError(f"{ids.name} {identity!r} is known to the model; update takes in what is new")


def require_features(given: Any, name: str) -> None:
    """Raise an error unless these are `Features`."""
    if not isinstance(given, Features):
        raise InvalidTypeError(
            f"{name}_features must be Features, whose ids say who they belong to, got {type(given).__name__}"
        )


def with_features(state: Fitted, users: Features | None, items: Features | None) -> Fitted:
    """Return the state with other features of rows that it knows. Vectors stay as they are."""
    return replace(state, users=_described(state.users, users), items=_described(state.items, items))


def _described(side: Embedding, given: Features | None) -> Embedding:
    if given is None:
        return side
    require_features(given, side.ids.name)
    known = require_map(side)
    found = side.ids.find(given.ids.ids)
    both = stacked([known.rows, known.matched(given)])  # of each row, then those given
    places = np.arange(len(side.ids))
    places[found.rows] = len(side.ids) + np.flatnonzero(found.known)
    return Embedding(side.ids, side.vectors, known.with_rows(both.take(places)))


def with_newcomers(state: Fitted, users: Features | None, items: Features | None, threads: int) -> Fitted:
    """Return the state with a row for each id that only the features have, after the rows there are."""
    grown = _grown(state.users, users, threads), _grown(state.items, items, threads)
    return state if grown == (state.users, state.items) else _extended(state, *grown)


def require_map(side: Embedding) -> FeatureMap:
    """Return the map of a side, or raise an error that says how to get one."""
    if side.features is None:
        name = side.ids.name
        raise InvalidValueError(
            f"the model was trained without {name} features; give them to fit: {name}_features=..."
        )
    return side.features


def _extended(state: Fitted, users: Embedding, items: Embedding) -> Fitted:
    """Return the state with sides that have more rows, without interactions."""
    data, counts = state.data, state.kept_counts
    if data is not None:
        data = data.extended(users.ids, items.ids)
    if counts is not None:
        counts = np.concatenate([counts, np.zeros(len(items.ids) - len(counts), dtype=np.int32)])
    return replace(state, users=users, items=items, data=data, kept_counts=counts)


def _grown(side: Embedding, given: Features | None, threads: int) -> Embedding:
    if given is None:
        return side
    known = require_map(side)
    new = given.unknown_to(side.ids)
    if len(new) == 0:
        return side
    ids = side.ids.extended(new.ids)
    rows = known.matched(_in_order(new, ids, len(side.ids)))
    vectors = np.concatenate([side.vectors, known.centres(rows, threads)])
    return Embedding(ids, vectors, known.with_rows(stacked([known.rows, rows])))


def _in_order(new: Features, ids: IdMap, begin: int) -> Features:
    """Return the features of the ids from row `begin` on, in the order of their rows."""
    added = ids.ids[begin:]
    return replace(new, ids=IdMap(added, name=ids.name), rows=new.rows.take(new.ids.rows(added)))
