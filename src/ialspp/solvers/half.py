"""Factors in half precision: half the bytes to fetch, where fetching is what takes the time.

Passes over the interactions read a side from a copy in half precision. A very large side is not copied: its
own memory holds it in halves meanwhile (native/kernels/halves.h), and then again in single precision.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.csr import Floats, aligned

# Half precision pays where the vectors of a side, in single precision, do not fit the caches of a core.
LEAST_BYTES_TO_HALVE = 8 * 2**20

# A larger copy is not made. Reading halves in place takes a little longer, since they are twice as far apart.
MOST_BYTES_TO_COPY = 2**30


def worth_halving(users: Floats, items: Floats) -> bool:
    """Say whether copies in half precision make passes over the interactions faster."""
    return _core.has_half() and max(users.nbytes, items.nbytes) >= LEAST_BYTES_TO_HALVE


def halved_in_place(factors: Floats) -> bool:
    """Say whether these factors are read in halves of their own memory, and not from a copy.

    The size of the data decides, never the memory that is free: results must not depend on it.
    """
    rows, dim = factors.shape
    return _core.padded(dim) == dim and 2 * int(rows) * int(dim) > MOST_BYTES_TO_COPY


def unit_of(mean_square: float) -> float:
    """Return a power of two of the size of the numbers, so that half precision has room above and below."""
    return 2.0 ** min(max(round(math.log2(mean_square) / 2), -100), 100) if mean_square > 0 else 1.0


class HalfCopy(NamedTuple):
    """A matrix in half precision: each number is `unit` times the one in `numbers`, which has its bits."""

    numbers: NDArray[np.uint16]
    unit: float


class HalfCopies:
    """Memory for one copy at a time."""

    def __init__(self) -> None:
        self._memory = np.empty((0, 0), dtype=np.uint16)

    def copy(self, factors: Floats, unit: float, threads: int) -> HalfCopy | None:
        """Copy factors; None where a number is beyond the range. The copy lasts until the next one."""
        rows, width = len(factors), _core.padded(factors.shape[1])
        if len(self._memory) < rows or self._memory.shape[1] != width:
            self._memory = aligned((rows, width // 2)).view(np.uint16)
        copy = HalfCopy(self._memory[:rows], unit)
        return copy if _core.copy_to_half(factors, copy.unit, copy.numbers, threads) else None
