"""Stop training once the ranking no longer gets better, and keep the best epoch."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from .data.features import Features
from .data.fingerprint import Fingerprint, fingerprint_of
from .data.interactions import Interactions
from .errors import InvalidTypeError, InvalidValueError
from .evaluation import Recommender, asked_users, checked_features, features_to_fold_in, ranked, same_pairs
from .metrics import Metric
from .model.best import BestEpoch
from .model.side_features import SideFeatures
from .split import HeldOut
from .system.checks import checked_integer

SAMPLE = 1500  # users: with 20,000 items and d = 128, this takes less than a tenth of an epoch of 10M pairs


class EarlyStopping(BestEpoch):
    """A callback for `fit` that stops once a metric no longer gets better, and keeps the best epoch.

    After the fit, the vectors and `history` of the model are those of the best epoch, as if training had
    ended there. `scores` has the metric after every epoch, `best_epoch` and `best_score` say which was best.

    A checkpoint keeps the scores and the best vectors too. Give `resume` an equal `EarlyStopping`.

    Parameters
    ----------
    validation
        The users to evaluate: `split.validation` of a strong split, or `split.test` of a split of the
        training data. The model must be fitted on that split's `train`.
    metric
        One of `ialspp.metrics.NAMES`, such as "ndcg@100", except coverage and novelty.
    patience
        How many epochs in a row may be no better than the best one before training stops.
    users
        Evaluate a sample of this size, the same in every epoch and in every run, which takes less time. None:
        all users.
    user_features
        Features of validation users whom the training does not see, for a fit with `user_features`. Their
        vectors are then folded in with them. None: from their items alone.

    Examples
    --------
    >>> stopping = EarlyStopping(parts.test, "hit_rate@1", patience=1)
    >>> model = ImplicitMF(dim=2).fit(parts.train, callbacks=[stopping])
    >>> stopping.scores, stopping.best_epoch
    ([0.75, 0.75], 1)
    """

    def __init__(
        self,
        validation: HeldOut,
        metric: str = "ndcg@100",
        *,
        patience: int = 2,
        users: int | None = SAMPLE,
        user_features: Features | None = None,
    ) -> None:
        super().__init__(patience)
        if not isinstance(validation, HeldOut):
            raise InvalidTypeError(
                "validation must be a HeldOut, such as split.strong(data).validation, or the test part of a "
                f"split of the training data, got {validation!r}"
            )
        self.metric = checked_metric(metric)
        self.validation = validation
        self.user_features = checked_features(user_features)
        self._users = _sample(asked_users(validation), users)

    def __repr__(self) -> str:
        features = "" if self.user_features is None else f", user_features={self.user_features!r}"
        return (
            f"EarlyStopping({self.validation!r}, {str(self.metric)!r}, patience={self.patience}, "
            f"users={self.users}{features})"
        )

    @property
    def users(self) -> int:
        """The number of users who are evaluated."""
        return len(self._users)

    def score(self, model: Recommender) -> float:
        """Return the mean of the metric."""
        features = features_to_fold_in(self.user_features, model, self.validation)
        standings, _ = ranked(model, self.validation, self._users, [self.metric], features)
        return float(self.metric.of_each(standings).mean())

    def require_fit(self, data: Interactions, features: SideFeatures) -> None:
        """Raise an error unless the data is the training part that belongs to the validation."""
        if self.user_features is not None and features.users is None:
            raise InvalidValueError("user_features of EarlyStopping need a fit with user_features, too")
        part = self.validation.given
        if part.items != data.items:
            raise InvalidValueError(
                f"the validation part must have the items of the training data, {data.items!r}, got "
                f"{part.items!r}; fit the model on the `train` of the same split"
            )
        if not self.validation.unseen:
            if not same_pairs(part, data):
                raise InvalidValueError(
                    f"the validation part belongs to the training data {part!r}, but the model is fitted on "
                    f"{data!r}, which may hold the answers"
                )
        elif known := set(part.users) & set(data.users):
            raise InvalidValueError(
                f"the validation users must not be in the training data, but user {min(known)!r} is; fit the "
                "model on the `train` of the same split"
            )

    def described(self) -> dict[str, Any]:
        """Describe the metric, the patience and the users."""
        features = self.user_features
        return {
            "metric": str(self.metric),
            "patience": self.patience,
            "users": self.users,
            "validation": _hash(self.validation),
            **({} if features is None else {"user_features": fingerprint_of(features)}),
        }


def checked_metric(name: str) -> Metric:
    """Parse the name of a metric that is better where wanted items are ranked higher."""
    metric = Metric.parse(name)
    if metric.of_lists:
        raise InvalidValueError(
            f"early stopping needs a metric of how well test items are ranked, such as ndcg@100, got {name!r}"
        )
    return metric


def _sample(users: Any, size: int | None) -> Any:
    """Draw some of the users, always the same ones."""
    if size is None or len(users) <= checked_integer("users", size, 1):
        return users
    return np.sort(np.random.default_rng(0).choice(users, size, replace=False))


def _hash(part: HeldOut) -> str:
    digest = hashlib.sha256()
    for pairs in (part.given, part.wanted):
        digest.update(Fingerprint.of(pairs).sha256.encode())
    if part.candidates is not None:
        for array in (part.candidates.offsets, part.candidates.columns):
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
