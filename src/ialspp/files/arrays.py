"""The arrays of a file, with checks of their types and shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .container import StoreError


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """Arrays by name. An array of the wrong type or shape is a `StoreError`."""

    found: Mapping[str, NDArray[Any]]

    def __contains__(self, name: str) -> bool:
        return name in self.found

    def get(
        self, name: str, dtype: DTypeLike, *, dimensions: int = 1, length: int | None = None
    ) -> NDArray[Any]:
        """Return an array that must be there."""
        if name not in self.found:
            raise StoreError(f"the array {name!r} is missing")
        array = self.found[name]
        if array.dtype != dtype or array.ndim != dimensions:
            raise StoreError(
                f"the array {name!r} must be {np.dtype(dtype)} of {dimensions} dimensions, got {array.dtype} "
                f"of shape {array.shape}"
            )
        if not array.flags.aligned:  # native code relies on it
            raise StoreError(f"the array {name!r} must start at a multiple of {array.itemsize} bytes")
        if length is not None and len(array) != length:
            raise StoreError(f"the array {name!r} must have {length} entries, got {len(array)}")
        return array

    def maybe(self, name: str, dtype: DTypeLike, length: int) -> NDArray[Any] | None:
        """Return an array that may be absent, or None."""
        return self.get(name, dtype, length=length) if name in self.found else None


@contextmanager
def part_named(part: str) -> Iterator[None]:
    """Name the part of the file in the error of a failed check."""
    try:
        yield
    except ValueError as error:
        raise StoreError(f"{part} are wrong: {error}") from error


@contextmanager
def whole(path: Path, what: str) -> Iterator[None]:
    """Turn what goes wrong with the contents of a file into a `StoreError` that names it."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"{path} does not hold a whole {what}: {error}") from error


def is_finite(numbers: NDArray[Any]) -> bool:
    """Whether no number is infinite or NaN; this takes no memory, unlike `np.isfinite(numbers).all()`."""
    if numbers.size == 0:
        return True
    with np.errstate(invalid="ignore"):
        return bool(np.isfinite(numbers.min()) and np.isfinite(numbers.max()))
