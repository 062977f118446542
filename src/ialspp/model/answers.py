"""The queries that a fitted model answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, Floats
from ..data.ids import IdMap
from ..errors import InvalidValueError
from ..objective import Objective
from ..solvers import no_finite_solution
from ..system.checks import checked_integer
from ..system.machine import resolve_threads
from ..system.progress import Progress
from .explanation import Explanation, explain
from .fitted import Embedding, Fitted, Similarity, directions
from .ranking import Filter, Ranking, Rankings, rank
from .requests import filter_of, rows_of_histories


class Answers:
    """The queries, over a state that `ImplicitMF` provides."""

    objective: Objective
    threads: int | None

    def _fitted(self) -> Fitted:
        raise NotImplementedError

    # Unseen users and items

    def fold_in(
        self,
        histories: Iterable[Iterable[Any]],
        *,
        weights: Iterable[Iterable[float]] | None = None,
        labels: Iterable[Iterable[float]] | None = None,
    ) -> Floats:
        """Compute exact vectors for users the model has not seen, from the items of each.

        Parameters
        ----------
        histories
            For each user, the ids of their items. An empty history gives a zero vector.
        weights, labels
            One number for each item of each history.
        """
        state = self._fitted()
        return self._folded_in(state.items, state.users, histories, weights, labels)

    def fold_in_items(
        self,
        histories: Iterable[Iterable[Any]],
        *,
        weights: Iterable[Iterable[float]] | None = None,
        labels: Iterable[Iterable[float]] | None = None,
    ) -> Floats:
        """Compute exact vectors for items the model has not seen, from the users of each; see `fold_in`."""
        state = self._fitted()
        return self._folded_in(state.users, state.items, histories, weights, labels)

    def _folded_in(
        self,
        known: Embedding,
        unseen: Embedding,
        histories: Iterable[Iterable[Any]],
        weights: Iterable[Iterable[float]] | None,
        labels: Iterable[Iterable[float]] | None,
    ) -> Floats:
        rows = rows_of_histories(histories, known.ids, weights, labels, unseen.ids)
        return self._solved(known, rows)

    def fold_in_rows(self, rows: Csr) -> Floats:
        """Fold in rows of items in the form of `Interactions.by_user`; see `fold_in`."""
        return self._solved(self._fitted().items, rows)

    def _solved(self, known: Embedding, rows: Csr) -> Floats:
        threads = resolve_threads(self.threads)
        return known.exact(rows, self.objective, threads, lambda row: no_finite_solution("history", row, row))

    # Items for users

    @overload
    def recommend(
        self,
        users: str | int,
        k: int = 10,
        *,
        exclude_seen: bool = ...,
        candidates: Any = ...,
        exclude: Any = ...,
        progress: Progress = ...,
    ) -> Ranking: ...

    @overload
    def recommend(
        self,
        users: Any = None,
        k: int = 10,
        *,
        exclude_seen: bool = ...,
        candidates: Any = ...,
        exclude: Any = ...,
        progress: Progress = ...,
    ) -> Rankings: ...

    def recommend(
        self,
        users: Any = None,
        k: int = 10,
        *,
        exclude_seen: bool = True,
        candidates: Any = None,
        exclude: Any = None,
        progress: Progress = None,
    ) -> Ranking | Rankings:
        """Recommend the k best items to each user, best first.

        Parameters
        ----------
        users
            Ids of users of the training data. One id gives one `Ranking`, a sequence gives `Rankings`. None:
            all users, in row order.
        k
            The number of items. A ranking is shorter where fewer items are left.
        exclude_seen
            Leave out items that the user has interacted with.
        candidates
            The only items to choose from: ids for everyone, a mask over all items, or for each user a
            sequence of ids or a row of a mask.
        exclude
            Items to leave out, given in the same ways.
        progress
            True: draw a bar. False: don't. None: only on a terminal and for all users. A function: call it
            with each `ProgressEvent`.
        """
        state = self._fitted()
        everyone = users is None
        side = state.users
        rows = np.arange(len(side.ids)) if everyone else side.ids.rows(_as_list(users), state.items.ids)
        vectors = side.vectors if everyone else side.vectors[rows]
        seen = None
        if exclude_seen:
            seen = state.histories("recommend with exclude_seen=True").by_user
            seen = seen if everyone else seen.take(rows)
        if progress is None and not everyone:
            progress = False
        rankings = self._best_items(state, vectors, k, seen, candidates, exclude, progress)
        found = Rankings(*rankings, state.items.ids, rows, side.ids)
        return found[0] if _is_one(users) else found

    def recommend_for(
        self,
        histories: Iterable[Iterable[Any]],
        k: int = 10,
        *,
        exclude_seen: bool = True,
        candidates: Any = None,
        exclude: Any = None,
        weights: Iterable[Iterable[float]] | None = None,
        labels: Iterable[Iterable[float]] | None = None,
    ) -> Rankings:
        """Recommend the k best items to users the model has not seen: `fold_in`, then `recommend`."""
        state = self._fitted()
        rows = rows_of_histories(histories, state.items.ids, weights, labels, state.users.ids)
        vectors = self._solved(state.items, rows)
        seen = rows if exclude_seen else None
        rankings = self._best_items(state, vectors, k, seen, candidates, exclude, False)
        numbers = np.arange(len(rows))
        return Rankings(*rankings, state.items.ids, numbers, IdMap(numbers, name="history"))

    def _best_items(
        self,
        state: Fitted,
        vectors: Floats,
        k: int,
        seen: Csr | None,
        candidates: Any,
        exclude: Any,
        progress: Progress,
    ) -> tuple[NDArray[np.int32], Floats]:
        items, threads = state.items, resolve_threads(self.threads)
        allowed = filter_of(
            len(vectors), items.ids, state.users.ids, seen=seen, candidates=candidates, exclude=exclude
        )
        k = min(checked_integer("k", k, 0), len(items.ids))
        return rank(vectors, items.packed(threads), k, threads, allowed=allowed, progress=progress)[:2]

    def explain(self, user: Any, item: Any) -> Explanation:
        """Say how much each item of a user's history contributes to the score of an item.

        Parameters
        ----------
        user, item
            An id of each, from the training data.
        """
        state = self._fitted()
        data = state.histories("explain")
        row = state.users.ids.rows([user], state.items.ids)
        [target] = state.items.ids.rows([item], state.users.ids).tolist()
        vector = state.users.vectors[row[0]]
        history = data.by_user.take(row)
        return explain(history, vector, target, state.items, self.objective, resolve_threads(self.threads))

    # Neighbours

    @overload
    def similar_items(self, items: str | int, k: int = 10, *, metric: Similarity = ...) -> Ranking: ...

    @overload
    def similar_items(self, items: Any, k: int = 10, *, metric: Similarity = ...) -> Rankings: ...

    def similar_items(self, items: Any, k: int = 10, *, metric: Similarity = "cosine") -> Ranking | Rankings:
        """Find the k items most similar to each of some items, best first. An item is not its own neighbour.

        Parameters
        ----------
        items
            Ids. One id gives one `Ranking`, a sequence gives `Rankings`.
        k
            The number of neighbours. A ranking is shorter where there are fewer.
        metric
            "cosine" compares directions. "dot" also prefers long vectors, which popular items have.
        """
        state = self._fitted()
        return self._similar(items, k, metric, state.items, state.users)

    @overload
    def similar_users(self, users: str | int, k: int = 10, *, metric: Similarity = ...) -> Ranking: ...

    @overload
    def similar_users(self, users: Any, k: int = 10, *, metric: Similarity = ...) -> Rankings: ...

    def similar_users(self, users: Any, k: int = 10, *, metric: Similarity = "cosine") -> Ranking | Rankings:
        """Find the k users most similar to each of some users; see `similar_items`."""
        state = self._fitted()
        return self._similar(users, k, metric, state.users, state.items)

    def _similar(
        self, ids: Any, k: int, metric: Similarity, side: Embedding, other: Embedding
    ) -> Ranking | Rankings:
        if metric not in ("cosine", "dot"):
            raise InvalidValueError(f'metric must be "cosine" or "dot", got {metric!r}')
        threads = resolve_threads(self.threads)
        rows = side.ids.rows(_as_list(ids), other.ids)
        vectors = side.vectors[rows] if metric == "dot" else directions(side.vectors[rows])
        themselves = Csr(np.arange(len(rows) + 1), rows.astype(np.int32), len(side.ids))
        k = min(checked_integer("k", k, 0), len(side.ids))
        allowed = Filter(hidden=themselves)
        best, scores, _ = rank(vectors, side.packed(threads, metric), k, threads, allowed=allowed)
        found = Rankings(best, scores, side.ids, rows, side.ids)
        return found[0] if _is_one(ids) else found


def _is_one(ids: Any) -> bool:
    return isinstance(ids, (str, int, np.integer))


def _as_list(ids: Any) -> Any:
    return [ids] if _is_one(ids) else ids
