"""The result of an evaluation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..data.dataframes import id_columns
from ..data.ids import IdMap
from ..errors import UnknownMetricError
from ..metrics import Doubles
from ..system import html, plots

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Score:
    """A metric's mean over users, and the standard error of that mean: NaN if there is none."""

    mean: float
    standard_error: float

    def __str__(self) -> str:
        error = _error(self)
        return f"{self.mean:.4f}{f' ± {error}' if error else ''}"


def no_ids() -> IdMap:
    """Return the ids of no users."""
    return IdMap([], name="user")


def no_rows() -> NDArray[np.int64]:
    """Return the rows of no users."""
    return np.empty(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """The metrics of one model on one split: `evaluation["ndcg@100"].mean`.

    Attributes
    ----------
    protocol
        The name of the split.
    users
        The number of users who were evaluated. Users without test items are left out.
    scores
        The mean of each metric.
    per_user
        The values of each metric, one for each of `user_ids`; without coverage, which no single user has.
    ids
        The ids of all held-out users.
    rows
        The rows of `ids` that were evaluated, in the order of `per_user`.
    """

    protocol: str
    users: int
    scores: dict[str, Score]
    per_user: dict[str, Doubles]
    ids: IdMap = field(default_factory=no_ids, repr=False)
    rows: NDArray[np.int64] = field(default_factory=no_rows, repr=False)

    def __getitem__(self, metric: str) -> Score:
        if metric not in self.scores:
            raise UnknownMetricError(
                f"no metric {metric!r} was evaluated; there are {', '.join(self.scores)}"
            )
        return self.scores[metric]

    @property
    def user_ids(self) -> list[Any]:
        """The ids of the users who were evaluated."""
        return self.ids.named(self.rows)

    def to_frame(self) -> pl.DataFrame:
        """Return a polars DataFrame with a row for each user who was evaluated: the id and each metric.

        Users that have names have a column `user_name` more.

        Examples
        --------
        >>> evaluate(model, parts, metrics=["hit_rate@1"]).to_frame().rows()
        [('ann', 1.0), ('bob', 1.0), ('cyd', 1.0), ('dan', 0.0)]
        """
        import polars as pl

        return pl.DataFrame({**id_columns("user", self.ids, self.rows), **self.per_user})

    def __str__(self) -> str:
        lines = [f"{name:<18} {score}" for name, score in self.scores.items()]
        return "\n".join([f"{self.protocol}, {self.users} users", *lines])

    def _repr_html_(self) -> str:
        """Draw the metrics as a table, for notebooks. Shares have bars, up to 1."""
        rows = [
            [name, html.Bar(f"{score.mean:.4f}", score.mean if score.mean <= 1 else 0), _error(score)]
            for name, score in self.scores.items()
        ]
        return html.table(f"{self.protocol}, {self.users:,} users", ["metric", "mean", "± error"], rows)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the metrics up to 1 as bars with their standard errors, on new axes or those given.

        Examples
        --------
        >>> axes = evaluate(model, parts, metrics=["hit_rate@1"]).plot()
        >>> axes.get_title()
        'last-item, 4 users'
        """
        shares = {name: score for name, score in self.scores.items() if score.mean <= 1}
        drawn = {name: (score.mean, score.standard_error) for name, score in shares.items()}
        return plots.draw_scores(drawn, f"{self.protocol}, {self.users:,} users", ax)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON. A standard error that does not exist is None.

        Examples
        --------
        >>> evaluate(model, parts, metrics=["hit_rate@1"]).as_dict()["metrics"]
        {'hit_rate@1': {'mean': 0.75, 'standard_error': 0.25}}
        """
        scores = {
            name: {
                "mean": score.mean,
                "standard_error": None if math.isnan(score.standard_error) else score.standard_error,
            }
            for name, score in self.scores.items()
        }
        return {"protocol": self.protocol, "users": self.users, "metrics": scores}


def _error(score: Score) -> str:
    return "" if math.isnan(score.standard_error) else f"{score.standard_error:.4f}"
