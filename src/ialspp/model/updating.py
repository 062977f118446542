"""New interactions into a model, without training it again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, Floats
from ..data.ids import IdMap
from ..data.interactions import Interactions
from ..errors import SolveError
from ..objective import Objective
from ..solvers import no_finite_solution
from ..system.progress import bar
from .fitted import Embedding, Fitted


@dataclass(frozen=True, slots=True)
class Update:
    """What an update did: rows solved again, ids that are new, pairs, seconds."""

    users: int
    new_users: int
    items: int
    new_items: int
    pairs: int  # of the new data
    new_pairs: int  # that were not there before
    seconds: float


def updated(
    fitted: Fitted, new: Interactions, objective: Objective, epochs: int, threads: int, progress: bool | None
) -> tuple[Fitted, Update]:
    """Epochs of iALS over the rows that the new data touches, and its users once more at the end.

    The last step is for who asks next: those users' vectors are then exact for the items as they are.
    """
    start = time.perf_counter()
    old = fitted.histories("update")
    with bar("updating", epochs + 2, progress) as report:
        data = joined(old, new)
        touched_users = _touched(new.users, new.by_user.counts, data.users)
        touched_items = _touched(new.items, new.by_item.counts, data.items)
        of_users, of_items = data.by_user.take(touched_users), data.by_item.take(touched_items)
        users, items = fitted.users.extended(data.users), fitted.items.extended(data.items)

        def solve(side: Embedding, rows: NDArray[np.int64], of_rows: Csr, other: Embedding) -> None:
            side.set_rows(rows, other.exact(of_rows, objective, threads, _unsolved(side.ids, rows)))

        for done in range(epochs):
            report(done + 1)
            solve(users, touched_users, of_users, items)
            solve(items, touched_items, of_items, users)
        report(epochs + 1)
        solve(users, touched_users, of_users, items)
        report(epochs + 2)
    counts = Update(
        users=len(touched_users),
        new_users=data.n_users - old.n_users,
        items=len(touched_items),
        new_items=data.n_items - old.n_items,
        pairs=len(new),
        new_pairs=len(data) - len(old),
        seconds=time.perf_counter() - start,
    )
    return Fitted(users, items, data), counts


def joined(old: Interactions, new: Interactions) -> Interactions:
    """Both as one: old ids keep their rows, weights add up, of two labels the new one holds; no times."""
    users, items = old.users.extended(new.users.ids), old.items.extended(new.items.ids)
    new_user = users.rows(new.users.ids)[new.by_user.row_numbers].astype(np.int32)
    new_item = items.rows(new.items.ids)[new.by_user.columns].astype(np.int32)
    weighted = old.weighted or new.weighted
    return Interactions(
        users,
        items,
        np.concatenate([old.by_user.row_numbers, new_user]),
        np.concatenate([old.by_user.columns, new_item]),
        _joined_labels(old, new, new_user.astype(np.int64) * len(items) + new_item, len(items)),
        np.concatenate([_weights(old), _weights(new)]) if weighted else None,
    )


def _touched(ids: IdMap, counts: NDArray[np.int64], known: IdMap) -> NDArray[np.int64]:
    """Rows, ascending, of the ids that have interactions."""
    return np.sort(known.rows(ids.ids[counts > 0]))


def _unsolved(ids: IdMap, rows: NDArray[np.int64]) -> Callable[[int], SolveError]:
    """The error for one of these rows."""
    return lambda place: no_finite_solution(ids.name, ids[int(rows[place])], int(rows[place]))


def _joined_labels(
    old: Interactions, new: Interactions, new_keys: NDArray[np.int64], n_items: int
) -> Floats | None:
    """Those of old pairs, replaced where a new one says otherwise, and then those of the new."""
    if old.by_user.labels is None and new.by_user.labels is None:
        return None
    before, after = _labels(old), _labels(new)
    old_keys = replace(old.by_user, n_columns=n_items).keys
    places = np.minimum(np.searchsorted(old_keys, new_keys), len(old_keys) - 1)
    again = old_keys[places] == new_keys
    before[places[again]] = after[again]
    return np.concatenate([before, after])


def _labels(data: Interactions) -> Floats:
    labels = data.by_user.labels
    return np.ones(len(data), dtype=np.float32) if labels is None else labels.copy()


def _weights(data: Interactions) -> Floats:
    weights = data.by_user.weights
    return np.ones(len(data), dtype=np.float32) if weights is None else weights
