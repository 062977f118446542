"""Generate interactions with the shape of a known data set: popularity, activity, latent tastes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data.interactions import Interactions
from ..errors import InvalidValueError

TOPICS = 64  # latent groups of items
TOPICS_PER_USER = 6
TASTE_SHARE = 0.6  # of a user's choices are from the user's topics; the others follow overall popularity
POPULARITY_EXPONENT = 0.75  # the weight of the item of rank r falls as r ** -0.75
ACTIVITY_SIGMA = 1.0  # the number of interactions per user is log-normal with this sigma


@dataclass(frozen=True, slots=True)
class Shape:
    """Numbers of users, items and distinct pairs."""

    users: int
    items: int
    interactions: int

    def scaled(self, scale: float) -> Shape:
        """Multiply every count by `scale`; all shrink together, so the data gets denser."""
        return Shape(*(max(1, round(n * scale)) for n in (self.users, self.items, self.interactions)))


# Counts of the two benchmarks as prepared by Liang et al. (2018), from the paper's data table.
SHAPES = {
    "ml20m": Shape(136_677, 20_108, 10_000_000),
    "msd": Shape(571_355, 41_140, 33_600_000),
}


def synthetic(shape: str | Shape = "ml20m", *, scale: float = 1.0, seed: int = 0) -> Interactions:
    """Generate interactions with exactly the users, items and distinct pairs of a shape.

    An item has a topic and a popularity that follows a power law. A user has a log-normal activity and a few
    topics to choose from, so there is structure to learn.

    Examples
    --------
    >>> datasets.synthetic("ml20m", scale=0.01)
    Interactions(1367 users x 201 items, 100000 pairs)
    >>> datasets.synthetic(datasets.Shape(users=100, items=50, interactions=600))
    Interactions(100 users x 50 items, 600 pairs)
    """
    if isinstance(shape, str):
        if shape not in SHAPES:
            raise InvalidValueError(f"shape must be one of {', '.join(SHAPES)} or a Shape, got {shape!r}")
        shape = SHAPES[shape]
    if not 0 < scale <= 1:
        raise InvalidValueError(f"scale must be in (0, 1], got {scale}")
    size = shape.scaled(scale)
    if size.interactions > size.users * size.items // 2:
        raise InvalidValueError(
            f"{size} (scale {scale:g}) is too dense: at most half of all pairs can be drawn"
        )
    pairs = _distinct_pairs(size, np.random.default_rng(seed))
    return Interactions.from_arrays(
        user=pairs // size.items,
        item=pairs % size.items,
        users=np.arange(size.users),
        items=np.arange(size.items),
    )


def _distinct_pairs(size: Shape, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw distinct pairs, each as the number user * items + item."""
    topics = min(TOPICS, size.items)
    by_rank = rng.permutation(size.items)  # item of each popularity rank; rank r is in topic r % topics
    tastes = rng.integers(0, topics, (size.users, TOPICS_PER_USER))
    activity = np.cumsum(rng.lognormal(0.0, ACTIVITY_SIGMA, size.users))

    pairs: NDArray[np.int64] = np.empty(0, dtype=np.int64)
    while len(pairs) < size.interactions:
        wanted = 2 * (size.interactions - len(pairs)) + 64  # many will be duplicates
        users = np.searchsorted(activity, rng.uniform(0, activity[-1], wanted))
        topic = tastes[users, rng.integers(0, TOPICS_PER_USER, wanted)]
        of_topic = topic + topics * _power_law(rng.random(wanted), (size.items - topic - 1) // topics + 1)
        overall = _power_law(rng.random(wanted), np.full(wanted, size.items))
        ranks = np.where(rng.random(wanted) < TASTE_SHARE, of_topic, overall)
        drawn = users * np.int64(size.items) + by_rank[ranks]
        pairs = _distinct(np.concatenate([pairs, drawn]))
    return rng.permutation(pairs)[: size.interactions]


def _distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    values.sort()
    first: NDArray[np.bool_] = np.concatenate([[True], values[1:] != values[:-1]])
    return values[first]


def _power_law(uniform: NDArray[np.float64], n: NDArray[np.int64]) -> NDArray[np.int64]:
    """Map uniform numbers to ranks 0 .. n - 1 with density ~ (rank + 1) ** -POPULARITY_EXPONENT."""
    power = 1 - POPULARITY_EXPONENT
    rank = ((1 + uniform * ((n + 1.0) ** power - 1)) ** (1 / power)).astype(np.int64) - 1
    return np.asarray(np.clip(rank, 0, n - 1))
