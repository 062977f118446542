"""Evaluate a model on held-out data, in numbers that can be compared with published ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..data.csr import RowNumbers
from ..data.features import Features
from ..data.interactions import Interactions
from ..errors import InvalidTypeError, InvalidValueError
from ..metrics import Doubles, Metric, Standings, coverage, novelty
from ..model.batches import BatchCluster
from ..model.ranking import Rankings
from ..split import HeldOut, Split
from ..system.progress import Progress
from .lists import places_in_lists
from .places import Recommender, ranked, require_recommender
from .result import Evaluation, Score

__all__ = [
    "Evaluation",
    "Recommender",
    "Score",
    "asked_users",
    "checked_question",
    "evaluate",
    "evaluate_lists",
    "ranked",
    "same_pairs",
]


def evaluate(
    model: Recommender,
    split: Split,
    *,
    metrics: Iterable[str] | None = None,
    on: Literal["test", "validation"] = "test",
    user_features: Features | None = None,
    threads: int | None = None,
    progress: Progress = None,
    cluster: BatchCluster | None = None,
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
        The number of threads that rank. None: as many as the model uses, with which it trains and folds in,
        too. Results do not depend on it.
    progress
        True: draw a bar. False: don't. None: only on a terminal or in a notebook. A function: call it
        with each `ProgressEvent`.
    cluster
        Rank on other machines, with the same result: `ialspp.cluster.RayCluster`. A model that is not fitted
        yet is fitted here.

    Examples
    --------
    >>> evaluation = evaluate(model, parts, metrics=["hit_rate@1"])
    >>> print(evaluation)
    last-item, 4 users
    hit_rate@1         0.7500 ± 0.2500
    >>> evaluation["hit_rate@1"].mean
    0.75
    """
    held_out, chosen = checked_question(split, metrics, on)
    require_recommender(model)
    trained_on = model.trained_on  # which reads the whole file of a model that was loaded
    if trained_on is None:
        model.fit(split.train, progress=progress)
    elif _has_newcomers(model, trained_on, split.train):
        raise InvalidValueError(
            f"the model must know only the users and items of the split's training data, {split.train!r}, "
            f"but it has {trained_on!r}; fit it with features of those alone: "
            "features.known_to(split.train.items)"
        )
    elif not same_pairs(trained_on, split.train):
        raise InvalidValueError(
            f"the model must be fitted on the split's training data, {split.train!r}, but was fitted on "
            f"{trained_on!r}, which may hold the answers"
        )
    asked = asked_users(held_out)
    described = features_to_fold_in(user_features, model, held_out)
    standings, best = ranked(
        model, held_out, asked, chosen, described, threads=threads, progress=progress, cluster=cluster
    )
    return _scored(split, held_out, asked, chosen, standings, best)


def evaluate_lists(
    lists: Rankings | Mapping[Any, Iterable[Any]],
    split: Split,
    *,
    metrics: Iterable[str] | None = None,
    on: Literal["test", "validation"] = "test",
) -> Evaluation:
    """Measure how well lists of items predict what a split holds out, whatever program made them.

    Items that are given of a user are left out of the list, and so are items that are not among the
    candidates of the split, because `evaluate` does not rank them either. A list may be shorter than a
    metric's k. Nothing is known of items behind its end, so they are no hits.

    Parameters
    ----------
    lists
        For each user to evaluate the ids of items, best first, without repetition: a mapping from the ids of
        users, or the `Rankings` of `ImplicitMF.recommend`. `split.test.wanted.users` has the ids.
    split
        A split made by `ialspp.split`.
    metrics
        As in `evaluate`, but without "auc": it needs scores of all items and cannot be computed from lists.
    on
        As in `evaluate`.

    Examples
    --------
    >>> lists = {"ann": ["honey", "rice"], "bob": ["milk"], "cyd": ["rice", "tea"], "dan": []}
    >>> print(evaluate_lists(lists, parts, metrics=["hit_rate@1", "hit_rate@2"]))
    last-item, 4 users
    hit_rate@1         0.5000 ± 0.2887
    hit_rate@2         0.7500 ± 0.2500
    """
    held_out, chosen = checked_question(split, metrics, on)
    if any(metric.k is None for metric in chosen):
        raise InvalidValueError("auc is of all items, and lists have some of them; leave it out")
    asked = asked_users(held_out)
    return _scored(split, held_out, asked, chosen, *places_in_lists(lists, held_out, asked))


def checked_features(given: Any) -> Features | None:
    """Return features of held-out users, if there are any."""
    if given is None or isinstance(given, Features):
        return given
    raise InvalidTypeError(
        f"user_features must be Features, whose ids say who they belong to, got {type(given).__name__}"
    )


def features_to_fold_in(given: Features | None, model: Recommender, held_out: HeldOut) -> Features | None:
    """Return the features to fold in unseen users with; the model knows those of other users."""
    if checked_features(given) is None:
        return None
    if getattr(model, "user_features", None) is None:
        raise InvalidValueError("user_features need a model that was fitted with user_features, got another")
    return given if held_out.unseen else None


def _has_newcomers(model: Recommender, known: Interactions, train: Interactions) -> bool:
    """Tell whether a model with features has users or items beyond those of the data, and the same pairs."""
    if all(getattr(model, side, None) is None for side in ("user_features", "item_features")):
        return False
    grown = known.n_users > train.n_users or known.n_items > train.n_items
    return grown and np.array_equal(known.by_user.columns, train.by_user.columns)


def asked_users(held_out: HeldOut) -> NDArray[np.int64]:
    """Return the rows of the users who have test items."""
    return np.flatnonzero(held_out.wanted.by_user.counts)


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
    split: Split,
    held_out: HeldOut,
    users: NDArray[np.int64],
    metrics: list[Metric],
    standings: Standings,
    best: RowNumbers,
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
    return Evaluation(split.protocol, len(users), scores, per_user, held_out.wanted.users, users)


def _mean(values: Doubles) -> Score:
    error = np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return Score(float(values.mean()), float(error))


def same_pairs(a: Interactions, b: Interactions) -> bool:
    """Tell whether two data sets have the same ids in the same order, and the same pairs."""
    return a is b or (
        a.users == b.users
        and a.items == b.items
        and np.array_equal(a.by_user.offsets, b.by_user.offsets)
        and np.array_equal(a.by_user.columns, b.by_user.columns)
    )
