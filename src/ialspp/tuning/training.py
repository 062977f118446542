"""Trials by real trainings: quality after every epoch, early stopping, and starts that trials share."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..data.csr import Floats, aligned
from ..data.interactions import Interactions
from ..data.weighting import Weighting
from ..errors import SolveError, WeightWarning
from ..model.history import EpochRecord
from ..model.model import ImplicitMF
from ..objective import Objective
from ..split import HeldOut
from ..split.weighting import weighted_part
from ..stopping import EarlyStopping
from .parts import TrialParts
from .search import Watch
from .settings import Ending, Outcome, Settings

STARTS = 2  # that are kept at a time: those of the d in hand, and of a repeat


class Trainer:
    """Trains with the settings of trials, and scores the model after every epoch.

    The data is sorted once, by users and by items, for all trials. A start depends on data, d and seed alone,
    so trials that have these in common share one.

    Parameters
    ----------
    parts
        What to train on and what to score by.
    metric
        The score.
    template
        A model whose solver, start and threads trials have.
    epochs
        The most epochs of a training.
    patience
        A training also stops after so many epochs in a row that are no better than the best one.
    users
        How many of the validation users to score, at most.
    """

    def __init__(
        self,
        parts: TrialParts,
        metric: str,
        template: ImplicitMF,
        *,
        epochs: int = 16,
        patience: int = 2,
        users: int | None = None,
    ) -> None:
        self._parts, self._metric, self._template = parts, metric, template
        self._epochs, self._patience, self._users = epochs, patience, users
        self._starts: OrderedDict[tuple[Any, ...], tuple[Floats, Floats]] = OrderedDict()
        self._weighted: OrderedDict[Weighting | None, tuple[Interactions, HeldOut]] = OrderedDict()
        self.judge = self._judge(parts.validation)

    def __call__(self, settings: Settings, seed: int, watch: Watch, *, threads: int | None = None) -> Outcome:
        """Train, and return the scores of the epochs. A training that overflows has none.

        threads: another number than the template's, which changes no score.
        """
        data, validation = self._data(weighting_of(settings))
        judge = self._judge(validation)
        model = _SharedStart(**parameters(self._template, settings, data, seed=seed, epochs=self._epochs))
        model.threads = model.threads if threads is None else threads
        model.starts = self._starts
        model.key = (weighting_of(settings), settings.dim, seed)
        look = _Look(judge, watch)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", WeightWarning)  # trials try such weights on purpose
                model.fit(data, callbacks=[judge, look], progress=False)
        except SolveError as error:
            return Outcome((), 0.0, "failed", error=str(error))
        last = model.history[-1]
        ended: Ending = "no better" if judge.is_over else "all epochs"
        loss = last.observed, last.unobserved, last.regularization
        return Outcome(tuple(judge.scores), 0.0, look.ending or ended, loss)

    def _judge(self, validation: HeldOut) -> EarlyStopping:
        return EarlyStopping(validation, self._metric, patience=self._patience, users=self._users)

    def _data(self, weighting: Weighting | None) -> tuple[Interactions, HeldOut]:
        """Return the training data and the validation part with weights of this kind."""
        if weighting is None:
            return self._parts.train, self._parts.validation
        if weighting not in self._weighted:
            if len(self._weighted) >= STARTS:
                self._weighted.popitem(last=False)
            self._weighted[weighting] = weighted_parts(self._parts, weighting)
        return self._weighted[weighting]


class _Look:
    """A callback that asks after each epoch whether to go on."""

    def __init__(self, judge: EarlyStopping, watch: Watch) -> None:
        self._judge, self._watch = judge, watch
        self.ending: Ending | None = None

    def __call__(self, _model: ImplicitMF, _record: EpochRecord) -> bool:
        ending = self._watch(self._judge.scores)
        if ending is not None and not self._judge.is_over:
            self.ending = ending
        return ending is not None


class _SharedStart(ImplicitMF):
    """A model that starts from factors which others have started from."""

    starts: OrderedDict[tuple[Any, ...], tuple[Floats, Floats]]
    key: tuple[Any, ...]

    def initial_factors(self, data: Interactions) -> tuple[Floats, Floats]:
        """Copy the start of these data, d and seed, made when it is first needed."""
        if self.key not in self.starts:
            if len(self.starts) >= STARTS:
                self.starts.popitem(last=False)
            self.starts[self.key] = super().initial_factors(data)
        users, items = (aligned(factors.shape) for factors in self.starts[self.key])
        for copy, factors in zip((users, items), self.starts[self.key], strict=True):
            copy[:] = factors
        return users, items


def weighted_parts(parts: TrialParts, weighting: Weighting) -> tuple[Interactions, HeldOut]:
    """Return the training and the validation part with weights made anew, by the training part."""
    learned = weighting.learned(parts.train)
    train = learned.applied(parts.train)
    return train, weighted_part(parts.validation, learned, train)


def weighting_of(settings: Settings) -> Weighting | None:
    """Return how settings change weights; None: not at all."""
    if settings.weights == "given":
        return None
    return Weighting(settings.weights, settings.item_power, settings.user_power)


def parameters(
    template: ImplicitMF, settings: Settings, data: Interactions, *, seed: int, epochs: int
) -> dict[str, Any]:
    """Return the arguments of a model with these settings for this data."""
    changed = {"dim": settings.dim, "objective": objective_of(settings, data), "seed": seed, "epochs": epochs}
    return {**template.get_params(deep=False), **changed}


def objective_of(settings: Settings, data: Interactions) -> Objective:
    """Return the objective, with the lambda whose penalties sum up to those of exponent 1."""
    objective = Objective(
        unobserved_weight=settings.unobserved_weight,
        regularization=settings.regularization,
        exponent=settings.exponent,
    )
    return replace(objective, regularization=objective.regularization * penalty_ratio(objective, data))


def penalty_ratio(objective: Objective, data: Interactions) -> float:
    """Return by how much lambda must be larger than with exponent 1, for penalties of the same sum."""
    if objective.exponent == 1:
        return 1.0
    alpha = objective.unobserved_weight
    masses = [data.by_user.counts + alpha * data.n_items, data.by_item.counts + alpha * data.n_users]
    return _total(masses, 1.0) / _total(masses, objective.exponent)


def _total(masses: Sequence[Any], exponent: float) -> float:
    return float(sum((mass**exponent).sum() for mass in masses))
