"""Factors in half precision: half the bytes to fetch, where fetching is what takes the time.

Passes over the interactions read a side from a copy in half precision. A very large side is not copied: its
own memory holds it in halves meanwhile (native/kernels/halves.h), and then again in single precision.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.csr import Floats, aligned

# Half precision pays where the vectors of a side, in single precision, do not fit the caches of a core.
LEAST_BYTES_TO_HALVE = 8 * 2**20

# A larger copy is not made. Reading halves in place takes a little longer, since they are twice as far apart.
MOST_BYTES_TO_COPY = 2**30


def worth_halving(*shapes: tuple[int, int]) -> bool:
    """Say whether copies of factors in half precision make passes over the interactions faster."""
    return _core.has_half() and max(4 * rows * dim for rows, dim in shapes) >= LEAST_BYTES_TO_HALVE


def halved_in_place(rows: int, dim: int) -> bool:
    """Say whether factors of this shape are read in halves of their own memory, and not from a copy.

    The size of the data decides, never the memory that is free: results must not depend on it.
    """
    return _core.padded(dim) == dim and 2 * rows * dim > MOST_BYTES_TO_COPY


def unit_of(mean_square: float) -> float:
    """Return a power of two of the size of the numbers, so that half precision has room above and below."""
    return 2.0 ** min(max(round(math.log2(mean_square) / 2), -100), 100) if mean_square > 0 else 1.0


def round_to_halves(factors: Floats, unit: float, threads: int) -> bool:
    """Round factors to what halves of their memory can say; false where a number is beyond their range.

    That is what a call that reads them in halves of their own memory leaves.
    """
    return _core.round_to_halves(factors, unit, threads)


class HalfCopies:
    """Memory for one copy at a time."""

    def __init__(self) -> None:
        self._memory: NDArray[np.uint16] = np.empty((0, 0), dtype=np.uint16)

    def copy(self, factors: Floats, unit: float, threads: int) -> NDArray[np.uint16] | None:
        """Copy factors / unit, as bits; None where a number is beyond the range. Lasts until the next."""
        rows, width = len(factors), _core.padded(factors.shape[1])
        if len(self._memory) < rows or self._memory.shape[1] != width:
            self._memory = aligned((rows, width // 2)).view(np.uint16)
        numbers = self._memory[:rows]
        return numbers if _core.copy_to_half(factors, unit, numbers, threads) else None
