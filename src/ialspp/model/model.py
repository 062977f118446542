"""ImplicitMF: settings, training, and what was learned."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..data.csr import Floats, aligned
from ..data.ids import IdMap
from ..data.interactions import Interactions
from ..errors import NotFittedError
from ..objective import Objective
from ..solvers import Problem, Solver, SpectralCG, pinned
from ..system.checks import checked_integer, checked_number
from ..system.locks import ProcessLock
from ..system.machine import resolve_threads
from ..system.progress import epoch_bar
from .answers import Answers
from .fitted import Embedding, Fitted
from .history import EpochRecord
from .parameters import Parameters
from .updating import Update, updated

MAX_DIM = 2**16  # the Gramian alone takes 32 GB there
# Far beyond any use; the squares of squares of what is drawn still fit single precision.
MAX_INIT_STDDEV = 1e6
_one_update = ProcessLock()


Callback = Callable[["ImplicitMF", EpochRecord], bool | None]


class ImplicitMF(Answers, Parameters):
    """Matrix factorisation from implicit feedback.

    Any number of threads may ask one model, also while another one calls `update`: a question is answered
    from what was there when it came. While `fit` runs, factors change in place; ask in its callbacks.

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
        if self.dim > MAX_DIM:
            raise ValueError(f"dim must be at most {MAX_DIM}, got {dim}")
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
        self._state: Fitted | None = None
        self._training = False  # factors are being updated in place

    def __getstate__(self) -> dict[str, Any]:
        """For copies, of which one made in a callback has what that epoch left."""
        state = self._state.renewed(copied=True) if self._training and self._state else self._state
        return {**self.__dict__, "_state": state, "_training": False}

    def __repr__(self) -> str:
        state = self._state
        known = f", fitted on {state.summary()}" if state is not None else ""
        return f"ImplicitMF(dim={self.dim}, solver={self.solver}, objective={self.objective}{known})"

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
        solver = pinned(self.solver, self.dim)
        self._training = True
        try:
            with epoch_bar(self.epochs, progress) as report:
                for number in range(len(history) + 1, len(history) + 1 + self.epochs):
                    history.append(self.run_epoch(problem, number).checked())
                    # Only now: a fit that fails in its first epoch leaves the model as it was.
                    self._learned(data, users, items, history, solver)
                    report(history[-1].loss)
                    answers = [callback(self, history[-1]) for callback in callbacks]
                    if any(answers):
                        break
            self._learned(data, users, items, history, solver)
        finally:
            self._training = False
            if self._state is not None:  # what a callback's questions left behind is of an earlier epoch
                self._state = self._state.renewed()
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

    def _learned(
        self,
        data: Interactions,
        users: Floats,
        items: Floats,
        history: list[EpochRecord],
        solver: Solver,
    ) -> None:
        self._state = Fitted(Embedding(data.users, users), Embedding(data.items, items), data)
        self.history, self.fitted_solver = history, solver

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
        if self._state is None:
            raise NotFittedError("warm_start goes on from an earlier fit, and there was none")
        sides = self._state.users, self._state.items
        for side, new in zip(sides, (data.users, data.items), strict=True):
            if side.ids != new:
                raise ValueError(
                    f"warm_start needs the same {new.name}s in the same order as the last fit: "
                    f"it had {side.ids!r}, this data has {new!r}"
                )
            if side.vectors.shape[1] != self.dim:
                raise ValueError(
                    f"warm_start needs the last fit's dim ({side.vectors.shape[1]}), got {self.dim}"
                )
        copies = aligned(sides[0].vectors.shape), aligned(sides[1].vectors.shape)
        for copy, side in zip(copies, sides, strict=True):  # arrays handed out before stay as they were
            copy[:] = side.vectors
        self._start_islands(data, copies)
        return copies

    def _start_islands(self, data: Interactions, factors: tuple[Floats, Floats]) -> None:
        """Give rows that an update left at zero a start: all they have to do with is zero, and holds them."""
        counts = data.by_user.counts, data.by_item.counts
        stuck = [~vectors.any(axis=1) & (n > 0) for vectors, n in zip(factors, counts, strict=True)]
        if any(rows.any() for rows in stuck):
            for vectors, start, rows in zip(factors, self.initial_factors(data), stuck, strict=True):
                vectors[rows] = start[rows]

    def update(self, data: Interactions, *, epochs: int = 1, progress: bool | None = None) -> Update:
        """Take in new interactions without training again: exact solves of the rows they touch.

        The new data joins what the model was trained on: a pair that was there counts once, or its weights
        add up where there are weights; of two labels the new one holds. New users and items get rows after
        the old ones. Then every user of the new data is solved exactly for the items as they are, every item
        of the new data for the users as they are then, and those users once more: their vectors are what
        `fold_in` would give. No other vector changes. New users and items that have to do with nothing known
        stay at zero until the next fit.

        Joining takes time in proportion to all of the data: take in what is new in batches. Times are not
        kept.

        Parameters
        ----------
        data
            What is new.
        epochs
            How often users and items are solved before the last time.
        progress
            True or False: draw a progress bar or don't. None: on a terminal only.
        """
        if not isinstance(data, Interactions):
            raise TypeError(f"data must be Interactions, got {type(data).__name__}")
        rounds = checked_integer("epochs", epochs, 1)
        threads = resolve_threads(self.threads)
        if self._training:
            raise RuntimeError("update must wait until fit is done, which would overwrite it")
        with _one_update:  # two at a time would each start from the same state, and one be lost
            self._state, report = updated(self._fitted(), data, self.objective, rounds, threads, progress)
        return report

    # Files

    def save(self, path: str | Path, *, interactions: bool = True, progress: bool | None = False) -> None:
        """Write the model to one file, whole or not at all; see `ialspp.store`.

        Parameters
        ----------
        path
            By custom it ends in ".ialspp".
        interactions
            Also what the model was trained on, but for its times. Without it the file is smaller, but
            `recommend` does not know what was seen, and `explain` and `update` do not work.
        progress
            True or False: draw a progress bar or don't. None: on a terminal only.
        """
        from .. import store

        store.save(self, path, interactions=interactions, progress=progress)

    @staticmethod
    def load(path: str | Path, *, verify: bool | None = None, threads: int | None = None) -> ImplicitMF:
        """Open what `save` wrote. The file is mapped: what is not used is not read.

        Parameters
        ----------
        path
            The file.
        verify
            Check every byte of it. None: only of a file of up to 64 MB, for which that takes no time.
        threads
            As in the constructor; a file does not say.
        """
        from .. import store

        return store.load(path, verify=verify, threads=threads)

    # What was learned

    @property
    def user_factors(self) -> Floats:
        """W: one row per user, in the order of `users.ids`. Read-only."""
        return self._handed_out(self._fitted().users.vectors)

    @property
    def item_factors(self) -> Floats:
        """H: one row per item, in the order of `items.ids`. Read-only."""
        return self._handed_out(self._fitted().items.vectors)

    def _handed_out(self, factors: Floats) -> Floats:
        view = factors.copy() if self._training else factors.view()  # a callback may keep it
        view.flags.writeable = False
        return view

    @property
    def trained_on(self) -> Interactions | None:
        """The data of the last fit and of updates since; None before. A file does not keep its times."""
        return None if self._state is None else self._state.histories("trained_on")

    @property
    def users(self) -> IdMap:
        """The users the model knows."""
        return self._fitted().users.ids

    @property
    def items(self) -> IdMap:
        """The items the model knows."""
        return self._fitted().items.ids

    def _fitted(self) -> Fitted:
        if self._state is None:
            raise NotFittedError("the model is not fitted; call fit(data) first")
        return self._state
