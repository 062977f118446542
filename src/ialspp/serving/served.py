"""The model that a worker answers from, with what is derived from it once."""

from __future__ import annotations

import time
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr
from ..data.ids import IdMap
from ..errors import InvalidValueError
from ..files.version import FileVersion
from ..model.model import ImplicitMF
from .features import KnownFeatures

if TYPE_CHECKING:
    from ..explorer.places import ItemMap

Counts = NDArray[np.int64]
MOST_MAPS = 8  # that are kept


class Served:
    """A model of one file. Nothing here changes, so that each answer comes from one model.

    Attributes
    ----------
    model
        The model.
    checksum
        What tells its file from others; every answer carries it.
    version
        The file that was at the path when it was opened.
    loaded
        When it was loaded, in Unix seconds.
    """

    def __init__(self, path: Path, threads: int | None) -> None:
        self.path = path
        self.version = FileVersion.of(path)  # before it is read: a later one is then noticed
        self.model = ImplicitMF.load(path, verify=True, threads=threads)
        info = self.model.file_info
        assert info is not None
        self.info: dict[str, Any] = info
        self.checksum: str = info["checksum"]
        self.loaded = time.time()
        self._maps: dict[int, ItemMap] = {}
        self._changing_maps = Lock()
        self._warm_up()

    def _warm_up(self) -> None:
        """Derive what every query needs, so that the first one does not wait for it."""
        if len(self.model.items):
            first = self.model.items.named(np.arange(1))
            self.model.answer([self.model.query(history=first, k=1), self.model.query(history=[], k=1)])

    @property
    def written(self) -> float:
        """When the file was written, in Unix seconds."""
        return self.version.modified / 1e9

    @cached_property
    def user_features(self) -> KnownFeatures:
        """The features of users that the model was trained with."""
        return KnownFeatures("user", self.model.user_features)

    @cached_property
    def item_features(self) -> KnownFeatures:
        """The features of items that the model was trained with."""
        return KnownFeatures("item", self.model.item_features)

    @cached_property
    def item_counts(self) -> Counts | None:
        """The number of users of each item; None if an old file has no interactions."""
        counts = self.model.item_counts
        return None if counts is None else counts.astype(np.int64)

    @cached_property
    def user_counts(self) -> Counts | None:
        """The number of items of each user; None if the file has no interactions."""
        rows = self._interactions
        return None if rows is None else rows.counts

    @cached_property
    def _interactions(self) -> Csr | None:
        data = self.model.trained_on if self.model.keeps_interactions else None
        return None if data is None else data.by_user

    @cached_property
    def typical_weight(self) -> float:
        """The weight that an item which somebody picks on the page starts with."""
        from ..explorer.content import typical_weight

        rows = self._interactions
        return 1.0 if rows is None else typical_weight(rows)

    def history_of(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return the items of a user and their weights, the strongest first."""
        if self._interactions is None:
            raise InvalidValueError("this model's file has no interactions, so it has no histories")
        past = self._interactions.take(np.array([row]))
        weights = np.ones(len(past.columns), dtype=np.float32) if past.weights is None else past.weights
        order = np.argsort(-weights, kind="stable")
        return past.columns[order], weights[order]

    def map_of(self, top: int) -> ItemMap:
        """Lay out the best-known items, which takes seconds, or return them as they were laid out before."""
        from ..explorer import item_map

        found = self.kept_map(top) or item_map(self.model, top)
        with self._changing_maps:
            if top not in self._maps and len(self._maps) >= MOST_MAPS:
                del self._maps[next(iter(self._maps))]  # which nobody asked for the longest
            self._maps[top] = found
        return found

    def kept_map(self, top: int) -> ItemMap | None:
        """Return the items as they were laid out before; None if they were not, or if that is long ago."""
        with self._changing_maps:
            found = self._maps.pop(top, None)
            if found is not None:
                self._maps[top] = found  # the last to be removed
        return found


def best_matches(ids: IdMap, text: str, limit: int, counts: Counts | None) -> Counts:
    """Return the rows of ids that match a text, best first; of no text, those with the largest counts."""
    if text:
        return np.asarray(ids.search(text, limit, counts))
    if counts is None:
        return np.arange(min(limit, len(ids)))
    return np.argsort(-counts, kind="stable")[:limit]
