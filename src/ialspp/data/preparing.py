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
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import InvalidTypeError, InvalidValueError
from ..files.atomic import require_writable
from ..system.checks import checked_integer
from ..system.progress import Progress, ProgressEvent, Report, reporting
from .csr import Csr, SortedPairs, Times, core_of, starts_of, transpose
from .decay import decayed, require_time
from .ids import IdMap
from .offsets import ranges_within
from .prepared import Parts, save
from .reading.opening import Paths
from .reading.read import ROLES, Triples, read
from .spool import FileSpool
from .statistics import statistics

STAGES = {"reading": 0.5, "by user": 0.2, "by item": 0.15, "saving": 0.15}  # about their shares of the time
LEAST_MEMORY = 2**24
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_KINDS = {"columns": np.int32, "labels": np.float32, "weights": np.float32, "times": np.float64}


def prepare(
    path: Paths,
    out: Path,
    *,
    memory: str | int,
    progress: Progress,
    half_life: str | float | None = None,
    min_user: int = 1,
    min_item: int = 1,
    **options: Any,
) -> None:
    """Read files, and write what `Interactions.read` would return to a file of prepared data."""
    room = memory_of(memory)
    least = checked_integer("min_user", min_user, 0), checked_integer("min_item", min_item, 0)
    roles = {role: options.pop(role, None) for role in ROLES}
    require_time(half_life, roles["time"])
    require_writable(out)
    with ExitStack() as files, reporting("preparing", 1.0, progress) as report:
        spool = partial(_spool, files, Path(os.path.realpath(out)).parent)
        events = read(path, roles, **options, progress=_stage(report, "reading"), spool=spool)
        users, items = events[:2]
        by_user, times = _rows_by_user(events, half_life, room, spool, _stage(report, "by user"))
        del events  # frees the temporary files
        if max(least) > 1:
            users, items, by_user, times = _core(users, items, by_user, times, least, room, spool)
        by_user = by_user.without_ones()
        by_item = _rows_by_item(by_user, room, spool, _stage(report, "by item"))
        weighted = roles["weight"] is not None or half_life is not None
        facts = statistics(by_user, times)
        parts = Parts(users, items, by_user, by_item, times, weighted, half_life is not None, facts)
        save(parts, out, _stage(report, "saving"))


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


class RowFiles:
    """Rows that are written to temporary files range by range."""

    def __init__(self, spool: Callable[[DTypeLike], FileSpool], *names: str) -> None:
        self._spools = {name: spool(_KINDS[name]) for name in names}
        self._counts: list[NDArray[np.int64]] = []

    def append(self, rows: Csr, times: Times | None = None) -> None:
        """Write the next rows."""
        self._counts.append(rows.counts)
        arrays = {"columns": rows.columns, "labels": rows.labels, "weights": rows.weights, "times": times}
        for name, spool in self._spools.items():
            array = arrays[name]
            assert array is not None
            spool.append(array)

    def whole(self, n_columns: int) -> tuple[Csr, Times | None]:
        """Return all rows, mapped."""
        offsets = np.zeros(sum(map(len, self._counts)) + 1, dtype=np.int64)
        np.cumsum(np.concatenate(self._counts) if self._counts else offsets[:0], out=offsets[1:])
        arrays = {name: spool.whole(constant=True) for name, spool in self._spools.items()}
        rows = Csr(offsets, arrays["columns"], n_columns, arrays.get("labels"), arrays.get("weights"))
        return rows, arrays.get("times")


def _rows_by_user(
    events: Triples,
    half_life: str | float | None,
    room: int,
    spool: Callable[[DTypeLike], FileSpool],
    progress: Progress,
) -> tuple[Csr, Times | None]:
    users, items, user, _, label, weight, time = events
    newest = None if half_life is None or time is None else float(time.max(initial=-np.inf))
    weighted = weight is not None or half_life is not None
    given = {"columns": True, "labels": label is not None, "weights": weighted, "times": time is not None}
    names = [name for name, is_given in given.items() if is_given]
    cost = _bytes_of(names) * 2 + 1 + (24 if half_life is not None else 0)  # for merging, and for decay
    files = RowFiles(spool, *names)
    for begin, end in _passes("by user", starts_of(user, len(users)), room // cost, progress):
        pairs = SortedPairs.of(*events, begin=begin, end=end)
        if half_life is not None:
            pairs.weight, pairs.decayed = decayed(pairs.weight, pairs.time, half_life, newest), True
        pairs.merge()
        files.append(pairs.rows, pairs.time)
        del pairs  # before the next are sorted
    return files.whole(len(items))


def _rows_by_item(
    by_user: Csr, room: int, spool: Callable[[DTypeLike], FileSpool], progress: Progress
) -> Csr:
    names = [name for name in ("columns", "labels", "weights") if getattr(by_user, name) is not None]
    files = RowFiles(spool, *names)
    starts = starts_of(by_user.columns, by_user.n_columns)
    for begin, end in _passes("by item", starts, room // _bytes_of(names), progress):
        files.append(transpose(by_user, begin, end))
    return files.whole(len(by_user))[0]


def _core(
    users: IdMap,
    items: IdMap,
    rows: Csr,
    times: Times | None,
    least: tuple[int, int],
    room: int,
    spool: Callable[[DTypeLike], FileSpool],
) -> tuple[IdMap, IdMap, Csr, Times | None]:
    """Leave out users and items that are not in the k-core."""
    in_users, in_items = core_of(rows, *least)
    if in_users.all() and in_items.all():
        return users, items, rows, times
    item_rows = np.cumsum(in_items, dtype=np.int32) - np.int32(1)
    given = {"columns": rows.columns, "labels": rows.labels, "weights": rows.weights, "times": times}
    names = [name for name, array in given.items() if array is not None]
    files = RowFiles(spool, *names)
    for begin, end in ranges_within(rows.offsets, room // (2 * _bytes_of(names) + 8)):
        part = rows.between(begin, end)
        kept = np.repeat(in_users[begin:end], part.counts) & in_items[part.columns]
        counts = np.add.reduceat(kept, part.offsets[:-1], dtype=np.int64)[in_users[begin:end]]
        files.append(
            Csr(
                np.concatenate([[0], np.cumsum(counts)]),
                item_rows[part.columns[kept]],
                len(items),
                None if part.labels is None else part.labels[kept],
                None if part.weights is None else part.weights[kept],
            ),
            None if times is None else times[rows.offsets[begin] : rows.offsets[end]][kept],
        )
    users, items = users.selected(np.flatnonzero(in_users)), items.selected(np.flatnonzero(in_items))
    return users, items, *files.whole(len(items))


def _bytes_of(names: list[str]) -> int:
    """Count the bytes of a pair in the arrays of these names."""
    return sum(np.dtype(_KINDS[name]).itemsize for name in names)


def _passes(
    stage: str, starts: NDArray[np.int64], most: int, progress: Progress
) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows that fit the memory, and report each that is done."""
    with reporting(stage, float(starts[-1]), progress) as report:
        for begin, end in ranges_within(starts, max(most, 1)):
            yield begin, end
            report(float(starts[end]))


def _stage(report: Report, stage: str) -> Callable[[ProgressEvent], None]:
    """Make a function that reports a stage's progress as that of the whole."""
    names = list(STAGES)
    before = sum(STAGES[name] for name in names[: names.index(stage)])

    def pass_on(event: ProgressEvent) -> None:
        if event.total:
            report(before + STAGES[stage] * min(event.done / event.total, 1), note=stage)

    return pass_on
