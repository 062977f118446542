"""What any model must beat: the most popular items, and random ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .errors import NotFittedError
from .settings import checked_integer

if TYPE_CHECKING:
    from .csr import Csr, Floats
    from .interactions import Interactions

_RANDOM_DIM = 32


class MostPopular:
    """The items with the most users, the same for everybody: scores are counts."""

    trained_on: Interactions | None = None

    def fit(self, data: Interactions) -> MostPopular:
        """Count."""
        self.trained_on = data
        self.item_factors: Floats = data.by_item.counts.astype(np.float32)[:, None]
        self.user_factors: Floats = np.ones((data.n_users, 1), dtype=np.float32)
        return self

    def fold_in_rows(self, rows: Csr) -> Floats:
        """A stranger is like everybody."""
        return np.ones((len(rows), 1), dtype=np.float32)

    def __repr__(self) -> str:
        return "MostPopular()"


class Random:
    """Each user's items in an order of chance: products of random vectors, which favour no item."""

    trained_on: Interactions | None = None

    def __init__(self, seed: int = 0) -> None:
        self.seed = checked_integer("seed", seed, 0)

    def fit(self, data: Interactions) -> Random:
        """Draw."""
        self.trained_on = data
        self.item_factors: Floats = self._drawn(0, data.n_items)
        self.user_factors: Floats = self._drawn(1, data.n_users)
        return self

    def fold_in_rows(self, rows: Csr) -> Floats:
        """A stranger's order is one more."""
        if self.trained_on is None:
            raise NotFittedError("the baseline is not fitted; call fit(data) first")
        return self._drawn(2, len(rows))

    def _drawn(self, stream: int, rows: int) -> Floats:
        rng = np.random.default_rng([self.seed, stream])
        return rng.standard_normal((rows, _RANDOM_DIM), dtype=np.float32)

    def __repr__(self) -> str:
        return f"Random(seed={self.seed})"
