"""Models whose every state is known beforehand: the answers of one can be recomputed with numpy.

A state has a number. State n + 1 is state n after an update with `news(seed, n + 1)`. Updates give the same
bits everywhere, so that anyone who makes the same updates knows the state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ialspp import ImplicitMF, Interactions
from ialspp.model.explanation import Explanation
from ialspp.model.ranking import Ranking

Vector = NDArray[np.float64]
N_USERS, N_ITEMS, N_NEW, DIM, K = 300, 200, 50, 16, 10
PAIRS_OF_NEWS = 20
MARKED = ("marked user", "marked item")  # the label of this pair says which state it is
UNIT = 2.0**-16  # of that label: single precision has room for millions of states
CLOSE = 1e-5  # times the size of the terms: what single precision may do to a score
CLOSE_IF_SOLVED = 1e-3  # times the largest score: what it may do to one after a solve


def first_model(seed: int) -> ImplicitMF:
    """Train state 0."""
    return ImplicitMF(DIM, epochs=3, seed=seed, threads=1).fit(_first_data(seed), progress=False)


def _first_data(seed: int) -> Interactions:
    generator = np.random.default_rng(seed)
    pairs = generator.choice(N_USERS * N_ITEMS, 3000, replace=False)
    user, item = (part.tolist() for part in np.divmod(pairs, N_ITEMS))
    return Interactions.from_arrays(
        user=[*(f"u{u}" for u in user), MARKED[0]],
        item=[*(f"i{i}" for i in item), MARKED[1]],
        label=[*generator.uniform(0.5, 2, len(pairs)), 0.0],
    )


def news(seed: int, number: int) -> Interactions:
    """Return what leads from state number - 1 to state `number`: new labels, some new users and items.

    New ids and pairs recur after a while, so that the data stops growing.
    """
    generator = np.random.default_rng([seed, number % N_NEW])
    user = [f"u{u}" for u in generator.choice(N_USERS, PAIRS_OF_NEWS, replace=False)]
    item = [f"i{i}" for i in generator.choice(N_ITEMS, PAIRS_OF_NEWS, replace=False)]
    again = [f"new{number % N_NEW}", "u1", MARKED[0]], ["i1", f"new{number % N_NEW}", MARKED[1]]
    labels = np.random.default_rng([seed, number]).uniform(0.5, 2, PAIRS_OF_NEWS + 2)
    return Interactions.from_arrays(
        user=user + again[0], item=item + again[1], label=[*labels, number * UNIT]
    )


def number_of(model: ImplicitMF) -> int:
    """Read which state a model has."""
    data = model.trained_on
    assert data is not None
    assert data.by_user.labels is not None
    user, item = data.users.rows([MARKED[0]])[0], data.items.rows([MARKED[1]])[0]
    row = slice(data.by_user.offsets[user], data.by_user.offsets[user + 1])
    [place] = np.flatnonzero(data.by_user.columns[row] == item)
    return round(float(data.by_user.labels[row][place]) / UNIT)


class State:
    """The vectors and the data of a model at one time, and the right answers."""

    def __init__(self, model: ImplicitMF) -> None:
        data = model.trained_on
        assert data is not None
        self.bits = model.user_factors.tobytes(), model.item_factors.tobytes()
        self._users, self._items = model.user_factors, model.item_factors  # read-only, and never changed
        self._data, self._objective = data, model.objective

    def recommends(self, user: str, answer: Ranking) -> bool:
        """Tell whether `recommend` may answer this."""
        row = self._row("users", user)
        vector = self._users[row].astype(float)
        slack = CLOSE * np.linalg.norm(vector) * np.linalg.norm(self._items, axis=1).max()
        seen, _ = self._history(row)
        return self._is_best(self._scores(vector), seen, answer, slack)

    def recommends_for(self, history: Sequence[str], answer: Ranking) -> bool:
        """Tell whether `recommend_for` may answer this."""
        rows = np.array([self._row("items", item) for item in history])
        system, items = self._system(rows)
        scores = items @ np.linalg.solve(system, items[rows].sum(axis=0))
        return self._is_best(scores, rows, answer, CLOSE_IF_SOLVED * np.abs(scores).max())

    def is_similar(self, item: str, answer: Ranking) -> bool:
        """Tell whether `similar_items` may answer this."""
        row, items = self._row("items", item), self._items.astype(float)
        lengths = np.linalg.norm(items, axis=1)
        cosines = items @ items[row] / np.maximum(lengths * lengths[row], np.finfo(float).tiny)
        return self._is_best(cosines, np.array([row]), answer, CLOSE)

    def explains(self, user: str, item: str, answer: Explanation) -> bool:
        """Tell whether `explain` may answer this."""
        row, target = self._row("users", user), self._row("items", item)
        seen, labels = self._history(row)
        system, items = self._system(seen)
        amounts = labels * (items[seen] @ np.linalg.solve(system, items[target]))
        wanted = dict(zip(self._data.items.named(seen), amounts.tolist(), strict=True))
        close = CLOSE_IF_SOLVED * np.abs(amounts).max()
        score = float(self._scores(self._users[row].astype(float))[target])
        return (
            len(answer) == len(wanted)
            and all(abs(wanted.get(name, np.inf) - amount) <= close for name, amount in answer)
            and abs(answer.score - score) <= CLOSE_IF_SOLVED * max(abs(score), 1)
        )

    def _row(self, axis: str, name: str) -> int:
        return int(getattr(self._data, axis).rows([name])[0])

    def _history(self, row: int) -> tuple[NDArray[np.int32], Vector]:
        rows = self._data.by_user
        entries = slice(rows.offsets[row], rows.offsets[row + 1])
        assert rows.labels is not None
        return rows.columns[entries], rows.labels[entries].astype(float)

    def _scores(self, vector: Vector) -> Vector:
        scores: Vector = self._items.astype(float) @ vector
        return scores

    def _system(self, rows: NDArray[Any]) -> tuple[Vector, Vector]:
        """Return the system of a user with these items, and the items' vectors, in double precision."""
        items = self._items.astype(float)
        regularization = float(self._objective.row_regularization(np.array([len(rows)]), len(items))[0])
        unobserved = self._objective.unobserved_weight * items.T @ items
        return items[rows].T @ items[rows] + unobserved + regularization * np.eye(items.shape[1]), items

    def _is_best(self, scores: Vector, hidden: NDArray[Any], answer: Ranking, slack: float) -> bool:
        if any(name not in self._data.items for name in answer):
            return False  # an item of a later state
        allowed = np.ones(len(scores), dtype=bool)
        allowed[hidden] = False
        rows = np.array([self._row("items", name) for name in answer])
        if len(set(rows.tolist())) != min(K, int(allowed.sum())) or not allowed[rows].all():
            return False
        allowed[rows] = False
        left = scores[allowed].max(initial=-np.inf)
        close = np.abs(scores[rows] - answer.scores) <= slack
        return bool(close.all()) and bool(scores[rows].min() >= left - slack) and _falls(answer.scores)


def _falls(scores: Iterable[float]) -> bool:
    return bool(np.all(np.diff(list(scores)) <= 0))
