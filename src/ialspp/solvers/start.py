"""The factors that training starts from: random numbers, as in the paper, or singular vectors of the data."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.csr import Floats, aligned
from ..data.interactions import Interactions
from .base import gramian
from .half import HalfCopies, halved_in_place, unit_of, worth_halving
from .spectral import eigenbasis

PAPERS_STDDEV = 0.1  # sigma: the paper draws factors from N(0, sigma / sqrt(d))
ROUNDS = 2  # of the subspace iteration
NEGLIGIBLE = 1e-10  # a share of the largest eigenvalue, which is a singular value's fourth power


def random_start(data: Interactions, dim: int, stddev: float, seed: int) -> tuple[Floats, Floats]:
    """Draw all factors from N(0, stddev / sqrt(dim)).

    Users and items come from independent streams, so that no user starts equal to an item.
    """
    users, items = (aligned((rows, dim)) for rows in (data.n_users, data.n_items))
    for factors, stream in zip((users, items), np.random.SeedSequence(seed).spawn(2), strict=True):
        draw(factors, stddev / math.sqrt(dim), np.random.default_rng(stream))
    return users, items


def spectral_start(data: Interactions, dim: int, seed: int, threads: int) -> tuple[Floats, Floats]:
    """Start items at the leading singular vectors of the normalised interactions, and users at zero.

    A vector is scaled by the root of its singular value, as if users had the other root.

    B = D_u^-1/2 S D_i^-1/2 has a y for every interaction, divided by the roots of its row's and its column's
    sum. Rounds of B'B turn random vectors towards B's leading right singular vectors. This needs no more
    memory than training.
    """
    users, items = (aligned((rows, dim)) for rows in (data.n_users, data.n_items))
    normalised = NormalisedInteractions(data, threads)
    generator = np.random.default_rng(seed)
    draw(items, 1.0, generator)
    for _ in range(ROUNDS):
        normalised.multiply(items, users)
        normalised.multiply_transposed(users, items)
        singular_values, rank = orthonormalize(items, threads)
    items *= _column_scales(singular_values, len(items))
    if rank < dim:  # more dimensions than the data has: they start at random, since zeros could not move
        unused = np.empty((len(items), dim - rank), dtype=np.float32)
        draw(unused, PAPERS_STDDEV / dim, generator)
        items[:, rank:] = unused
    users.fill(0)
    return users, items


class NormalisedInteractions:
    """B. Large factors are read from copies in half precision, which is enough for a start."""

    def __init__(self, data: Interactions, threads: int) -> None:
        self._by_user, self._by_item = data.by_user.native(), data.by_item.native()
        self._user_scales = _scales(self._by_user, threads)
        self._item_scales = _scales(self._by_item, threads)
        self._halves = HalfCopies()
        self._threads = threads

    def multiply(self, items: Floats, out: Floats) -> None:
        """Compute out = B items."""
        self._multiply(self._by_user, self._user_scales, self._item_scales, items, out)

    def multiply_transposed(self, users: Floats, out: Floats) -> None:
        """Compute out = B' users."""
        self._multiply(self._by_item, self._item_scales, self._user_scales, users, out)

    def _multiply(
        self, rows: _core.Rows, scales: Floats, other_scales: Floats, x: Floats, out: Floats
    ) -> None:
        by = rows, scales, other_scales
        if not (worth_halving(x, out) and self._multiply_by_half(by, x, out)):
            _core.multiply_rows(*by, x, out, self._threads)

    def _multiply_by_half(self, by: tuple[_core.Rows, Floats, Floats], x: Floats, out: Floats) -> bool:
        """Multiply, reading x in half precision; False where it is out of range."""
        unit = unit_of(_core.squared_sum(x.reshape(-1), self._threads) / x.size)
        if halved_in_place(x):
            return _core.multiply_rows_in_halves(*by, x, unit, out, self._threads)
        copy = self._halves.copy(x, unit, self._threads)
        if copy is not None:
            _core.multiply_rows_by_half(*by, *copy, out, self._threads)
        return copy is not None


def draw(factors: Floats, stddev: float, generator: np.random.Generator) -> None:
    """Fill factors with independent normal numbers."""
    generator.standard_normal(dtype=np.float32, out=factors)
    factors *= np.float32(stddev)


def orthonormalize(factors: Floats, threads: int) -> tuple[NDArray[np.float64], int]:
    """Replace the columns by an orthonormal basis of their span, and zeros, in place.

    Returns B's singular values, as B'B has scaled the columns, and the size of the basis.
    """
    values, basis = eigenbasis(gramian(factors, threads))
    values, basis = values[::-1], basis[:, ::-1]
    rank = int(np.count_nonzero(values > NEGLIGIBLE * values[0]))
    transform = np.zeros_like(basis)
    transform[:, :rank] = basis[:, :rank] / np.sqrt(values[:rank])
    _core.transform(factors, transform, threads)
    return values**0.25, rank  # the columns were B'B V, whose Gramian has the fourth powers


def _column_scales(singular_values: NDArray[np.float64], n_items: int) -> Floats:
    """Return the roots of the singular values, times what makes an item's vector about 1 long."""
    squares = singular_values / max(singular_values.sum(), np.finfo(float).tiny)
    scales: Floats = np.sqrt(n_items * squares).astype(np.float32)
    return scales


def _scales(rows: _core.Rows, threads: int) -> Floats:
    """Return one over the root of each row's sum of |a y|; 0 for a row without any."""
    sums = _core.absolute_row_sums(rows, threads)
    scales = np.divide(1, np.sqrt(sums), out=np.zeros_like(sums), where=sums > 0)
    return np.minimum(scales, np.finfo(np.float32).max).astype(np.float32)
