"""The queries that a fitted model answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, overload

import numpy as np

from ..data.csr import Csr, Floats
from ..errors import InvalidValueError
from ..objective import Objective
from ..solvers import no_finite_solution
from ..system.checks import checked_integer
from ..system.machine import resolve_threads
from .explanation import Explanation, explain
from .fitted import Embedding, Fitted, Similarity, directions
from .ranking import Filter, Ranking, Rankings, rank
from .recommending import Recommending
from .requests import as_list, is_one, rows_of_histories
from .skipped import Lookup, Unknown


class Answers(Recommending):
    """The queries, over a state that `ImplicitMF` provides."""

    objective: Objective

    # Unseen users and items

    def fold_in(
        self,
        histories: Iterable[Iterable[Any]],
        *,
        weights: Iterable[Iterable[float]] | None = None,
        labels: Iterable[Iterable[float]] | None = None,
        unknown: Unknown = "error",
    ) -> Floats:
        """Compute exact vectors for users the model has not seen, from the items of each.

        Parameters
        ----------
        histories
            For each user, the ids of their items. An empty history gives a zero vector.
        weights, labels
            One number for each item of each history.
        unknown
            "error": an unknown item is an error. "skip": leave it out, with its weight and label.
            `model.items.find` tells which items are known.
        """
        state = self._fitted()
        return self._folded_in(state.items, state.users, histories, weights, labels, unknown)

    def fold_in_items(
        self,
        histories: Iterable[Iterable[Any]],
        *,
        weights: Iterable[Iterable[float]] | None = None,
        labels: Iterable[Iterable[float]] | None = None,
        unknown: Unknown = "error",
    ) -> Floats:
        """Compute exact vectors for items the model has not seen, from the users of each; see `fold_in`."""
        state = self._fitted()
        return self._folded_in(state.users, state.items, histories, weights, labels, unknown)

    def _folded_in(
        self,
        known: Embedding,
        unseen: Embedding,
        histories: Iterable[Iterable[Any]],
        weights: Iterable[Iterable[float]] | None,
        labels: Iterable[Iterable[float]] | None,
        unknown: Unknown,
    ) -> Floats:
        rows = rows_of_histories(histories, known.ids, weights, labels, Lookup(unknown), unseen.ids)
        return self._solved(known, rows)

    def fold_in_rows(self, rows: Csr) -> Floats:
        """Fold in rows of items in the form of `Interactions.by_user`; see `fold_in`."""
        return self._strangers(self._fitted(), rows)

    def _strangers(self, state: Fitted, rows: Csr) -> Floats:
        return self._solved(state.items, rows)

    def _solved(self, known: Embedding, rows: Csr) -> Floats:
        threads = resolve_threads(self.threads)
        return known.exact(rows, self.objective, threads, lambda row: no_finite_solution("history", row, row))

    # Reasons

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
    def similar_items(
        self, items: str | int, k: int = 10, *, metric: Similarity = ..., unknown: Unknown = ...
    ) -> Ranking: ...

    @overload
    def similar_items(
        self, items: Any, k: int = 10, *, metric: Similarity = ..., unknown: Unknown = ...
    ) -> Rankings: ...

    def similar_items(
        self, items: Any, k: int = 10, *, metric: Similarity = "cosine", unknown: Unknown = "error"
    ) -> Ranking | Rankings:
        """Find the k items most similar to each of some items, best first. An item is not its own neighbour.

        Parameters
        ----------
        items
            Ids. One id gives one `Ranking`, a sequence gives `Rankings`.
        k
            The number of neighbours. A ranking is shorter where there are fewer.
        metric
            "cosine" compares directions. "dot" also prefers long vectors, which popular items have.
        unknown
            "error": an unknown id is an error. "skip": leave it out. Then `asked` lists the ids that have a
            ranking, and `skipped` counts the others. One unknown id alone gives an empty `Ranking`.
        """
        state = self._fitted()
        return self._similar("items", items, k, metric, unknown, state.items, state.users)

    @overload
    def similar_users(
        self, users: str | int, k: int = 10, *, metric: Similarity = ..., unknown: Unknown = ...
    ) -> Ranking: ...

    @overload
    def similar_users(
        self, users: Any, k: int = 10, *, metric: Similarity = ..., unknown: Unknown = ...
    ) -> Rankings: ...

    def similar_users(
        self, users: Any, k: int = 10, *, metric: Similarity = "cosine", unknown: Unknown = "error"
    ) -> Ranking | Rankings:
        """Find the k users most similar to each of some users; see `similar_items`."""
        state = self._fitted()
        return self._similar("users", users, k, metric, unknown, state.users, state.items)

    def _similar(
        self,
        argument: str,
        ids: Any,
        k: int,
        metric: Similarity,
        unknown: Unknown,
        side: Embedding,
        other: Embedding,
    ) -> Ranking | Rankings:
        if metric not in ("cosine", "dot"):
            raise InvalidValueError(f'metric must be "cosine" or "dot", got {metric!r}')
        threads, lookup = resolve_threads(self.threads), Lookup(unknown)
        rows, _ = lookup.rows(argument, as_list(ids), side.ids, other.ids)
        vectors = side.vectors[rows] if metric == "dot" else directions(side.vectors[rows])
        themselves = Csr(np.arange(len(rows) + 1), rows.astype(np.int32), len(side.ids))
        k = min(checked_integer("k", k, 0), len(side.ids))
        allowed = Filter(hidden=themselves)
        best, scores, _ = rank(vectors, side.packed(threads, metric), k, threads, allowed=allowed)
        fallback = np.zeros(len(rows), dtype=bool)
        found = Rankings(best, scores, side.ids, rows, side.ids, fallback, lookup.skipped)
        if not is_one(ids):
            return found
        return found[0] if len(found) else Ranking([], [], skipped=lookup.skipped)
