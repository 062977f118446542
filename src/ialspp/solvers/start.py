"""The factors that training starts from: random numbers, as in the paper, or singular vectors of the data."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, Floats, aligned
from ..data.interactions import Interactions
from .half import unit_of, worth_halving
from .sides import Fixed, Place, Side, ThisMachine
from .spectral import eigenbasis

PAPERS_STDDEV = 0.1  # sigma: the paper draws factors from N(0, sigma / sqrt(d))
ROUNDS = 2  # of the subspace iteration
NEGLIGIBLE = 1e-10  # a share of the largest eigenvalue, which is a singular value's fourth power


def random_start(data: Interactions, dim: int, stddev: float, seed: int) -> tuple[Floats, Floats]:
    """Draw all factors from N(0, stddev / sqrt(dim)); those of rows without interactions become zero.

    Users and items come from independent streams, so that no user starts equal to an item.
    """
    users, items = (aligned((rows, dim)) for rows in (data.n_users, data.n_items))
    for factors, stream in zip((users, items), np.random.SeedSequence(seed).spawn(2), strict=True):
        draw(factors, stddev / math.sqrt(dim), np.random.default_rng(stream))
    _settle(users, data.by_user)
    _settle(items, data.by_item)
    return users, items


def spectral_start(data: Interactions, dim: int, seed: int, place: Place | int) -> tuple[Floats, Floats]:
    """Start items at the leading singular vectors of the normalised interactions, and users at zero.

    A vector is scaled by the root of its singular value, as if users had the other root.

    B = D_u^-1/2 S D_i^-1/2 has a y for every interaction, divided by the roots of its row's and its column's
    sum. Rounds of B'B turn random vectors towards B's leading right singular vectors. This needs no more
    memory than training. `place` is that of `Problem.of`.
    """
    users, items = (aligned((rows, dim)) for rows in (data.n_users, data.n_items))
    users.fill(0)
    generator = np.random.default_rng(seed)
    draw(items, 1.0, generator)
    normalised = NormalisedInteractions.of(data, (users, items), place)
    for _ in range(ROUNDS):
        normalised.multiply()
        singular_values, rank = orthonormalize(normalised.items)
    items = normalised.items.factors
    items *= _column_scales(singular_values, len(items))
    if rank < dim:  # more dimensions than the data has: they start at random, since zeros could not move
        unused = np.empty((len(items), dim - rank), dtype=np.float32)
        draw(unused, PAPERS_STDDEV / dim, generator)
        items[:, rank:] = unused
        _settle(items, data.by_item)
    users.fill(0)
    return users, items


@dataclass(frozen=True, slots=True, eq=False)
class NormalisedInteractions:
    """B, as sides whose rows are scaled. Large factors are read in half precision, which is enough here."""

    users: Side
    items: Side
    user_scales: Floats
    item_scales: Floats

    @classmethod
    def of(
        cls, data: Interactions, factors: tuple[Floats, Floats], place: Place | int
    ) -> NormalisedInteractions:
        """Set up products of B and its transpose with factors."""
        there: Place = ThisMachine(place) if isinstance(place, int) else place
        users, items = (_scales(sums) for sums in there.absolute_row_sums(data))
        sides = there.sides(data, factors, (users, items))
        return cls(sides[0], sides[1], users, items)

    def multiply(self) -> None:
        """Compute users = B items, and then items = B' users."""
        self.users.multiply(_fixed(self.items, self.users), self.item_scales)
        self.items.multiply(_fixed(self.users, self.items), self.user_scales)


def _settle(factors: Floats, rows: Csr) -> None:
    """Set the factors of rows without interactions to zero, where the loss is least for them.

    A solver that only comes closer to its minimum would leave noise, which has a direction like any vector.
    """
    factors[np.flatnonzero(rows.counts == 0)] = 0


def _fixed(side: Side, other: Side) -> Fixed:
    """Return a side as the product with the other side's rows reads it."""
    copy = None
    if worth_halving(side.shape, other.shape):
        copy = side.half(unit_of(side.summed_squares().sum() / math.prod(side.shape)))
    return side.single() if copy is None else copy


def draw(factors: Floats, stddev: float, generator: np.random.Generator) -> None:
    """Fill factors with independent normal numbers."""
    generator.standard_normal(dtype=np.float32, out=factors)
    factors *= np.float32(stddev)


def orthonormalize(side: Side) -> tuple[NDArray[np.float64], int]:
    """Replace the columns of a side's factors by an orthonormal basis of their span, and zeros.

    Returns B's singular values, as B'B has scaled the columns, and the size of the basis.
    """
    values, basis = eigenbasis(side.summed_gramian())
    values, basis = values[::-1], basis[:, ::-1]
    rank = int(np.count_nonzero(values > NEGLIGIBLE * values[0]))
    transform = np.zeros_like(basis)
    transform[:, :rank] = basis[:, :rank] / np.sqrt(values[:rank])
    side.transform(transform)
    return values**0.25, rank  # the columns were B'B V, whose Gramian has the fourth powers


def _column_scales(singular_values: NDArray[np.float64], n_items: int) -> Floats:
    """Return the roots of the singular values, times what makes an item's vector about 1 long."""
    squares = singular_values / max(singular_values.sum(), np.finfo(float).tiny)
    scales: Floats = np.sqrt(n_items * squares).astype(np.float32)
    return scales


def _scales(sums: NDArray[np.float64]) -> Floats:
    """Return one over the root of each row's sum of |a y|; 0 for a row without any."""
    scales = np.divide(1, np.sqrt(sums), out=np.zeros_like(sums), where=sums > 0)
    return np.asarray(np.minimum(scales, np.finfo(np.float32).max), dtype=np.float32)
