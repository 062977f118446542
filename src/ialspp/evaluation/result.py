"""The result of an evaluation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..metrics import Doubles
from ..system import html, plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Score:
    """A metric's mean over users, and the standard error of that mean: NaN if there is none."""

    mean: float
    standard_error: float

    def __str__(self) -> str:
        error = _error(self)
        return f"{self.mean:.4f}{f' ± {error}' if error else ''}"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The metrics of one model on one split: `evaluation["ndcg@100"].mean`."""

    protocol: str
    users: int  # who were evaluated; users without test items are left out
    scores: dict[str, Score]
    per_user: dict[str, Doubles]  # in the order of the held-out users; without coverage, which has no user

    def __getitem__(self, metric: str) -> Score:
        return self.scores[metric]

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
