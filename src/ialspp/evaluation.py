"""Evaluate a model on held-out data, in numbers that can be compared with published ones."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from .data.csr import Csr, Floats, RowNumbers
from .data.features import Features
from .data.interactions import Interactions
from .errors import InvalidTypeError, InvalidValueError
from .metrics import Doubles, Metric, Standings, coverage, novelty
from .model.ranking import Filter, pack, rank, score_pairs
from .split import HeldOut, Split
from .system import html, plots
from .system.machine import resolve_threads
from .system.progress import Progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Recommender(Protocol):
    """Anything whose scores are products of vectors: `ImplicitMF`, `MostPopular`, `Random`, your own."""

    @property
    def trained_on(self) -> Interactions | None:
        """The data of the last `fit`, or None before it."""

    @property
    def user_factors(self) -> Floats:
        """One row per user of the training data."""

    @property
    def item_factors(self) -> Floats:
        """One row per item of the training data."""

    def fit(self, data: Interactions, *, progress: Progress = None) -> Any:
        """Train the model."""

    def fold_in_rows(self, rows: Csr) -> Floats:
        """Return vectors of unseen users, from rows of their interactions with the training items."""


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
        """Draw the metrics up to 1 as bars with their standard errors, on new axes or those given."""
        shares = {name: score for name, score in self.scores.items() if score.mean <= 1}
        drawn = {name: (score.mean, score.standard_error) for name, score in shares.items()}
        return plots.draw_scores(drawn, f"{self.protocol}, {self.users:,} users", ax)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON. A standard error that does not exist is None."""
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


