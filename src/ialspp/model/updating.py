"""Take new interactions into a model without training it again."""

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
from ..system.progress import Progress, reporting
from .fitted import Embedding, Fitted


@dataclass(frozen=True, slots=True)
class Update:
    """What an update did: rows solved again, new ids, pairs, seconds."""

    users: int
    new_users: int
    items: int
    new_items: int
    pairs: int  # in the new data
    new_pairs: int  # pairs that were not in the old data
    seconds: float


def updated(
    fitted: Fitted, new: Interactions, objective: Objective, epochs: int, threads: int, progress: Progress
) -> tuple[Fitted, Update]:
    """Run epochs of iALS over the rows that the new data touches, then solve its users once more.

    The last step makes those users' vectors exact given the final items, so that the next query sees what
    `fold_in` would give.
    """
    start = time.perf_counter()
    old = fitted.histories("update")
    old.by_user.native()  # raises if a damaged file names rows that do not exist
    with reporting("updating", epochs + 2, progress) as report:
        data = joined(old, new)
        touched_users = _touched(new.users, new.by_user.counts, data.users)
        touched_items = _touched(new.items, new.by_item.counts, data.items)
        of_users, of_items = data.by_user.take(touched_users), data.by_item.take(touched_items)
        users, items = fitted.users.extended(data.users), fitted.items.extended(data.items)

        def solve(side: Embedding, rows: NDArray[np.int64], of_rows: Csr, other: Embedding) -> None:
            centres = side.centres(rows, threads)
            side.set_rows(rows, other.exact(of_rows, objective, threads, _unsolved(side.ids, rows), centres))

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
    return Fitted(users, items, data, file=fitted.file), counts


def joined(old: Interactions, new: Interactions) -> Interactions:
    """Join two data sets: old ids keep their rows, weights add up, new labels replace old ones; no times."""
    users, items = old.users.extended(new.users), old.items.extended(new.items)
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
    """Return the rows, ascending, of the ids that have interactions."""
    return np.sort(known.rows(ids.ids[counts > 0]))


def _unsolved(ids: IdMap, rows: NDArray[np.int64]) -> Callable[[int], SolveError]:
    """Make the function that makes the error for one of these rows."""
    return lambda place: no_finite_solution(ids.name, ids[int(rows[place])], int(rows[place]))


def _joined_labels(
    old: Interactions, new: Interactions, new_keys: NDArray[np.int64], n_items: int
) -> Floats | None:
    """Concatenate the labels of old pairs, replaced where a new pair has one, and those of new pairs."""
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
