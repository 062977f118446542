"""Baselines that any model must beat: the most popular items, and random ones.

Their scores are products of vectors, as a model's are, so they are evaluated in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from .errors import NotFittedError
from .model.fitted import Embedding, Fitted, popularity, users_of_items
from .model.recommending import Recommending
from .system.checks import checked_integer

if TYPE_CHECKING:
    from .data.csr import Csr, Floats
    from .data.interactions import Interactions
    from .model.newcomers import UnseenRows
    from .system.progress import Progress

RANDOM_DIM = 32
T = TypeVar("T")


class MostPopular(Recommending):
    """Recommend the items with the most users to everybody. Scores are counts.

    `recommend` and `recommend_for` take the same arguments and give results of the same kinds as those of
    `ImplicitMF`. Their rankings are never marked as a fallback.

    Examples
    --------
    >>> model.recommend("dan", k=2)
    ['tea', 'milk']
    >>> model.recommend_for([["tea"], []], k=1)
    [['milk'], ['tea']]
    """

    trained_on: Interactions | None = None
    threads: int | None = None  # as many as the process may use
    _falls_back = False  # because nobody gets anything else
    _state: Fitted | None = None

    def fit(self, data: Interactions, *, progress: Progress = None) -> MostPopular:
        """Keep the data, whose counts are the scores. There is no progress to report.

        Examples
        --------
        >>> ranking = MostPopular().fit(data).recommend("bob", k=2)
        >>> ranking, ranking.scores
        (['rice', 'beans'], [2.0, 1.0])
        """
        del progress
        same = np.ones((data.n_users, 1), dtype=np.float32)
        self._state = Fitted(Embedding(data.users, same), popularity(data.items, users_of_items(data)), data)
        self.trained_on = data
        return self

    @property
    def user_factors(self) -> Floats:
        """The same vector for every user."""
        return self._fitted().users.vectors

    @property
    def item_factors(self) -> Floats:
        """The number of users of each item."""
        return self._fitted().items.vectors

    def fold_in_rows(self, rows: Csr) -> Floats:
        """Return the same vector for every unseen user.

        Examples
        --------
        >>> model.fold_in_rows(data.by_user).tolist()
        [[1.0], [1.0], [1.0], [1.0]]
        """
        return np.ones((len(rows), 1), dtype=np.float32)

    def _fitted(self) -> Fitted:
        return _fitted(self._state)

    def _strangers(self, state: Fitted, unseen: UnseenRows) -> Floats:
        del state
        return self.fold_in_rows(unseen.histories)

    def __repr__(self) -> str:
        return "MostPopular()"


class Random:
    """Recommend items in random order: scores are products of random vectors, those of items equally long."""

    trained_on: Interactions | None = None

    def __init__(self, seed: int = 0) -> None:
        self.seed = checked_integer("seed", seed, 0)

    def fit(self, data: Interactions, *, progress: Progress = None) -> Random:
        """Keep the data, which says how many vectors to draw. There is no progress to report.

        Examples
        --------
        >>> baseline = Random(seed=1).fit(data)
        >>> baseline.user_factors.shape, baseline.item_factors.shape
        ((4, 32), (5, 32))
        """
        del progress
        self.trained_on = data
        return self

    @property
    def user_factors(self) -> Floats:
        """Random vectors of the users, drawn from the seed: the same each time."""
        return self._drawn(0, _fitted(self.trained_on).n_users)

    @property
    def item_factors(self) -> Floats:
        """Random directions of the items. Longer vectors would be recommended more often."""
        vectors = self._drawn(1, _fitted(self.trained_on).n_items)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))

    def fold_in_rows(self, rows: Csr) -> Floats:
        """Draw vectors of unseen users.

        Examples
        --------
        >>> Random(seed=1).fit(data).fold_in_rows(data.by_user).shape
        (4, 32)
        """
        return self._drawn(2, len(rows))

    def _drawn(self, stream: int, rows: int) -> Floats:
        rng = np.random.default_rng([self.seed, stream])
        return rng.standard_normal((rows, RANDOM_DIM), dtype=np.float32)

    def __repr__(self) -> str:
        return f"Random(seed={self.seed})"


def _fitted(learned: T | None) -> T:
    if learned is None:
        raise NotFittedError("the baseline is not fitted; call fit(data) first")
    return learned
