"""Ids as arrays for a file: 64-bit integers unchanged, strings as UTF-8, larger integers as their digits."""

from __future__ import annotations

from operator import ne
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.arrays import Arrays, part_named
from ..files.container import StoreError
from .ids import IdMap
from .names import Names
from .utf8 import Utf8


def kind_of(ids: IdMap) -> str:
    """The kind of the ids, as a file records it."""
    if ids.is_text:
        return "string"
    return "digits" if ids.ids.dtype == object else str(ids.ids.dtype)


def arrays_of_ids(axis: str, ids: IdMap) -> dict[str, NDArray[Any]]:
    """Return the arrays that hold the "user" or the "item" ids, by name."""
    name, kind = f"{axis}_ids", kind_of(ids)
    if kind in ("int64", "uint64"):
        return {name: ids.ids}
    strings = ids.utf8() if kind == "string" else Utf8.of(map(str, ids.ids.tolist()))
    arrays: dict[str, NDArray[Any]] = {f"{name}.offsets": strings.offsets, f"{name}.utf8": strings.data}
    if kind == "string" and (np.diff(ids.order) < 0).any():
        arrays[f"{name}.order"] = ids.order
    return arrays


def arrays_of_names(axis: str, ids: IdMap) -> dict[str, NDArray[Any]]:
    """Return the arrays that hold the names of the "user" or the "item" ids; none if there are no names."""
    if ids.names is None:
        return {}
    name, strings = f"{axis}_names", ids.names.utf8
    return {f"{name}.offsets": strings.offsets, f"{name}.utf8": strings.data}


def ids_of(arrays: Arrays, name: str, kind: str) -> IdMap:
    """Restore the ids of a file and their names. Nothing is read until it is needed, but large integers."""
    ids = _unnamed(arrays, name, kind)
    ids.names = _names_of(arrays, name, len(ids))
    return ids


def _names_of(arrays: Arrays, name: str, length: int) -> Names | None:
    if not has_names(arrays, name):
        return None
    offsets = arrays.get(f"{name}_names.offsets", np.int64, length=length + 1)
    strings = Utf8(offsets, arrays.get(f"{name}_names.utf8", np.uint8), "names")
    with part_named(f"the {name} names"):
        strings.check(whole=False)
    return Names.stored(strings)


def has_names(arrays: Arrays, name: str) -> bool:
    """Whether a file has names of the "user" or the "item" ids."""
    return f"{name}_names.offsets" in arrays


def _unnamed(arrays: Arrays, name: str, kind: str) -> IdMap:
    """Restore the ids. Large integers are made at once; of others nothing is read until needed."""
    if kind in ("int64", "uint64"):
        return IdMap.stored(arrays.get(f"{name}_ids", kind), name=name)
    if kind not in ("string", "digits"):
        raise StoreError(f"{name} ids of kind {kind!r} are not known to this version")
    strings = Utf8(arrays.get(f"{name}_ids.offsets", np.int64), arrays.get(f"{name}_ids.utf8", np.uint8))
    with part_named(f"the {name} ids"):
        strings.check(whole=False)
        if kind == "digits":
            return IdMap(_integers(strings), name=name)
    order = arrays.maybe(f"{name}_ids.order", np.int64, len(strings))
    return IdMap.stored(strings, order, name=name)


def _integers(strings: Utf8) -> list[int]:
    """Convert digits to integers; they must be written as `str` writes them."""
    numbers = [int(digits) for digits in strings.all()]
    if any(map(ne, map(str, numbers), strings.all())):
        raise StoreError("integers must be written without spaces, signs or zeros in front")
    return numbers
