"""`AlternatingLeastSquares` with the interface of implicit 0.7, trained by the solvers here."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.csr import Csr, Floats
from ..data.ids import IdMap
from ..errors import InvalidValueError, OutOfRangeError
from ..model.model import ImplicitMF
from ..objective import Objective
from ..solvers import IALS, Solver, SpectralCG
from ..system.checks import checked_integer, checked_number
from ..system.progress import reporting
from . import npz
from .answering import Answering, row_count
from .confidences import Confidences, csr_of
from .explaining import explain
from .training import Training, seed_of

Callback = Callable[[int, float, float | None], Any]


class AlternatingLeastSquares(Answering):
    """implicit's model of the same name: same arguments, methods, shapes and loss; other solvers.

    Users and items are row numbers, as in implicit. The same data, settings and seed give the same factors on
    any number of threads.

    Parameters
    ----------
    factors
        The length of the vectors.
    regularization
        lambda.
    alpha
        What the values of the matrix are multiplied by, to be confidences.
    dtype
        np.float32: vectors are trained and kept in single precision.
    use_native
        True: there is no other code.
    use_cg
        True: conjugate gradients, `SpectralCG`. False: every row exactly, `IALS`.
    use_gpu
        False: there is no code for graphics cards.
    iterations
        The number of epochs of one `fit`.
    calculate_training_loss
        Compute the loss after each epoch, show it, and pass it to the callback.
    num_threads
        The number of threads. 0: all CPUs.
    random_state
        The seed of the start: an integer, or a numpy generator, from which one is drawn. None: 0.

    Attributes
    ----------
    user_factors, item_factors
        The vectors, one row per user or item. Read-only: assign a changed copy instead.
    cg_steps
        The most steps of conjugate gradients for each row in an epoch.
    """

    def __init__(
        self,
        factors: int = 100,
        regularization: float = 0.01,
        alpha: float = 1.0,
        dtype: Any = np.float32,
        use_native: bool = True,
        use_cg: bool = True,
        use_gpu: bool = False,
        iterations: int = 15,
        calculate_training_loss: bool = False,
        num_threads: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__()
        if np.dtype(dtype) != np.float32:
            raise InvalidValueError(f"dtype must be float32, the only precision here, got {np.dtype(dtype)}")
        if not use_native:
            raise InvalidValueError("use_native must be True: there is no solver in Python here, got False")
        if use_gpu:
            raise InvalidValueError("use_gpu must be False: this library computes on CPUs, got True")
        self.factors = factors
        self.regularization = regularization
        self.alpha = alpha
        self.dtype = np.dtype(np.float32)
        self.use_native = True
        self.use_cg = use_cg
        self.iterations = iterations
        self.calculate_training_loss = calculate_training_loss
        self.num_threads = num_threads
        self.random_state = random_state
        self.cg_steps = 3
        self.fit_callback: Callback | None = None

    def fit(self, user_items: Any, show_progress: bool = True, callback: Callback | None = None) -> None:
        """Train on a matrix of confidences, users by items.

        Factors that are there are trained further, as in implicit.

        Parameters
        ----------
        user_items
            A scipy.sparse matrix or array. A value v > 0 is liked with confidence alpha v; v < 0 is disliked
            with confidence -alpha v; a stored 0 says nothing about the pair. Pairs that are not stored are
            disliked with confidence 1. Repeated entries add up.
        show_progress
            Draw a bar on a terminal or in a notebook.
        callback
            A function called after each epoch with its number from 0, its seconds, and the loss, which is
            None without `calculate_training_loss`.

        Examples
        --------
        >>> model = AlternatingLeastSquares(factors=2, alpha=10.0, calculate_training_loss=True)
        >>> losses = []
        >>> model.fit(user_items, callback=lambda epoch, seconds, loss: losses.append(loss))
        >>> len(losses), losses[-1] < losses[0]
        (15, True)
        """
        callback = callback or self.fit_callback
        liked = Confidences.of("user_items", user_items, self._alpha())
        iterations = checked_integer("iterations", self.iterations, 0)
        training = Training(self._settings(), liked, (self._users, self._items))
        with reporting("fitting", iterations, None if show_progress else False, keep=True) as report:
            for number in range(iterations):
                started = time.perf_counter()
                last, wants_loss = number == iterations - 1, bool(self.calculate_training_loss)
                loss = training.run_epoch(last=last, wants_loss=wants_loss)
                report(number + 1, note="" if loss is None else f"loss {loss:.6g}")
                if callback is not None:
                    self.user_factors, self.item_factors = training.factors
                    callback(number, time.perf_counter() - started, loss)
        self.user_factors, self.item_factors = training.factors

    def recalculate_user(self, userid: Any, user_items: Any) -> Floats:
        """Return exact vectors of users, from a row of items for each, without storing them.

        Examples
        --------
        >>> vector = model.recalculate_user(1, user_items[1])
        >>> vector.shape
        (2,)
        >>> bool(np.allclose(vector, model.user_factors[1], atol=0.01))
        True
        """
        return self._recalculated("user", "item", userid, user_items)

    def recalculate_item(self, itemid: Any, item_users: Any) -> Floats:
        """Return exact vectors of items, from a row of users for each, without storing them.

        Examples
        --------
        >>> item_users = user_items.T.tocsr()
        >>> model.recalculate_item([0, 3], item_users[[0, 3]]).shape
        (2, 2)
        """
        return self._recalculated("item", "user", itemid, item_users)

    def _recalculated(self, name: str, other_name: str, ids: Any, matrix: Any) -> Floats:
        matrix_name = f"{name}_{other_name}s"
        liked, other = Confidences.of(matrix_name, matrix, self._alpha()), self._side(other_name)
        if len(liked.pairs) != row_count(ids):
            raise InvalidValueError(
                f"{matrix_name} must have one row for every {name}, {row_count(ids)}, got {len(liked.pairs)}"
            )
        pairs = liked.pairs
        if pairs.columns.max(initial=-1) >= len(other.vectors):
            raise InvalidValueError(
                f"{matrix_name} must have at most {len(other.vectors)} columns, one per {other_name}, "
                f"got {pairs.n_columns}"
            )
        wide = replace(liked, pairs=Csr(pairs.offsets, pairs.columns, len(other.vectors)))
        vectors = wide.solved(name, other.vectors, self._objective(), self._threads())
        return vectors[0] if np.isscalar(ids) else vectors

    def partial_fit_users(self, userids: Any, user_items: Any) -> None:
        """Recalculate users and store their vectors. Users beyond those there are get rows, too.

        Examples
        --------
        A new user, number 4, has bought rice.

        >>> eve = sp.csr_matrix([[0, 0, 0, 1, 0]])
        >>> model.partial_fit_users([4], eve)
        >>> ids, scores = model.recommend(4, eve, N=2)
        >>> ids.tolist()
        [4, 0]
        """
        self._users = self._grown("user", userids, self.recalculate_user(userids, user_items))

    def partial_fit_items(self, itemids: Any, item_users: Any) -> None:
        """Recalculate items and store their vectors. Items beyond those there are get rows, too.

        Examples
        --------
        A new item, number 5, was bought by users 1 and 2. Next to itself it is most like tea.

        >>> model.partial_fit_items([5], sp.csr_matrix([[0, 1, 1, 0]]))
        >>> ids, scores = model.similar_items(5, N=3)
        >>> ids.tolist()
        [5, 0, 1]
        """
        self._items = self._grown("item", itemids, self.recalculate_item(itemids, item_users))

    def _grown(self, name: str, ids: Any, vectors: Floats) -> Any:
        side, rows = self._side(name), np.asarray(ids, dtype=np.int64)
        if rows.min(initial=0) < 0:
            raise InvalidValueError(f"{name}ids must not be negative, got {rows.min()}")
        n = max(len(side.vectors), int(rows.max(initial=-1)) + 1)
        if n > len(side.vectors):
            side = side.extended(IdMap.stored(np.arange(n), name=name))
        side.set_rows(rows, vectors)
        return side

    def explain(
        self, userid: int, user_items: Any, itemid: int, user_weights: Any = None, N: int = 10
    ) -> tuple[float, list[tuple[int, float]], Any]:
        """Say how much each liked item of a user adds to the score of an item.

        Parameters
        ----------
        userid
            The row of the user in `user_items`, which has all users.
        user_items
            The matrix of confidences.
        itemid
            The item to explain.
        user_weights
            The third value that an earlier call for this user returned, which saves time.
        N
            The number of contributions.

        Returns
        -------
        tuple
            The sum of all contributions, the largest N of them as (item, contribution), and the Cholesky
            factor of the user's system, for the next call.

        Examples
        --------
        >>> score, contributions, user_weights = model.explain(1, user_items, itemid=2)
        >>> round(score, 2)
        0.79
        >>> [(item, round(part, 2)) for item, part in contributions]
        [(1, 0.68), (0, 0.11)]
        """
        rows = csr_of("user_items", user_items)
        if not 0 <= userid < rows.shape[0]:
            raise OutOfRangeError(f"userid must be from 0 to {rows.shape[0] - 1}, got {userid}")
        liked = Confidences.of("user_items", rows[[userid]], self._alpha())
        items, penalty = self._side("item"), checked_number("regularization", self.regularization)
        return explain(liked, items, itemid, penalty, user_weights, N, self._threads())

    def save(self, fileobj_or_path: npz.Target) -> None:
        """Write the model to a file in implicit's format, which implicit's `load` reads, too.

        A path without the suffix .npz gets it. The file is written atomically.

        Examples
        --------
        >>> model.save("groceries.npz")
        >>> with np.load("groceries.npz") as archive:
        ...     print(archive["item_factors"].shape)
        (5, 2)
        """
        settings = {name: getattr(self, name) for name in npz.SETTINGS}
        if not isinstance(self.random_state, (int, np.integer)):
            settings["random_state"] = None  # a generator cannot be stored without pickle
        vectors = {"user_factors": self.user_factors, "item_factors": self.item_factors}
        npz.save(fileobj_or_path, {**vectors, **settings, "dtype": self.dtype.name})

    @classmethod
    def load(cls, fileobj_or_path: npz.Target) -> AlternatingLeastSquares:
        """Open a file that `save` wrote, here or in implicit.

        Examples
        --------
        >>> model.save("groceries.npz")
        >>> loaded = AlternatingLeastSquares.load("groceries.npz")
        >>> loaded.factors, loaded.user_factors.tolist() == model.user_factors.tolist()
        (2, True)
        """
        model = cls()
        for name, value in npz.load(fileobj_or_path).items():
            if name == "use_native" and not value:
                continue  # how the factors were trained changes nothing about them
            setattr(model, name, value)
        return model

    def _alpha(self) -> float:
        return checked_number("alpha", self.alpha)

    def _objective(self) -> Objective:
        return Objective(unobserved_weight=1.0, regularization=self.regularization, exponent=0.0)

    def _settings(self) -> ImplicitMF:
        """Return an untrained model with these settings."""
        solver: Solver = SpectralCG(steps=self.cg_steps) if self.use_cg else IALS()
        return ImplicitMF(
            dim=self.factors,
            solver=solver,
            objective=self._objective(),
            seed=seed_of(self.random_state),
            threads=self._threads(),
        )
