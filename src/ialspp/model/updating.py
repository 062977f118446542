"""Take new interactions into a model without training it again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr
from ..data.ids import IdMap
from ..data.interactions import Interactions
from ..data.joining import joined, rows_of_items
from ..data.row_files import Workplace
from ..errors import SolveError
from ..objective import Objective
from ..solvers import no_finite_solution
from ..system.progress import Progress, reporting
from .fitted import Embedding, Fitted

MANY_PAIRS = 2**24  # more are joined in temporary files, which takes longer but no memory


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
        work = _workplace(fitted, len(old) + len(new))
        data = joined(old, new, work)
        touched_users = _touched(new.users, new.by_user.counts, data.users)
        touched_items = _touched(new.items, new.by_item.counts, data.items)
        of_users = data.by_user.take(touched_users)
        of_items = rows_of_items(data, touched_items, work)
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


def _workplace(fitted: Fitted, pairs: int) -> Workplace | None:
    """Return where large data that is mapped is joined in temporary files: in the folder of its file."""
    if pairs <= MANY_PAIRS:
        return None
    if fitted.data is not None and fitted.data.work is not None:
        return fitted.data.work
    return None if fitted.file is None else Workplace.beside(fitted.file.path)


def _touched(ids: IdMap, counts: NDArray[np.int64], known: IdMap) -> NDArray[np.int64]:
    """Return the rows, ascending, of the ids that have interactions."""
    return np.sort(known.rows(ids.ids[counts > 0]))


def _unsolved(ids: IdMap, rows: NDArray[np.int64]) -> Callable[[int], SolveError]:
    """Make the function that makes the error for one of these rows."""
    return lambda place: no_finite_solution(ids.name, ids[int(rows[place])], int(rows[place]))
