"""The map: places of the best-known items in the plane, similar ones close together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, Floats
from ..model.fitted import directions
from ..model.model import ImplicitMF
from ..model.ranking import Filter, pack, rank
from ..system.locks import one_blas_thread
from ..system.machine import resolve_threads
from .items import RowNumbers, Shown, best_known
from .layout import Places, laid_out

NEIGHBOURS = 15
LEAST_ROOM, MOST_ROOM = 0.25, 3.0  # of an item, beside the average
DIGITS = 4  # after the point: a ten-thousandth of half the map


class ItemMap(NamedTuple):
    """Items, best known first, and where they are: x and y between -1 and 1.

    Attributes
    ----------
    rows
        The row number of each item in `model.items`.
    users
        The number of users of each item; None for an old model file that does not know it.
    x, y
        The place of each item.
    """

    rows: RowNumbers
    users: RowNumbers | None
    x: Places
    y: Places


def item_map(model: ImplicitMF, top: int = 2000) -> ItemMap:
    """Lay out the best-known items of a model so that items with similar vectors are close together.

    The same model gives the same map. 2,000 items take a few seconds, 5,000 take about three times as long.

    Parameters
    ----------
    model
        A fitted model.
    top
        The number of items.

    Examples
    --------
    >>> found = item_map(model, top=3)
    >>> [model.items[row] for row in found.rows], found.users.tolist()
    (['tea', 'milk', 'rice'], [3, 2, 2])
    >>> places = list(zip(found.x, found.y))
    >>> len(places)
    3
    """
    return places_of(model, best_known(model, top))


def places_of(model: ImplicitMF, shown: Shown) -> ItemMap:
    """Lay out these items."""
    vectors = directions(model.item_factors[shown.rows])
    near = _neighbours(vectors, resolve_threads(model.threads))
    places = laid_out(near, _leading(vectors.astype(np.float64)), _room(shown)).round(DIGITS)
    return ItemMap(shown.rows, shown.users, places[:, 0], places[:, 1])


def _neighbours(vectors: Floats, threads: int) -> NDArray[np.int32]:
    """Find the items with the most similar directions for each item, itself left out."""
    n = len(vectors)
    if n == 0:
        return np.empty((0, 0), dtype=np.int32)
    themselves = Csr(np.arange(n + 1), np.arange(n, dtype=np.int32), n)
    k = min(NEIGHBOURS, n - 1)
    return rank(vectors, pack(vectors, threads), k, threads, allowed=Filter(hidden=themselves))[0]


def _room(shown: Shown) -> Places:
    """Give better-known items more room, since they are the ones with labels."""
    if shown.users is None or len(shown.rows) == 0:
        return np.ones(len(shown.rows))
    fame = np.sqrt(shown.users + 1.0)
    fame = np.clip(fame / fame.mean(), LEAST_ROOM, MOST_ROOM)
    return np.asarray(fame / fame.mean())


def _leading(vectors: Places) -> Places:
    """Return the coordinates along the two directions in which the vectors differ most."""
    if len(vectors) == 0:
        return np.empty((0, 2))
    centred = vectors - vectors.mean(axis=0)
    with one_blas_thread():
        axes = np.linalg.eigh(centred.T @ centred)[1][:, :-3:-1]
        axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])] < 0, -1, 1)
        leading = centred @ axes
    return leading if leading.shape[1] == 2 else np.column_stack([leading, np.zeros(len(leading))])
