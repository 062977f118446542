"""The queries that a fitted model answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, Floats
from ..data.ids import IdMap
from ..errors import InvalidValueError, SolveError
from ..objective import Objective
from ..solvers import no_finite_solution
from ..system.checks import checked_integer
from ..system.machine import resolve_threads
from .asking import Asking
from .batches import BatchCluster
from .explanation import Explanation, explain_each
from .fitted import Embedding, Fitted, Similarity, directions
from .folding import Folding, solved_on
from .newcomers import UnseenRows, one_unseen, unseen_of, unseen_rows
from .ranking import Filter, Ranking, Rankings, rank
from .requests import as_list, is_one
from .scoring import scores_of_pairs
from .skipped import Lookup, Unknown

NOBODY = -1  # where fewer are left


class Answers(Asking):
    """The queries, over a state that `ImplicitMF` provides."""

    objective: Objective

    # Unseen users and items

    def fold_in(
        self,
        histories: Iterable[Iterable[Any]] | None = None,
        *,
        features: Any = None,
        weights: Iterable[Iterable[float]] | None = None,
        labels: Iterable[Iterable[float]] | None = None,
        unknown: Unknown = "error",
        cluster: BatchCluster | None = None,
    ) -> Floats:
        """Compute exact vectors for users the model has not seen, from the items of each.

        Parameters
        ----------
        histories
            For each user, the ids of their items. An empty history gives a zero vector. None: nothing is
            known of them but features.
        features
            For each user, their features, if the model was trained with `user_features`: `Features`, or a
            matrix with the columns of the training's. Without histories, a vector is what the model's map
            makes of the features. With histories, it is the exact minimum of the loss, whose regularisation
            pulls to there.
        weights, labels
            One number for each item of each history.
        unknown
            "error": an unknown item is an error. "skip": leave it out, with its weight and label.
            `model.items.find` tells which items are known.
        cluster
            Work on other machines, for very many users: `ialspp.cluster.RayCluster`. The result is the same.

        Examples
        --------
        >>> vectors = model.fold_in([["tea", "milk"], ["rice"]])
        >>> vectors.shape
        (2, 2)
        >>> scores = vectors @ model.item_factors.T
        >>> [model.items[row] for row in scores.argmax(axis=1)]
        ['tea', 'rice']
        """
        state = self._fitted()
        unseen = unseen_rows(state.users, state.items, histories, weights, labels, Lookup(unknown), features)
        return self._solved(state.users, state.items, unseen, cluster)

    def fold_in_items(
        self,
        histories: Iterable[Iterable[Any]] | None = None,
        *,
        features: Any = None,
        weights: Iterable[Iterable[float]] | None = None,
        labels: Iterable[Iterable[float]] | None = None,
        unknown: Unknown = "error",
        cluster: BatchCluster | None = None,
    ) -> Floats:
        """Compute exact vectors for items the model has not seen, from the users of each; see `fold_in`.

        Examples
        --------
        >>> vectors = model.fold_in_items([["ann", "bob"], ["cyd"], ["dan"]])
        >>> vectors.shape
        (3, 2)
        """
        state = self._fitted()
        unseen = unseen_rows(state.items, state.users, histories, weights, labels, Lookup(unknown), features)
        return self._solved(state.items, state.users, unseen, cluster)

    def fold_in_rows(self, rows: Csr, features: Any = None, *, cluster: BatchCluster | None = None) -> Floats:
        """Fold in rows of items in the form of `Interactions.by_user`; see `fold_in`.

        Examples
        --------
        >>> model.fold_in_rows(data.by_user).shape
        (4, 2)
        """
        state = self._fitted()
        return self._solved(state.users, state.items, unseen_of(state.users, rows, features), cluster)

    def _strangers(self, state: Fitted, unseen: UnseenRows) -> Floats:
        return self._solved(state.users, state.items, unseen)

    def _solved(
        self, side: Embedding, other: Embedding, unseen: UnseenRows, cluster: BatchCluster | None = None
    ) -> Floats:
        """Return vectors for unseen rows of a side."""
        threads, centres = resolve_threads(self.threads), None
        if side.features is not None and unseen.features is not None:
            centres = side.features.centres(unseen.features, threads)
            if unseen.only_features:
                return centres
        rows = unseen.histories
        if cluster is not None:
            shared = Folding(other.vectors, other.gramian(threads), self.objective)
            return solved_on(cluster, shared, rows, centres, _unsolved)
        return other.exact(rows, self.objective, threads, _unsolved, centres)

    # Reasons

    @overload
    def explain(self, user: Any, item: str | int, *, k: int | None = ...) -> Explanation: ...

    @overload
    def explain(self, user: Any, item: Any, *, k: int | None = ...) -> Explanation | list[Explanation]: ...

    def explain(self, user: Any, item: Any, *, k: int | None = None) -> Explanation | list[Explanation]:
        """Say how much each item of a user's history contributes to the score of an item.

        Parameters
        ----------
        user
            The id of a user of the training data.
        item
            The id of an item. A list of ids gives a list of explanations, in little more time than one.
        k
            How many of the largest contributions to list. None: those of the whole history. The score and its
            rest are the same in both cases.

        Examples
        --------
        >>> reasons = model.explain("bob", "sugar")
        >>> [(item, round(part, 2)) for item, part in reasons]
        [('milk', 0.63), ('tea', 0.09)]
        >>> round(reasons.score, 2)
        0.72
        """
        state = self._fitted()
        data = state.histories("explain")
        row = state.users.ids.rows([user], state.items.ids)
        return self._explained(state, data.by_user.take(row), state.users.vectors[row[0]], item, k)

    @overload
    def explain_for(
        self,
        history: Iterable[Any] | None,
        item: str | int,
        *,
        k: int | None = ...,
        features: Any = ...,
        weights: Iterable[float] | None = ...,
        labels: Iterable[float] | None = ...,
        unknown: Unknown = ...,
    ) -> Explanation: ...

    @overload
    def explain_for(
        self,
        history: Iterable[Any] | None,
        item: Any,
        *,
        k: int | None = ...,
        features: Any = ...,
        weights: Iterable[float] | None = ...,
        labels: Iterable[float] | None = ...,
        unknown: Unknown = ...,
    ) -> Explanation | list[Explanation]: ...

    def explain_for(
        self,
        history: Iterable[Any] | None,
        item: Any,
        *,
        k: int | None = None,
        features: Any = None,
        weights: Iterable[float] | None = None,
        labels: Iterable[float] | None = None,
        unknown: Unknown = "error",
    ) -> Explanation | list[Explanation]:
        """Explain the score of an item for a user the model has not seen: `fold_in`, then `explain`.

        Parameters
        ----------
        history
            The ids of the user's items. None: nothing is known of the user but features.
        item
            The id of an item, or a list of ids, as in `explain`.
        k
            How many of the largest contributions to list, as in `explain`.
        weights, labels
            One number for each item of the history.
        features
            Features of the user, one row; see `fold_in`. What they add to the score is in `rest`.
        unknown
            "error": an unknown item in the history is an error. "skip": leave it out. The item whose score is
            explained must be known.

        Examples
        --------
        >>> reasons = model.explain_for(["tea", "rice"], "milk")
        >>> [(item, round(part, 2)) for item, part in reasons]
        [('tea', 0.75), ('rice', -0.38)]
        """
        state = self._fitted()
        unseen = one_unseen(state.users, state.items, history, weights, labels, Lookup(unknown), features)
        return self._explained(state, unseen.histories, self._strangers(state, unseen)[0], item, k)

    def _explained(
        self, state: Fitted, history: Csr, vector: Floats, item: Any, k: int | None
    ) -> Explanation | list[Explanation]:
        most = None if k is None else checked_integer("k", k, 0)
        is_list = isinstance(item, list)
        targets = state.items.ids.rows(item if is_list else [item], state.users.ids)
        threads = resolve_threads(self.threads)
        found = explain_each(history, vector, targets, state.items, self.objective, threads, most)
        return found if is_list else found[0]

    # Given pairs

    @overload
    def score(self, users: str | int, items: str | int, *, unknown: Unknown = ...) -> float: ...

    @overload
    def score(self, users: Any, items: Any, *, unknown: Unknown = ...) -> Floats: ...

    def score(self, users: Any, items: Any, *, unknown: Unknown = "error") -> float | Floats:
        """Return the score `<w, h>` of each of some pairs, by which `recommend` ranks items.

        Parameters
        ----------
        users, items
            Ids of the pairs: two sequences of one length. One id on one side goes with every id of the other.
            Two single ids give one float.
        unknown
            "error": an unknown id is an `UnknownIdError`. "skip": its pairs have the score NaN.

        Examples
        --------
        >>> round(model.score("bob", "sugar"), 2)
        0.72
        >>> scores = model.score("cyd", ["tea", "milk", "beans"])
        >>> [round(float(score), 2) for score in scores]
        [0.87, 0.37, 0.63]
        """
        state, threads = self._fitted(), resolve_threads(self.threads)
        scores = scores_of_pairs(state, users, items, Lookup(unknown), threads)
        return float(scores[0]) if is_one(users) and is_one(items) else scores

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

        Items without interactions, of which no features are known either, are similar to none: their ranking
        is empty, and they are in no other.

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

        Examples
        --------
        >>> similar = model.similar_items("milk", k=2)
        >>> similar
        ['sugar', 'tea']
        >>> [round(score, 2) for score in similar.scores]
        [0.99, 0.84]
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
        """Find the k users most similar to each of some users; see `similar_items`.

        Examples
        --------
        >>> model.similar_users("cyd", k=2)
        ['dan', 'bob']
        """
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
        lookup = Lookup(unknown)
        rows, _ = lookup.rows(argument, as_list(ids), side.ids, other.ids)
        themselves = Csr(np.arange(len(rows) + 1), rows.astype(np.int32), len(side.ids))
        found = self._nearest(side, side.vectors[rows], rows, side.ids, themselves, k, metric, lookup)
        if not is_one(ids):
            return found
        return found[0] if len(found) else Ranking([], [], skipped=lookup.skipped)

    def similar_items_for(
        self,
        histories: Iterable[Iterable[Any]] | None = None,
        k: int = 10,
        *,
        features: Any = None,
        weights: Iterable[Iterable[float]] | None = None,
        labels: Iterable[Iterable[float]] | None = None,
        metric: Similarity = "cosine",
        unknown: Unknown = "error",
    ) -> Rankings:
        """Find the k items most similar to items the model has not seen, which are folded in.

        Parameters
        ----------
        histories
            For each item, the ids of its users. An item of which nothing is known has an empty ranking. None:
            nothing is known of them but features.
        k
            The number of neighbours, as in `similar_items`.
        features
            For each item, its features, if the model was trained with `item_features`; see `fold_in`.
        weights, labels
            One number for each user of each history.
        metric
            "cosine" or "dot", as in `similar_items`.
        unknown
            "error": an unknown user in a history is an error. "skip": leave it out; `skipped` counts it.

        Examples
        --------
        A new item was bought by ann and bob.

        >>> model.similar_items_for([["ann", "bob"]], k=2)
        [['milk', 'sugar']]
        """
        state, lookup = self._fitted(), Lookup(unknown)
        unseen = unseen_rows(state.items, state.users, histories, weights, labels, lookup, features)
        vectors, numbers = self._solved(state.items, state.users, unseen), np.arange(len(unseen))
        asked = IdMap(numbers, name="history")
        return self._nearest(state.items, vectors, numbers, asked, None, k, metric, lookup)

    def _nearest(
        self,
        side: Embedding,
        vectors: Floats,
        rows: NDArray[np.int64],
        asked: IdMap,
        hidden: Csr | None,
        k: int,
        metric: Similarity,
        lookup: Lookup,
    ) -> Rankings:
        """Find the neighbours of vectors; rows, asked: who they belong to."""
        if metric not in ("cosine", "dot"):
            raise InvalidValueError(f'metric must be "cosine" or "dot", got {metric!r}')
        threads = resolve_threads(self.threads)
        k = min(checked_integer("k", k, 0), len(side.ids))
        wanted = vectors if metric == "dot" else directions(vectors)
        known = side.known()
        allowed = Filter(hidden, eligible=None if known.all() else known)
        best, scores, _ = rank(wanted, side.packed(threads, metric), k, threads, allowed=allowed)
        best[~vectors.any(axis=1)] = NOBODY
        fallback = np.zeros(len(rows), dtype=bool)
        return Rankings(best, scores, side.ids, rows, asked, fallback, lookup.skipped)


def _unsolved(row: int) -> SolveError:
    """Make the error for a history without a finite solution."""
    return no_finite_solution("history", row, row)
