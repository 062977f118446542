"""Prepared data: interactions by user and by item in one file, which training maps.

The layout is that of safetensors. Its metadata says what the arrays are: `format` is "ialspp data", and
`description` holds the kinds of the ids and the statistics as JSON.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValueError
from ..files import container
from ..files.arrays import Arrays, part_named, whole
from ..files.container import Container, Memory, StoreError
from ..files.format import VERIFIED, Format
from ..files.header import Header
from ..files.parsing import part
from ..files.version import FileVersion
from ..system.progress import Progress, reporting
from .csr import Csr, Times, transpose
from .ids import IdMap
from .offsets import is_framed, ranges_within
from .statistics import checked_statistics, statistics
from .stored_ids import arrays_of_ids, arrays_of_names, has_names, ids_of, kind_of
from .values import LATEST_TIME

FORMAT = Format("ialspp data", "data", 1)
CHECKED_AT_ONCE = 2**26  # pairs of the rows by item that are compared with those by user at a time


class Parts(NamedTuple):
    """What interactions are made of."""

    users: IdMap
    items: IdMap
    by_user: Csr
    by_item: Csr
    times: Times | None
    weighted: bool
    decayed: bool
    statistics: dict[str, Any]


def save(data: Parts, path: Path, progress: Progress, *, force: bool = False) -> None:
    """Write data to a file, atomically. Nothing is copied into memory. force: replace any file."""
    if not force:
        FORMAT.require_own(path)
    description = {
        "ids": {"user": kind_of(data.users), "item": kind_of(data.items)},
        "weighted": data.weighted,
        "decayed": data.decayed,
        "statistics": data.statistics,
    }
    arrays = {
        **_arrays_of_rows("by_user", "items", data.by_user, data.times),
        **_arrays_of_rows("by_item", "users", data.by_item, None),
    }
    for name, ids in (("user", data.users), ("item", data.items)):
        arrays |= {**arrays_of_ids(name, ids), **arrays_of_names(name, ids)}
    with reporting("saving", sum(array.nbytes for array in arrays.values()), progress) as report:
        container.write(path, arrays, FORMAT.metadata(description, FORMAT.newest), report)


class PreparedFile(Container):
    """A file of prepared data. Its errors, until it is open, do not name it."""

    __slots__ = ("description",)

    description: dict[str, Any]

    def __init__(self, path: Path, version: FileVersion, header: Header, memory: Memory) -> None:
        super().__init__(path, version, header, memory)
        self.description = FORMAT.description_in(self.metadata)

    def parts(self) -> Parts:
        """Put the data together. Numbers in its arrays are not read yet."""
        with whole(self.path, "set of data"):
            arrays, kinds = Arrays(self.arrays), part(self.description, "ids", dict)
            users, items = (ids_of(arrays, name, part(kinds, name, str)) for name in ("user", "item"))
            by_user = _rows_of(arrays, "by_user", "items", users, items)
            by_item = _rows_of(arrays, "by_item", "users", items, users)
            if len(by_user.columns) != len(by_item.columns):
                raise StoreError(f"{len(by_user.columns)} pairs by user, but {len(by_item.columns)} by item")
            times = arrays.maybe("by_user.times", np.float64, len(by_user.columns))
            weighted, decayed = (part(self.description, name, bool) for name in ("weighted", "decayed"))
            kept = checked_statistics(self.description)
            if kept is None:
                raise StoreError("it has no statistics")
            return Parts(users, items, by_user, by_item, times, weighted, decayed, kept)

    def check_content(self) -> None:
        """Check every number: a stranger can write checksums that are right."""
        parts = self.parts()
        with whole(self.path, "set of data"):
            _check(parts)

    def facts(self) -> dict[str, Any]:
        """Describe the file as plain values. Its arrays are not read."""
        data, arrays = self.parts(), Arrays(self.arrays)
        return {
            "format": FORMAT.name,
            "format_version": int(self.metadata["format_version"]),
            "written_by": self.metadata.get("written_by"),
            "bytes": self.version.size,
            "users": len(data.users),
            "items": len(data.items),
            "pairs": len(data.by_user.columns),
            "weighted": data.weighted,
            "decayed": data.decayed,
            "statistics": data.statistics,
            "ids": self.description["ids"],
            "names": {name: has_names(arrays, name) for name in ("user", "item")},
            "arrays": self.layout(),
        }


def opened(path: Path, *, mapped: bool = True, verify: bool | None = None) -> PreparedFile:
    """Open a file that `save` wrote. If it is mapped, its arrays stay in the file."""
    file = PreparedFile.open(path, mapped=mapped)
    if (not mapped or file.version.size <= VERIFIED) if verify is None else verify:
        file.verify()
    return file


def is_prepared(path: Path) -> bool:
    """Tell whether a file begins like prepared data."""
    return FORMAT.begins(path)


def _arrays_of_rows(prefix: str, columns: str, rows: Csr, times: Times | None) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any] | None] = {
        "offsets": rows.offsets,
        columns: rows.columns,
        "labels": rows.labels,
        "weights": rows.weights,
        "times": times,
    }
    return {f"{prefix}.{name}": array for name, array in arrays.items() if array is not None}


def _rows_of(arrays: Arrays, prefix: str, columns: str, ids: IdMap, other: IdMap) -> Csr:
    offsets = arrays.get(f"{prefix}.offsets", np.int64, length=len(ids) + 1)
    entries = arrays.get(f"{prefix}.{columns}", np.int32)
    if not is_framed(offsets, len(entries)):
        raise StoreError(f"the offsets of {ids.name}s must begin at 0 and end at {len(entries)}")
    labels, weights = (
        arrays.maybe(f"{prefix}.{name}", np.float32, len(entries)) for name in ("labels", "weights")
    )
    return Csr(offsets, entries, len(other), labels, weights)


def _check(data: Parts) -> None:
    """Raise unless these are interactions that reading could have made, alike by user and by item."""
    for ids in (data.users, data.items):
        with part_named(f"the {ids.name} ids"):
            ids.check()
    with part_named("the interactions"):
        data.by_user.check()
        _check_times(data.times)
        for begin, end in ranges_within(data.by_item.offsets, CHECKED_AT_ONCE):
            if not _same(data.by_item.between(begin, end), transpose(data.by_user, begin, end)):
                raise InvalidValueError("the rows by item must have the pairs of those by user")
    if data.statistics != statistics(data.by_user, data.times):
        raise StoreError("its statistics are those of other data")


def _check_times(times: Times | None) -> None:
    if times is None or len(times) == 0:
        return
    if not (times.min() >= -LATEST_TIME and times.max() <= LATEST_TIME):  # also if one is NaN
        raise InvalidValueError("times must be Unix seconds, but are not everywhere")


def _same(rows: Csr, other: Csr) -> bool:
    return all(
        (a is None and b is None) or (a is not None and b is not None and np.array_equal(a, b))
        for a, b in (
            (rows.offsets, other.offsets),
            (rows.columns, other.columns),
            (rows.labels, other.labels),
            (rows.weights, other.weights),
        )
    )
