"""Metrics of rankings, computed from the places of the test items in them.

A user has n test items ("wanted"). Ranked among all items that could be recommended, each has a place: 0, 1,
2, ... A wanted item at a place before k is a hit. Items of equal score are ranked by row number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from .data.csr import RowNumbers
from .errors import InvalidValueError

Doubles = NDArray[np.float64]
Integers = NDArray[np.int64]
Counts = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Standings:
    """The places of each user's wanted items. Every user has at least one."""

    offsets: Integers  # user u owns entries offsets[u] .. offsets[u + 1] of the next three
    places: Integers  # of the wanted items, ascending within a user
    above: Integers  # for each wanted item, the number of ranked items with a higher score
    equal: Integers  # for each wanted item, the number of other ranked items with the same score
    ranked: Integers  # for each user, the number of items that could be recommended

    @classmethod
    def of(
        cls, offsets: Integers, above: Counts, equal: Counts, before: Counts, ranked: Integers
    ) -> Standings:
        """Make standings from counts for each wanted item, in any order within a user.

        Examples
        --------
        No two items have the same score, so the place of an item is the number of items above it:

        >>> above = np.array([3, 0, 2])
        >>> made = metrics.Standings.of(standings.offsets, above, 0 * above, 0 * above, standings.ranked)
        >>> made.places.tolist()
        [0, 3, 2]
        """
        user = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        places = above.astype(np.int64) + before
        order = np.lexsort((places, user))
        return cls(
            offsets, places[order], above.astype(np.int64)[order], equal.astype(np.int64)[order], ranked
        )

    @classmethod
    def joined(cls, parts: Sequence[Standings]) -> Standings:
        """Put the users of several standings one after the other."""
        counts = np.concatenate([part.wanted for part in parts])
        rest = ("places", "above", "equal", "ranked")
        arrays = (np.concatenate([getattr(part, name) for part in parts]) for name in rest)
        return cls(np.concatenate([[0], np.cumsum(counts)]), *arrays)

    def copy(self) -> Standings:
        """Copy the arrays."""
        return Standings.joined([self])

    @property
    def wanted(self) -> Integers:
        """The number n of wanted items of each user."""
        return np.diff(self.offsets)

    @property
    def index(self) -> Integers:
        """For each wanted item, the number of its user's wanted items at earlier places."""
        return np.arange(len(self.places)) - np.repeat(self.offsets[:-1], self.wanted)

    def total(self, values: Doubles | NDArray[np.bool_]) -> Doubles:
        """Sum values over each user's wanted items.

        Examples
        --------
        >>> standings.total(standings.places < 3).tolist()
        [1.0, 1.0]
        """
        return np.add.reduceat(values.astype(np.float64), self.offsets[:-1])

    def hits(self, k: int) -> Doubles:
        """Count each user's hits among the first k.

        Examples
        --------
        >>> standings.hits(4).tolist()
        [2.0, 1.0]
        """
        return self.total(self.places < k)


def recall(s: Standings, k: int) -> Doubles:
    """Return hits / n.

    Examples
    --------
    >>> metrics.recall(standings, 3).tolist()
    [0.5, 1.0]
    """
    return s.hits(k) / s.wanted


def capped_recall(s: Standings, k: int) -> Doubles:
    """Return hits / min(k, n), which is what Liang et al. (2018) and the iALS++ paper call Recall@k.

    Examples
    --------
    >>> metrics.capped_recall(standings, 1).tolist()
    [1.0, 0.0]
    """
    return np.asarray(s.hits(k) / np.minimum(k, s.wanted))


def precision(s: Standings, k: int) -> Doubles:
    """Return hits / k.

    Examples
    --------
    >>> metrics.precision(standings, 4).tolist()
    [0.5, 0.25]
    """
    return s.hits(k) / k


def hit_rate(s: Standings, k: int) -> Doubles:
    """Return 1 if there is a hit, else 0.

    Examples
    --------
    >>> metrics.hit_rate(standings, 2).tolist()
    [1.0, 0.0]
    """
    return (s.hits(k) > 0).astype(np.float64)


def ndcg(s: Standings, k: int) -> Doubles:
    """Return the sum of 1 / log2(place + 2) over hits, relative to hits at places 0, ..., min(k, n) - 1.

    Examples
    --------
    >>> metrics.ndcg(standings, 3).round(2).tolist()
    [0.61, 0.5]
    """
    gains = np.where(s.places < k, 1 / np.log2(s.places + 2.0), 0.0)
    most = np.minimum(k, s.wanted)
    ideal = np.cumsum(1 / np.log2(np.arange(most.max()) + 2.0))
    return np.asarray(s.total(gains) / ideal[most - 1])


