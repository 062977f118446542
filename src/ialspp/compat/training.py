"""Epochs that lower implicit's loss."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..data.csr import Floats
from ..data.ids import IdMap
from ..data.interactions import Interactions
from ..errors import InvalidStateError, InvalidTypeError
from ..model.fitted import Embedding
from ..model.history import EpochRecord
from ..model.model import ImplicitMF
from ..solvers import Problem
from ..system.machine import resolve_threads
from .confidences import Confidences

Sides = tuple[Embedding | None, Embedding | None]  # users and items; None: not trained yet


class Training:
    """The factors of users and items while they are trained on one matrix of confidences."""

    def __init__(self, settings: ImplicitMF, liked: Confidences, sides: Sides) -> None:
        self._settings, self._liked = settings, liked
        self._threads = resolve_threads(settings.threads)
        self._records: list[EpochRecord] = []
        data = _interactions(liked)
        self.factors = _started(settings, data, sides)
        self._problem = self._of(data)

    def _of(self, data: Interactions) -> Problem:
        return Problem.of(data, self._settings.objective, *self.factors, self._threads)

    def run_epoch(self, *, last: bool, wants_loss: bool) -> float | None:
        """Update all users, then all items; return implicit's loss if it is wanted."""
        liked = self._liked
        if liked.needs_tangents:
            self._problem = self._of(_interactions(liked, liked.scores(*self.factors, self._threads)))
        record = self._settings.run_epoch(self._problem, self._records, last=last)
        loss = None
        if liked.needs_tangents or wants_loss:
            scores = liked.scores(*self.factors, self._threads)
            loss = liked.loss(scores, record.unobserved, record.regularization)
        if loss is not None and liked.needs_tangents:  # losses along different tangents cannot be compared
            record = replace(record, loss=loss)
        self._records.append(record.checked())
        return loss if wants_loss else None


def _interactions(liked: Confidences, scores: Floats | None = None) -> Interactions:
    rows = liked.weighted(scores)
    users, items = IdMap.stored(np.arange(len(rows)), name="user"), np.arange(rows.n_columns)
    return Interactions.of_rows(users, IdMap.stored(items, name="item"), rows, weighted=True)


def _started(settings: ImplicitMF, data: Interactions, sides: Sides) -> tuple[Floats, Floats]:
    """Return the factors to train: copies of those there are, or a start."""
    starts = settings.initial_factors(data)
    users, items = (
        start if side is None else _further(side, start) for start, side in zip(starts, sides, strict=True)
    )
    return users, items


def _further(side: Embedding, start: Floats) -> Floats:
    if side.vectors.shape != start.shape:
        raise InvalidStateError(
            f"{side.ids.name}_factors of shape {side.vectors.shape} cannot be trained further on data that "
            f"needs {start.shape}; set them to None, or make a new model"
        )
    start[:] = side.vectors
    return start


def seed_of(random_state: Any) -> int:
    """Return the seed that implicit's argument stands for."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    raise InvalidTypeError(
        f"random_state must be an integer, a numpy generator or None, got {random_state!r}"
    )