def evaluate(
    model: Recommender,
    split: Split,
    *,
    metrics: Iterable[str] | None = None,
    on: Literal["test", "validation"] = "test",
    user_features: Features | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Evaluation:
    """Measure how well a model predicts the interactions that a split holds out.

    Parameters
    ----------
    model
        A model fitted on `split.train`, or one that is not fitted yet, which is then fitted here. A model
        fitted on other data is an error, because it may have seen the answers.
    split
        A split made by `ialspp.split`.
    metrics
        Names such as "ndcg@100", out of `ialspp.metrics.NAMES`. None: those of the split's protocol.
    on
        Which of the split's held-out users to evaluate.
    user_features
        Features of held-out users whom the training has not seen, for a model that was fitted with
        `user_features`. Their vectors are then folded in with them. None: from their items alone.
    threads
        The number of threads. None: as many as the model uses. Results do not depend on it.
    progress
        True: draw a bar. False: don't. None: only on a terminal or in a notebook. A function: call it
        with each `ProgressEvent`.
    """
    held_out, chosen = checked_question(split, metrics, on)
    if model.trained_on is None:
        model.fit(split.train, progress=progress)
    elif _has_newcomers(model.trained_on, split.train):
        raise InvalidValueError(
            f"the model must know only the users and items of the split's training data, {split.train!r}, "
            f"but it has {model.trained_on!r}; fit it with features of those alone: "
            "features.known_to(split.train.items)"
        )
    elif not same_pairs(model.trained_on, split.train):
        raise InvalidValueError(
            f"the model must be fitted on the split's training data, {split.train!r}, but was fitted on "
            f"{model.trained_on!r}, which may hold the answers"
        )
    asked = asked_users(held_out)
    described = _checked_features(user_features, model, held_out)
    standings, best = ranked(model, held_out, asked, chosen, described, threads=threads, progress=progress)
    return _scored(split, len(asked), chosen, standings, best)


def _checked_features(given: Features | None, model: Recommender, held_out: HeldOut) -> Features | None:
    """Return the features to fold in unseen users with; the model knows those of other users."""
    if given is None:
        return None
    if not isinstance(given, Features):
        raise InvalidTypeError(
            f"user_features must be Features, whose ids say who they belong to, got {type(given).__name__}"
        )
    if getattr(model, "user_features", None) is None:
        raise InvalidValueError("user_features need a model that was fitted with user_features, got another")
    return given if held_out.unseen else None


def _has_newcomers(known: Interactions, train: Interactions) -> bool:
    """Tell whether a model was fitted on this data and then got users or items of which it has features."""
    return len(known) == len(train) and (known.n_users > train.n_users or known.n_items > train.n_items)


def asked_users(held_out: HeldOut) -> NDArray[np.int64]:
    """Return the rows of the users who have test items."""
    return np.flatnonzero(held_out.wanted.by_user.counts)


def ranked(
    model: Recommender,
    held_out: HeldOut,
    users: NDArray[np.int64],
    metrics: list[Metric],
    user_features: Features | None = None,
    *,
    threads: int | None = None,
    progress: Progress = False,
) -> tuple[Standings, RowNumbers]:
    """Rank items for some held-out users, as far as these metrics need it.

    Returns the places of the test items, and the best items of each user.
    """
    n_items = held_out.given.n_items
    k = min(max((metric.k or 0 for metric in metrics if metric.of_lists), default=0), n_items)
    depth = min(max((metric.k or n_items for metric in metrics), default=0), n_items)  # auc needs all places
    threads = resolve_threads(getattr(model, "threads", None) if threads is None else threads)
    vectors, items = _vectors(model, held_out, users, user_features)
    if held_out.candidates is None:
        return _among_all(vectors, items, held_out, users, k, depth, threads, progress)
    standings = _among_candidates(vectors, items, held_out, users, threads)
    return standings, np.empty((len(users), 0), dtype=np.int32)


def checked_question(
    split: Split, metrics: Iterable[str] | None, on: Literal["test", "validation"]
) -> tuple[HeldOut, list[Metric]]:
    """Check whom to evaluate and what to report, before anything is computed."""
    if not isinstance(split, Split):
        raise InvalidTypeError(
            f"split must be a Split, as ialspp.split makes them, got {type(split).__name__}"
        )
    if on not in ("test", "validation"):
        raise InvalidValueError(f'on must be "test" or "validation", got {on!r}')
    held_out = split.test if on == "test" else split.validation
    if held_out is None:
        raise InvalidValueError(f"a {split.protocol} split has no validation users; only test ones")
    if isinstance(metrics, str) or not (metrics is None or isinstance(metrics, Iterable)):
        raise InvalidTypeError(f"metrics must be a sequence of names, got {metrics!r}")
    chosen = [Metric.parse(name) for name in (split.metrics if metrics is None else metrics)]
    lists = [str(metric) for metric in chosen if metric.of_lists]
    if lists and held_out.candidates is not None:
        raise InvalidValueError(f"{lists[0]} is of rankings of all items; here only candidates are ranked")
    return held_out, chosen


def _scored(
    split: Split, users: int, metrics: list[Metric], standings: Standings, best: RowNumbers
) -> Evaluation:
    popularity = np.maximum(split.train.by_item.counts, 1) / split.train.n_users
    scores, per_user = {}, {}
    for metric in metrics:
        shown = best[:, : metric.k]
        if metric.name == "coverage":
            scores[str(metric)] = Score(coverage(shown, split.train.n_items), math.nan)
            continue
        values = novelty(shown, popularity) if metric.of_lists else metric.of_each(standings)
        scores[str(metric)], per_user[str(metric)] = _mean(values), values
    return Evaluation(split.protocol, users, scores, per_user)


def _mean(values: Doubles) -> Score:
    error = np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return Score(float(values.mean()), float(error))


def _among_all(
    vectors: Floats,
    items: Floats,
    held_out: HeldOut,
    asked: NDArray[np.int64],
    k: int,
    depth: int,
    threads: int,
    progress: Progress,
) -> tuple[Standings, RowNumbers]:
    """Rank all items: the places of the test items as far as `depth`, and the best k items of each user."""
    given, wanted = held_out.given.by_user.take(asked), held_out.wanted.by_user.take(asked)
    best, _, found = rank(
        vectors,
        pack(items, threads),
        k,
        threads,
        allowed=Filter(hidden=given),
        wanted=wanted,
        depth=depth,
        task="evaluating",
        progress=progress,
    )
    above, equal, before = found.T
    ranked = given.n_columns - given.counts
    return Standings.of(wanted.offsets, above, equal, before, ranked), best


def _vectors(
    model: Recommender, held_out: HeldOut, users: NDArray[np.int64], features: Features | None
) -> tuple[Floats, Floats]:
    """Return the vectors of these users, and of all items."""
    if held_out.unseen:
        rows = held_out.given.by_user.take(users)
        described = {} if features is None else {"features": features.of(held_out.given.users, users)}
        vectors = _checked("user", model.fold_in_rows(rows, **described), len(users))
    else:
        vectors = _checked("user", model.user_factors, held_out.given.n_users)[users]
    return vectors, _checked("item", model.item_factors, held_out.given.n_items)


def _checked(name: str, vectors: Floats, rows: int) -> Floats:
    if vectors.ndim != 2 or len(vectors) != rows:
        raise InvalidValueError(
            f"the model must have {rows} {name} vectors, got an array of shape {vectors.shape}"
        )
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise InvalidValueError(f"the model's {name} vectors must be finite, but that of row {bad[0]} is not")
    return vectors


def _among_candidates(
    users: Floats, items: Floats, held_out: HeldOut, asked: NDArray[np.int64], threads: int
) -> Standings:
    """Rank only the candidates that the split gives for each user."""
    assert held_out.candidates is not None
    candidates, wanted = held_out.candidates.take(asked), held_out.wanted.by_user.take(asked)
    scores = score_pairs(users, candidates, items, threads)
    user = candidates.row_numbers
    order = np.lexsort((candidates.columns, -scores, user))
    first = np.ones(len(order), dtype=bool)  # the first of each run of equal scores
    first[1:] = (user[order][1:] != user[order][:-1]) | (scores[order][1:] != scores[order][:-1])
    run = np.cumsum(first) - 1
    place = np.arange(len(order)) - candidates.offsets[:-1][user[order]]
    above = place[np.flatnonzero(first)][run]
    is_wanted = wanted.has(candidates.keys)[order]
    return Standings.of(
        wanted.offsets,
        above[is_wanted],
        (np.bincount(run)[run] - 1)[is_wanted],
        (place - above)[is_wanted],
        candidates.counts,
    )


def same_pairs(a: Interactions, b: Interactions) -> bool:
    """Tell whether two data sets have the same ids in the same order, and the same pairs."""
    return a is b or (
        a.users == b.users
        and a.items == b.items
        and np.array_equal(a.by_user.offsets, b.by_user.offsets)
        and np.array_equal(a.by_user.columns, b.by_user.columns)
    )