def average_precision(s: Standings, k: int) -> Doubles:
    """Return the sum over hits of the precision at the hit's place, divided by min(k, n).

    Examples
    --------
    >>> metrics.average_precision(standings, 4).round(2).tolist()
    [0.75, 0.33]
    """
    precisions = np.where(s.places < k, (s.index + 1.0) / (s.places + 1.0), 0.0)
    return np.asarray(s.total(precisions) / np.minimum(k, s.wanted))


def reciprocal_rank(s: Standings, k: int) -> Doubles:
    """Return 1 / (place + 1) of the first hit, or 0.

    Examples
    --------
    >>> metrics.reciprocal_rank(standings, 3).round(2).tolist()
    [1.0, 0.33]
    """
    first = s.places[s.offsets[:-1]]
    return np.where(first < k, 1 / (first + 1.0), 0.0)


def auc(s: Standings) -> Doubles:
    """Return the share of pairs (wanted, not wanted) in the right order. Equal scores count half.

    It is 1 where every item that could be recommended is wanted.

    Examples
    --------
    >>> metrics.auc(standings).round(2).tolist()
    [0.88, 0.78]
    """
    # Wanted items do not count against each other. A user's entries are sorted by score, so those of equal
    # score are a run, and those above it come before the run.
    user = np.repeat(np.arange(len(s.wanted)), s.wanted)
    starts = np.ones(len(user), dtype=bool)
    starts[1:] = (user[1:] != user[:-1]) | (s.above[1:] != s.above[:-1])
    run = np.cumsum(starts) - 1
    run_lengths = np.bincount(run)
    wanted_above = s.index[np.flatnonzero(starts)][run]
    wrong = (s.above - wanted_above) + 0.5 * (s.equal - (run_lengths[run] - 1))
    pairs = s.wanted * (s.ranked - s.wanted)
    return np.where(pairs > 0, 1 - s.total(wrong) / np.maximum(pairs, 1), 1.0)


def coverage(best: RowNumbers, n_items: int) -> float:
    """Return the share of all items that are among the best k of at least one user.

    Examples
    --------
    Two users are recommended three of ten items between them:

    >>> metrics.coverage(np.array([[0, 3], [0, 2]]), n_items=10)
    0.3
    """
    return len(np.unique(best[best >= 0])) / n_items


def novelty(best: RowNumbers, popularity: Doubles) -> Doubles:
    """Return the mean of -log2(popularity) over each user's best k: how little known they are, in bits.

    The popularity of an item is the share of training users who have it. An item that nobody has counts as if
    one user had it.

    Examples
    --------
    Half of the users have the first item, and a quarter of them each of the others:

    >>> metrics.novelty(np.array([[0, 1], [1, 2]]), popularity=np.array([0.5, 0.25, 0.25])).tolist()
    [1.5, 2.0]
    """
    bits: Doubles = np.where(best >= 0, -np.log2(popularity)[best], 0.0)
    return np.asarray(bits.sum(axis=1) / np.maximum((best >= 0).sum(axis=1), 1))


_AT_K: dict[str, Callable[[Standings, int], Doubles]] = {
    "recall": recall,
    "capped_recall": capped_recall,
    "precision": precision,
    "hit_rate": hit_rate,
    "ndcg": ndcg,
    "map": average_precision,
    "mrr": reciprocal_rank,
}
_OF_LISTS = ("coverage", "novelty")
NAMES = (*(f"{name}@k" for name in (*_AT_K, *_OF_LISTS)), "auc")


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric by name, such as "ndcg@100", or "auc", which has no k."""

    name: str
    k: int | None

    @classmethod
    def parse(cls, text: str) -> Metric:
        """Parse one of `NAMES` with a number for k.

        Examples
        --------
        >>> metrics.Metric.parse("ndcg@100")
        Metric(name='ndcg', k=100)
        """
        parts = re.fullmatch(r"([a-z_]+)@([1-9][0-9]{0,8})", str(text))
        if text == "auc":
            return cls(text, None)
        if parts and parts[1] in (*_AT_K, *_OF_LISTS):
            return cls(parts[1], int(parts[2]))
        name, known = str(text).partition("@")[0], ["auc", *_AT_K, *_OF_LISTS]
        close = [] if name in known else get_close_matches(name, known, 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise InvalidValueError(
            f"a metric must be one of {', '.join(NAMES)}, with a number for k, got {text!r}{hint}"
        )

    @property
    def of_lists(self) -> bool:
        """Whether the metric depends on the recommended items alone, not on the wanted ones."""
        return self.name in _OF_LISTS

    def of_each(self, standings: Standings) -> Doubles:
        """Compute the metric of each user.

        Examples
        --------
        >>> metrics.Metric.parse("recall@3").of_each(standings).tolist()
        [0.5, 1.0]
        """
        return auc(standings) if self.k is None else _AT_K[self.name](standings, self.k)

    def __str__(self) -> str:
        return self.name if self.k is None else f"{self.name}@{self.k}"
