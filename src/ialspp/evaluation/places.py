"""The places of test items in rankings, for one batch of users after another, here or on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, Floats, RowNumbers
from ..data.features import Features
from ..data.interactions import Interactions
from ..errors import InvalidTypeError, InvalidValueError
from ..metrics import Metric, Standings
from ..model.batches import BatchCluster, ranges, worked_on
from ..model.folding import Folding, solved_rows
from ..model.model import ImplicitMF
from ..model.ranking import USERS_AT_ONCE, Filter, PackedItems, pack, rank, score_pairs
from ..solvers import gramian, no_finite_solution
from ..split import HeldOut
from ..system.machine import resolve_threads
from ..system.progress import Progress, reporting

Found = tuple[Standings, RowNumbers]
"""The places of the test items of some users, and the best items of each user."""
KNOWS = "trained_on"


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


def require_recommender(model: Any) -> None:
    """Raise unless this is an object that knows what it was trained on."""
    # Not `hasattr(model, ...)`: a model that was loaded reads its whole file to tell.
    if isinstance(model, type) or not (
        hasattr(type(model), KNOWS) or KNOWS in getattr(model, "__dict__", ())
    ):
        got = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise InvalidTypeError(
            f"model must be an ImplicitMF, or have all that ialspp.evaluation.Recommender has, got {got}; "
            "the lists of any other recommender can be given to evaluate_lists"
        )


@dataclass(slots=True, eq=False)
class Catalogue:
    """What the places of test items depend on, beside their users."""

    items: Floats
    folding: Folding | None  # makes vectors of unseen users; None: batches have vectors
    k: int  # how many of the best items to return
    depth: int  # how many places to tell apart
    packed: PackedItems | None = None  # made for the first batch that needs it

    def __getstate__(self) -> tuple[Any, ...]:
        return self.items, self.folding, self.k, self.depth

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.items, self.folding, self.k, self.depth = state
        self.packed = None


@dataclass(frozen=True, slots=True, eq=False)
class Users:
    """A batch of users to evaluate."""

    begin: int  # the number of the first one
    vectors: Floats | None  # None: they are folded in from what is given
    given: Csr
    wanted: Csr
    candidates: Csr | None


def ranked(
    model: Recommender,
    held_out: HeldOut,
    users: NDArray[np.int64],
    metrics: list[Metric],
    user_features: Features | None = None,
    *,
    threads: int | None = None,
    progress: Progress = False,
    cluster: BatchCluster | None = None,
) -> Found:
    """Rank items for some held-out users, as far as these metrics need it.

    Returns the places of the test items, and the best items of each user.
    """
    n_items = held_out.given.n_items
    k = min(max((metric.k or 0 for metric in metrics if metric.of_lists), default=0), n_items)
    depth = min(max((metric.k or n_items for metric in metrics), default=0), n_items)  # auc needs all places
    threads = resolve_threads(getattr(model, "threads", None) if threads is None else threads)
    items = _checked("item", model.item_factors, n_items)
    folding = None
    if cluster is not None and held_out.unseen and user_features is None and _folds_in_exactly(model):
        folding = Folding(items, gramian(items, threads), model.objective)
    catalogue = Catalogue(items, folding, k, depth)
    vectors = None if folding is not None else _vectors_of(model, held_out, users, user_features)
    bounds = ranges(0, len(users), USERS_AT_ONCE)
    batches = (_batch(held_out, users, vectors, begin, end) for begin, end in bounds)
    parts: list[Found] = []
    with reporting("evaluating", len(users), progress) as report:
        found = worked_on(places_of, catalogue, batches, threads, cluster)
        for (_, end), (standings, best) in zip(bounds, found, strict=True):
            parts.append((standings.copy(), best.copy()))  # a cluster's store has room for a few at a time
            report(end)
    return Standings.joined([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _folds_in_exactly(model: Recommender) -> TypeGuard[ImplicitMF]:
    """Tell whether vectors of unseen users are exact minima of the loss, each for itself."""
    return isinstance(model, ImplicitMF) and type(model).fold_in_rows is ImplicitMF.fold_in_rows


Take = Callable[[int, int], Floats]
"""Gives the vectors of a range of the users to evaluate."""


def _vectors_of(
    model: Recommender, held_out: HeldOut, users: NDArray[np.int64], features: Features | None
) -> Take:
    if held_out.unseen:
        rows = held_out.given.by_user.take(users)
        described = {} if features is None else {"features": features.of(held_out.given.users, users)}
        folded = _checked("user", model.fold_in_rows(rows, **described), len(users))
        return lambda begin, end: folded[begin:end]
    known = _checked("user", model.user_factors, held_out.given.n_users)
    return lambda begin, end: known[users[begin:end]]


def _batch(held_out: HeldOut, users: NDArray[np.int64], vectors: Take | None, begin: int, end: int) -> Users:
    rows = users[begin:end]
    return Users(
        begin,
        None if vectors is None else vectors(begin, end),
        held_out.given.by_user.take(rows),
        held_out.wanted.by_user.take(rows),
        None if held_out.candidates is None else held_out.candidates.take(rows),
    )


def places_of(catalogue: Catalogue, users: Users, threads: int) -> Found:
    """Find the places of the test items of a batch of users."""
    vectors = _folded_in(catalogue.folding, users, threads) if users.vectors is None else users.vectors
    if users.candidates is None:
        return _among_all(catalogue, vectors, users.given, users.wanted, threads)
    standings = _among_candidates(vectors, catalogue.items, users.candidates, users.wanted, threads)
    return standings, np.empty((len(vectors), 0), dtype=np.int32)


def _folded_in(folding: Folding | None, users: Users, threads: int) -> Floats:
    assert folding is not None
    vectors, failed_row = solved_rows(folding, (users.given, None), threads)
    if failed_row >= 0:
        row = users.begin + failed_row
        raise no_finite_solution("history", row, row)
    return vectors


def _among_all(catalogue: Catalogue, vectors: Floats, given: Csr, wanted: Csr, threads: int) -> Found:
    """Rank all items: the places of the test items as far as `depth`, and the best k items of each user."""
    if catalogue.packed is None:
        catalogue.packed = pack(catalogue.items, threads)
    best, _, found = rank(
        vectors,
        catalogue.packed,
        catalogue.k,
        threads,
        allowed=Filter(hidden=given),
        wanted=wanted,
        depth=catalogue.depth,
    )
    above, equal, before = found.T
    ranked = given.n_columns - given.counts
    return Standings.of(wanted.offsets, above, equal, before, ranked), best


def _among_candidates(users: Floats, items: Floats, candidates: Csr, wanted: Csr, threads: int) -> Standings:
    """Rank only the candidates that the split gives for each user."""
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


def _checked(name: str, vectors: Floats, rows: int) -> Floats:
    if vectors.ndim != 2 or len(vectors) != rows:
        raise InvalidValueError(
            f"the model must have {rows} {name} vectors, got an array of shape {vectors.shape}"
        )
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise InvalidValueError(f"the model's {name} vectors must be finite, but that of row {bad[0]} is not")
    return vectors
