"""Weights of training data made anew: dampened, and divided by how popular items and active users are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValueError
from .csr import Csr
from .interactions import Interactions

KINDS = ("log", "sqrt", "clip", "linear", "none")  # in the order in which a search tries them
CLIPPED = 0.9  # "clip": this share of the pairs keep their weights, the others get the largest of these
LEAST = 0.01  # "log": weights are measured in units of about the least one, the quantile of this share

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weighting:
    """How to make the weights that a model is trained with from those that were given.

        weight = f(given) / (popularity of the item ^ item_power * activity of the user ^ user_power)

    All weights are then divided by their mean on the training data, so that they are 1 on average, which
    suits the range of `Objective.unobserved_weight`. Popularity and activity are numbers of interactions,
    divided by their means.

    Parameters
    ----------
    kind
        f: "linear" (as given), "none" (all 1), "log" (the logarithm of 1 + weight in units of the least),
        "sqrt", or "clip" (at most what 90 % of the pairs have).
    item_power, user_power
        How much less each interaction counts of items that many have, and of users who have many.
    """

    kind: str = "linear"
    item_power: float = 0.0
    user_power: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InvalidValueError(f"weighting must be one of {', '.join(KINDS)}, got {self.kind!r}")
        for name in ("item_power", "user_power"):
            power = float(getattr(self, name))
            if not -2 <= power <= 2:
                raise InvalidValueError(f"{name} must be from -2 to 2, got {power:g}")
            object.__setattr__(self, name, power)

    def learned(self, train: Interactions) -> LearnedWeighting:
        """Take units and means from training data."""
        given = _weights(train.by_user)
        positive = given[given > 0]
        unit = 1.0
        if len(positive) and self.kind in ("log", "clip"):
            share = LEAST if self.kind == "log" else CLIPPED
            unit = float(np.quantile(positive, share, method="nearest"))
        popularity = _relative(train.by_user.column_counts) ** -self.item_power
        unscaled = LearnedWeighting(self, unit, popularity, _mean(train.by_user.counts), 1.0)
        return replace(unscaled, mean=_mean(unscaled.of(train.by_user)) or 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class LearnedWeighting:
    """A weighting with the units and means of some training data; for any data with its items."""

    weighting: Weighting
    unit: float
    popularity: Doubles  # of each item: what its interactions are multiplied by
    activity: float  # the mean number of interactions of a user
    mean: float

    def applied(self, data: Interactions) -> Interactions:
        """Return the same interactions with the weights made anew."""
        weights = self.of(data.by_user).astype(np.float32)
        rows = replace(data.by_user, weights=weights).without_ones()
        made = Interactions.of_rows(data.users, data.items, rows, data.times, weighted=True, work=data.work)
        made.decayed = data.decayed
        return made

    def of(self, rows: Csr) -> Doubles:
        """Return the weights of these rows."""
        activity = np.maximum(rows.counts, 1) / max(self.activity, 1.0)
        users = np.repeat(activity**-self.weighting.user_power, rows.counts)
        return self._dampened(_weights(rows)) * self.popularity[rows.columns] * users / self.mean

    def _dampened(self, given: Doubles) -> Doubles:
        if self.weighting.kind == "none":
            return (given > 0).astype(np.float64)  # a pair of weight 0 is not observed
        if self.weighting.kind == "log":
            return np.log1p(given / self.unit)
        if self.weighting.kind == "sqrt":
            return np.sqrt(given)
        return np.minimum(given, self.unit) if self.weighting.kind == "clip" else given


def _weights(rows: Csr) -> Doubles:
    if rows.weights is None:
        return np.ones(len(rows.columns))
    return rows.weights.astype(np.float64)


def _relative(counts: NDArray[Any]) -> Doubles:
    """Divide counts by their mean; items without interactions count as having one."""
    least = np.maximum(counts, 1).astype(np.float64)
    return np.asarray(least / _mean(least))


def _mean(values: NDArray[Any]) -> float:
    return float(np.mean(values, dtype=np.float64)) if len(values) else 1.0
