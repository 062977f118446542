"""What a report says of a model: counts of its recommendations, its spectrum, neighbours, a map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..explorer import ItemMap, item_map
from ..explorer.items import best_known
from ..model.fitted import directions
from ..model.model import ImplicitMF
from ..solvers import gramian
from ..system.locks import one_blas_thread
from ..system.machine import resolve_threads

MOST_USERS = 20_000  # who are recommended to: enough for shares to be right within half a per cent
MAPPED = 1000  # items on the map
WELL_KNOWN = 9  # items whose neighbours are listed
NEIGHBOURS = 5  # of each
TOP_SHARE = 0.1  # of the items, for how much of everything the most popular ones get

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Exposure:
    """How often items are recommended, beside how many users they have.

    Attributes
    ----------
    users
        How many users were recommended to.
    k
        The number of items for each.
    times
        How often each item was recommended.
    popularity
        The number of users of each item in the training data.
    """

    users: int
    k: int
    times: Counts
    popularity: Counts

    @property
    def coverage(self) -> float:
        """The share of items that were recommended to anyone."""
        return float(np.mean(self.times > 0))

    def share_of_popular(self, counts: Counts) -> float:
        """Return the share of all counts that the most popular tenth of items has."""
        return float(self.cumulative(counts)[max(1, round(TOP_SHARE * len(counts))) - 1])

    def cumulative(self, counts: Counts) -> NDArray[np.float64]:
        """Return the share of all counts that the most popular 1, 2, 3, ... items have."""
        ordered = counts[np.argsort(-self.popularity, kind="stable")]
        return np.asarray(np.cumsum(ordered) / max(int(counts.sum()), 1))


def exposure_of(model: ImplicitMF, k: int) -> Exposure | None:
    """Recommend to users, evenly spread over all, and count; None if the file has no counts of users."""
    popularity = model.item_counts
    if popularity is None:
        return None
    n = len(model.users)
    rows = np.unique(np.linspace(0, n - 1, min(n, MOST_USERS)).round().astype(np.int64))
    asked = model.users.named(rows)
    best = model.recommend(asked, k, exclude_seen=model.keeps_interactions, progress=False).rows
    times = np.bincount(best[best >= 0], minlength=len(model.items))
    return Exposure(len(rows), k, times, popularity.astype(np.int64))


def spectrum_of(model: ImplicitMF) -> NDArray[np.float64]:
    """Return the singular values of the matrix of all scores, W H', largest first.

    Their squares are the eigenvalues of R'R's Gramian with the root R' of the other: no score is computed.
    """
    threads = resolve_threads(model.threads)
    users, items = (gramian(side, threads) for side in (model.user_factors, model.item_factors))
    with one_blas_thread():
        values, basis = np.linalg.eigh(users)
        root = basis * np.sqrt(np.maximum(values, 0))
        squares = np.linalg.eigvalsh(root.T @ items @ root)[::-1]
    return np.asarray(np.sqrt(np.maximum(squares, 0)))


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A well-known item, and the items most like it with their cosines."""

    label: str
    neighbours: list[tuple[str, float]]


def neighbourhoods_of(model: ImplicitMF) -> list[Neighbourhood]:
    """Describe well-known items that differ: the best-known one, then the least similar to those chosen."""
    rows = _spread_out(model, best_known(model, 10 * WELL_KNOWN).rows)
    found = model.similar_items(model.items.named(rows), k=NEIGHBOURS)
    described = []
    for label, near, scores in zip(model.items.labels(rows), found.rows, found.scores, strict=True):
        there = near[near >= 0]
        neighbours = zip(model.items.labels(there), scores[: len(there)].tolist(), strict=True)
        described.append(Neighbourhood(label, list(neighbours)))
    return described


def _spread_out(model: ImplicitMF, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Choose items that are little alike, so that a few show much."""
    vectors = directions(model.item_factors[rows]).astype(np.float64)
    alike = np.einsum("id,jd->ij", vectors, vectors)
    chosen = [0]
    while len(chosen) < min(WELL_KNOWN, len(rows)):
        closeness = alike[chosen].max(axis=0)
        closeness[chosen] = np.inf
        chosen.append(int(closeness.argmin()))
    return rows[chosen]


def map_of(model: ImplicitMF) -> ItemMap:
    """Lay out the best-known items."""
    return item_map(model, MAPPED)
