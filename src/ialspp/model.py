"""ImplicitMF: fit a factorisation, fold in strangers, recommend."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .csr import Csr, Floats, aligned
from .errors import NotFittedError
from .histories import rows_of_histories
from .ids import IdMap
from .interactions import Interactions
from .objective import Objective
from .progress import epoch_bar
from .ranking import Ranking, rank
from .settings import checked_integer, checked_number
from .solvers import Problem, Solver, SpectralCG, no_finite_solution, pinned
from .threads import resolve_threads

# Far beyond any use; the squares of squares of what is drawn still fit single precision.
MAX_INIT_STDDEV = 1e6


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """What one epoch left behind: the loss, its three parts, and the seconds it took."""

    epoch: int
    loss: float
    observed: float
    unobserved: float
    regularization: float
    seconds: float


Callback = Callable[["ImplicitMF", EpochRecord], bool | None]


class ImplicitMF:
    """Matrix factorisation from implicit feedback.

    Parameters
    ----------
    dim
        d, the length of every user's and item's vector.
    solver
        How the loss is minimised: `SpectralCG()` (the default), `IALSpp()`, `IALS()` or
        `ICD()`. All minimise the same loss; they differ in speed.
    objective
        What is minimised.
    epochs
        Passes over the data in one `fit`. 16 as in the paper.
    init_stddev
        sigma: initial factors are drawn from N(0, sigma / sqrt(d)). 0.1 as in the paper.
    seed
        Of the initial factors; the only randomness there is.
    threads
        None: IALSPP_THREADS, or else all CPUs this process may use. Results do not depend on it.

    Attributes
    ----------
    history
        One `EpochRecord` per epoch.
    fitted_solver
        What the last fit used: `solver` with every "auto" replaced by what it stood for; None before.
    """

    history: list[EpochRecord]
    fitted_solver: Solver | None

    def __init__(
        self,
        dim: int = 64,
        *,
        solver: Solver | None = None,
        objective: Objective | None = None,
        epochs: int = 16,
        init_stddev: float = 0.1,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.dim = checked_integer("dim", dim, 1)
        self.solver = SpectralCG() if solver is None else solver
        self.objective = Objective() if objective is None else objective
        self.epochs = checked_integer("epochs", epochs, 0)
        self.init_stddev = checked_number("init_stddev", init_stddev)
        self.seed = checked_integer("seed", seed, 0)
        self.threads = threads
        if isinstance(solver, type) or not callable(getattr(self.solver, "epoch", None)):
            raise TypeError(
                f"solver must be a value such as SpectralCG(), IALSpp(), IALS() or ICD(), got {solver!r}"
            )
        if not isinstance(self.objective, Objective):
            raise TypeError(f"objective must be an Objective, got {objective!r}")
        if not 0 < self.init_stddev < MAX_INIT_STDDEV:
            raise ValueError(f"init_stddev must be > 0 and < {MAX_INIT_STDDEV:g}, got {init_stddev}")
        resolve_threads(threads)
        self.history = []
        self.fitted_solver = None
        self._data: Interactions | None = None
        self._factors: tuple[Floats, Floats] | None = None
        self._item_gramian: NDArray[np.float64] | None = None  # of the factors as they are now
        self._training = False  # factors are being updated in place

    def __repr__(self) -> str:
        fitted = f", fitted on {self._data!r}" if self._data is not None else ""
        return f"ImplicitMF(dim={self.dim}, solver={self.solver}, objective={self.objective}{fitted})"

    # Training

    def fit(
        self,
        data: Interactions,
        *,
        warm_start: bool = False,
        callbacks: Sequence[Callback] = (),
        progress: bool | None = None,
    ) -> ImplicitMF:
        """Train for `epochs` epochs.

        Parameters
        ----------
        data
            What to train on.
        warm_start
            Go on from the factors of the last fit, whose data must have had the same users and items.
        callbacks
            Each is called with the model and the record of the epoch just done; a true answer stops.
        progress
            True or False: draw a progress bar or don't. None: on a terminal only.
        """
        if not isinstance(data, Interactions):
            raise TypeError(f"data must be Interactions, got {type(data).__name__}")
        if len(data) == 0:
            raise ValueError("data has no interactions; there is nothing to fit")
        if callable(callbacks) or not all(callable(callback) for callback in callbacks):
            raise TypeError("callbacks must be a sequence of functions of (model, record)")
        users, items = self._continued(data) if warm_start else self.initial_factors(data)
        problem = Problem.of(data, self.objective, users, items, resolve_threads(self.threads))
        history = list(self.history) if warm_start else []
        self._training = True
        solver = pinned(self.solver, self.dim)
        try:
            with epoch_bar(self.epochs, progress) as report:
                for number in range(len(history) + 1, len(history) + 1 + self.epochs):
                    history.append(self.run_epoch(problem, number))
                    # Only now: a fit that fails in its first epoch leaves the model as it was.
                    self._set_state(data, users, items, history)
                    self.fitted_solver = solver
                    report(history[-1].loss)
                    answers = [callback(self, history[-1]) for callback in callbacks]
                    if any(answers):
                        break
            self._set_state(data, users, items, history)
            self.fitted_solver = solver
        finally:
            self._training = False
            self._item_gramian = None
        return self

    def run_epoch(self, problem: Problem, number: int = 1) -> EpochRecord:
        """One epoch on a problem of your own, timed, with its exact loss: what `fit` repeats."""
        start = time.perf_counter()
        loss = problem.loss(self.solver.epoch(problem))
        return EpochRecord(
            epoch=number,
            loss=loss.total,
            observed=loss.observed,
            unobserved=loss.unobserved,
            regularization=loss.regularization,
            seconds=time.perf_counter() - start,
        )

    def _set_state(
        self, data: Interactions, users: Floats, items: Floats, history: list[EpochRecord]
    ) -> None:
        self._data, self._factors, self.history = data, (users, items), history
        self._item_gramian = None

    def initial_factors(self, data: Interactions) -> tuple[Floats, Floats]:
        """The factors a fit starts from. Independent streams: no user starts where an item does."""
        streams = np.random.SeedSequence(self.seed).spawn(2)
        stddev = np.float32(self.init_stddev / math.sqrt(self.dim))
        users, items = (aligned((rows, self.dim)) for rows in (data.n_users, data.n_items))
        for factors, stream in zip((users, items), streams, strict=True):
            np.random.default_rng(stream).standard_normal(dtype=np.float32, out=factors)
            factors *= stddev
        return users, items

    def _continued(self, data: Interactions) -> tuple[Floats, Floats]:
        if self._data is None:
            raise NotFittedError("warm_start goes on from an earlier fit, and there was none")
        fitted, (users, items) = self._fitted()
        for old, new in ((fitted.users, data.users), (fitted.items, data.items)):
            if old != new:
                raise ValueError(
                    f"warm_start needs the same {old.name}s in the same order as the last fit: "
                    f"it had {old!r}, this data has {new!r}"
                )
        if users.shape[1] != self.dim:
            raise ValueError(f"warm_start needs the last fit's dim ({users.shape[1]}), got {self.dim}")
        copies = aligned(users.shape), aligned(items.shape)  # arrays handed out before stay as they were
        for copy, factors in zip(copies, (users, items), strict=True):
            copy[:] = factors
        return copies

    # What was learned

    @property
    def user_factors(self) -> Floats:
        """W: one row per user, in the order of `users.ids`. Read-only."""
        return self._handed_out(self._fitted()[1][0])

    @property
    def item_factors(self) -> Floats:
        """H: one row per item, in the order of `items.ids`. Read-only."""
        return self._handed_out(self._fitted()[1][1])

    def _handed_out(self, factors: Floats) -> Floats:
        view = factors.copy() if self._training else factors.view()  # a callback may keep it
        view.flags.writeable = False
        return view

    @property
    def trained_on(self) -> Interactions | None:
        """The data of the last fit; None before."""
        return self._data

    @property
    def users(self) -> IdMap:
        """The users the model knows."""
        return self._fitted()[0].users

    @property
    def items(self) -> IdMap:
        """The items the model knows."""
        return self._fitted()[0].items

    def _fitted(self) -> tuple[Interactions, tuple[Floats, Floats]]:
        if self._data is None or self._factors is None:
            raise NotFittedError("the model is not fitted; call fit(data) first")
        return self._data, self._factors

    # Strangers

    def fold_in(
        self,
        histories: Iterable[Iterable[Any]],
        *,
        weights: Iterable[Iterable[float]] | None = None,
        labels: Iterable[Iterable[float]] | None = None,
    ) -> Floats:
        """Exact vectors for users the model has not seen, from the items of each.

        Parameters
        ----------
        histories
            For each user, the ids of their items. An empty history gives a zero vector.
        weights, labels
            Numbers parallel to the histories.
        """
        return self.fold_in_rows(rows_of_histories(histories, self.items, weights, labels, self.users))

    def fold_in_rows(self, rows: Csr) -> Floats:
        """The same for rows of items as `Interactions.by_user` has them: row solves as iALS does them."""
        _, (_, items) = self._fitted()
        threads = resolve_threads(self.threads)
        if self._item_gramian is None:
            self._item_gramian = _core.gramian(items, 0, items.shape[1], threads)
        vectors = np.zeros((len(rows), items.shape[1]), dtype=np.float32)
        if len(vectors) == 0:
            return vectors
        _, failed_row = _core.solve_rows(
            rows.native(),
            vectors,
            self.objective.row_regularization(rows.counts, len(items)),
            items,
            self._item_gramian,
            self.objective.unobserved_weight,
            False,
            threads,
        )
        if failed_row >= 0:
            raise no_finite_solution("history", failed_row, failed_row)
        return vectors

    # Answers

    def recommend(self, users: Any, k: int = 10, *, exclude_seen: bool = True) -> Any:
        """The k best items of each user, best first.

        Parameters
        ----------
        users
            Ids of users of the training data: one gives one `Ranking`, a sequence gives a list.
        k
            How many; fewer where fewer are left.
        exclude_seen
            Leave out what the user has interacted with.
        """
        data, (vectors, _) = self._fitted()
        rows = self.users.rows(_listed(users), self.items)
        rankings = self._best_items(vectors[rows], data.by_user.take(rows) if exclude_seen else None, k)
        return rankings[0] if _is_one(users) else rankings

    def recommend_for(
        self,
        histories: Iterable[Iterable[Any]],
        k: int = 10,
        *,
        exclude_seen: bool = True,
        weights: Iterable[Iterable[float]] | None = None,
        labels: Iterable[Iterable[float]] | None = None,
    ) -> list[Ranking]:
        """The k best items for users the model has not seen: `fold_in`, then `recommend`."""
        rows = rows_of_histories(histories, self.items, weights, labels, self.users)
        return self._best_items(self.fold_in_rows(rows), rows if exclude_seen else None, k)

    def _best_items(self, vectors: Floats, seen: Csr | None, k: int) -> list[Ranking]:
        """For each vector the best items but those in its row of `seen`."""
        return rank(vectors, self._fitted()[1][1], seen, k, self.items, resolve_threads(self.threads))

    def similar_items(self, items: Any, k: int = 10) -> Any:
        """The k items whose vectors point most nearly the same way (cosine), best first.

        One id gives one `Ranking`, a sequence gives a list. An item is not its own neighbour.
        """
        _, (_, factors) = self._fitted()
        lengths = np.linalg.norm(factors.astype(np.float64), axis=1, keepdims=True)
        directions = (factors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
        rows = self.items.rows(_listed(items), self.users)
        themselves = Csr(np.arange(len(rows) + 1), rows.astype(np.int32), len(self.items))
        threads = resolve_threads(self.threads)
        rankings = rank(directions[rows], directions, themselves, k, self.items, threads)
        return rankings[0] if _is_one(items) else rankings


def _is_one(ids: Any) -> bool:
    return isinstance(ids, (str, int, np.integer))


def _listed(ids: Any) -> Any:
    return [ids] if _is_one(ids) else ids
