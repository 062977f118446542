"""Prepare data in bounded memory: from files to one file of rows, which training maps.

    read     ids become numbers, and every column goes to a temporary file
    by user  for each range of users: pick their pairs, sort them, merge repeated ones
    core     if wanted: leave out users and items that have too few
    by item  for each range of items: pick their pairs out of the rows by user
    save     put all of it into one file, atomically

For each range one pass is made over a mapped file, and a range fits the memory. So the memory bounds the
number of passes, and nothing is sorted on disk. The temporary files have no name: they are gone when the
process ends, however it ends.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..errors import InvalidTypeError, InvalidValueError
from ..files.atomic import require_writable
from ..system.checks import checked_integer
from ..system.progress import Progress, ProgressEvent, Report, reporting
from .csr import Csr, SortedPairs, Times, core_of, starts_of
from .decay import decayed, require_time
from .ids import IdMap
from .prepared import FORMAT, Parts, save
from .reading.opening import Paths, refuse_replacing
from .reading.read import ROLES, Triples, read
from .row_files import Cut, RowFiles, Workplace, bytes_of, passes, rows_by_column
from .spool import FileSpool
from .statistics import statistics

STAGES = {"reading": 0.5, "by user": 0.2, "by item": 0.15, "saving": 0.15}  # about their shares of the time
LEAST_MEMORY = 2**24
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def prepare(
    path: Paths,
    out: Path,
    *,
    memory: str | int,
    progress: Progress,
    half_life: str | float | None = None,
    min_user: int = 1,
    min_item: int = 1,
    user_names: Any = None,
    item_names: Any = None,
    force: bool = False,
    **options: Any,
) -> None:
    """Read files, and write what `Interactions.read` would return to a file of prepared data."""
    room = memory_of(memory)
    least = checked_integer("min_user", min_user, 0), checked_integer("min_item", min_item, 0)
    roles = {role: options.pop(role, None) for role in ROLES}
    require_time(half_life, roles["time"])
    refuse_replacing(path, out)
    require_writable(out)
    if not force:
        FORMAT.require_own(out)  # before it takes long
    with ExitStack() as files, reporting("preparing", 1.0, progress) as report:
        work = Workplace(partial(_spool, files, Path(os.path.realpath(out)).parent), room)
        events = read(path, roles, **options, progress=_stage(report, "reading"), spool=work.spool)
        users, items = events[0].with_names(user_names), events[1].with_names(item_names)
        by_user, times = _rows_by_user(events, half_life, work, _stage(report, "by user"))
        del events  # frees the temporary files
        if max(least) > 1:
            users, items, by_user, times = _core(users, items, by_user, times, least, work)
        if len(by_user.columns) == 0:
            raise InvalidValueError(f"{out} is not written, because no row of the data is left to prepare")
        by_user = by_user.without_ones()
        by_item = rows_by_column(by_user, work, _stage(report, "by item"))
        weighted = roles["weight"] is not None or half_life is not None
        facts = statistics(by_user, times)
        parts = Parts(users, items, by_user, by_item, times, weighted, half_life is not None, facts)
        save(parts, out, _stage(report, "saving"), force=force)


def _spool(files: ExitStack, folder: Path, kind: DTypeLike) -> FileSpool:
    return files.enter_context(closing(FileSpool(folder, kind)))


def memory_of(given: str | int, name: str = "memory") -> int:
    """Return a number of bytes; "512M" and "4G" have units of 1024."""
    if isinstance(given, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?\s*", given, re.IGNORECASE)
        size = 0 if found is None else int(float(found[1]) * _UNITS[found[2].upper()])
    elif isinstance(given, int) and not isinstance(given, bool):
        size = given
    else:
        raise InvalidTypeError(f'{name} must be a number of bytes or a size such as "4G", got {given!r}')
    if size < LEAST_MEMORY:
        raise InvalidValueError(
            f'{name} must be a number of bytes or a size such as "4G", at least 16M, got {given!r}'
        )
    return size


def _rows_by_user(
    events: Triples,
    half_life: str | float | None,
    work: Workplace,
    progress: Progress,
) -> tuple[Csr, Times | None]:
    users, items, user, _, label, weight, time = events
    newest = None if half_life is None or time is None else float(time.max(initial=-np.inf))
    weighted = weight is not None or half_life is not None
    given = {"columns": True, "labels": label is not None, "weights": weighted, "times": time is not None}
    names = [name for name, is_given in given.items() if is_given]
    cost = bytes_of(names) * 2 + 1 + (24 if half_life is not None else 0)  # for merging, and for decay
    files = RowFiles(work.spool, *names)
    for begin, end in passes("by user", starts_of(user, len(users)), work.room // cost, progress):
        pairs = SortedPairs.of(*events, begin=begin, end=end)
        if half_life is not None:
            pairs.weight, pairs.decayed = decayed(pairs.weight, pairs.time, half_life, newest), True
        pairs.merge()
        files.append(pairs.rows, pairs.time)
        del pairs  # before the next are sorted
    return files.whole(len(items))


def _core(
    users: IdMap, items: IdMap, rows: Csr, times: Times | None, least: tuple[int, int], work: Workplace
) -> tuple[IdMap, IdMap, Csr, Times | None]:
    """Leave out users and items that are not in the k-core."""
    in_users, in_items = core_of(rows, *least)
    if in_users.all() and in_items.all():
        return users, items, rows, times
    users, items = users.selected(np.flatnonzero(in_users)), items.selected(np.flatnonzero(in_items))
    return users, items, *Cut.dense(in_users, in_items).of(rows, times, len(items), work)


def _stage(report: Report, stage: str) -> Callable[[ProgressEvent], None]:
    """Make a function that reports a stage's progress as that of the whole."""
    names = list(STAGES)
    before = sum(STAGES[name] for name in names[: names.index(stage)])

    def pass_on(event: ProgressEvent) -> None:
        if event.total:
            report(before + STAGES[stage] * min(event.done / event.total, 1), note=stage)

    return pass_on
