"""Items for users, by the vectors of a model, or by popularity for users about whom it knows nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, Floats
from ..data.ids import IdMap
from ..errors import InvalidValueError
from ..system.checks import checked_flag, checked_integer
from ..system.machine import resolve_threads
from ..system.progress import Progress, reporting
from .batches import BatchCluster, ranges, worked_on
from .everyone import USERS_OF_A_BATCH, Everyone, ranked_range
from .fitted import Fitted
from .newcomers import UnseenRows, unseen_rows
from .popular import cold_users, rank_or_popular
from .ranking import Filter, PackedItems, Ranking, Rankings
from .requests import as_list, filter_of, is_one, rows_of_histories
from .skipped import NOTHING_SKIPPED, Lookup, Skipped, Unknown


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """The users of one query, without those that were skipped."""

    ids: IdMap
    rows: NDArray[np.int64]
    vectors: Floats
    counts: NDArray[np.int64] | None  # of their items and features; None if the model has no interactions
    seen: Csr | None  # items not to recommend
    known: NDArray[np.bool_] | None = None  # for each user that was named; None if none was skipped


class Recommending:
    """The queries that ask for items, over a state that the model provides."""

    threads: int | None
    _falls_back: ClassVar[bool] = True  # whether users of whom nothing is known get the most popular items

    def _fitted(self) -> Fitted:
        raise NotImplementedError

    def _strangers(self, state: Fitted, unseen: UnseenRows) -> Floats:
        """Return vectors of unseen users, from their items and features."""
        raise NotImplementedError

    def _cold(self, asked: Asked) -> NDArray[np.bool_]:
        """Mark the users who get the most popular items instead of the model's."""
        if not self._falls_back:
            return np.zeros(len(asked.rows), dtype=bool)
        return cold_users(asked.vectors, asked.counts)

    @overload
    def recommend(
        self,
        users: str | int,
        k: int = 10,
        *,
        exclude_seen: bool = ...,
        candidates: Any = ...,
        exclude: Any = ...,
        unknown: Unknown = ...,
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
        unknown: Unknown = ...,
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
        unknown: Unknown = "error",
        progress: Progress = None,
    ) -> Ranking | Rankings:
        """Recommend the k best items to each user, best first.

        A user without interactions, or with a vector of zeros, gets the most popular items: those with the
        most users in the training data. `fallback` marks such a ranking, and its scores are numbers of users.
        It is empty only if the model comes from a file of an older version that was saved without
        interactions: such a file has no such numbers.

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
        unknown
            What to do with unknown users, candidates and items to exclude. "error": raise an
            `UnknownIdError`. "skip": leave them out. Then `asked` lists the users who have a ranking, and
            `skipped` counts the ids that were left out. One unknown user alone gets the most popular items,
            as a user without interactions does.
        progress
            True: draw a bar. False: don't. None: only for all users, on a terminal or in a
            notebook. A function: call it with each `ProgressEvent`.

        Examples
        --------
        >>> model.recommend("dan", k=2)
        ['tea', 'milk']
        >>> model.recommend(["ann", "dan"], k=1)
        [['rice'], ['tea']]
        >>> model.recommend("dan", k=2, exclude=["tea"])
        ['milk', 'sugar']
        """
        state, lookup = self._fitted(), Lookup(unknown)
        checked_flag("exclude_seen", exclude_seen)
        if users is None:
            asked = _of_the_data(state, None, None, exclude_seen)
        else:
            rows, known = lookup.rows("users", as_list(users), state.users.ids, state.items.ids)
            progress = False if progress is None else progress
            if is_one(users) and known is not None:  # nobody is left
                nothing = rows_of_histories([[]], state.items.ids, None, None, lookup)
                asked = self._unseen(state, UnseenRows(nothing), exclude_seen)
            else:
                asked = _of_the_data(state, rows, known, exclude_seen)
        found = self._ranked(state, asked, k, candidates, exclude, lookup, progress)
        return found[0] if is_one(users) else found

    def recommend_in_parts(
        self,
        k: int = 10,
        *,
        size: int = 2**16,
        exclude_seen: bool = True,
        candidates: Any = None,
        exclude: Any = None,
        progress: Progress = None,
        cluster: BatchCluster | None = None,
    ) -> Iterator[Rankings]:
        """Recommend to all users, `size` of them at a time, in row order: for more than fit the memory.

        `candidates` and `exclude` are ids or masks for everyone; the rest is as in `recommend`. `cluster`
        ranks on other machines, with the same result: `ialspp.cluster.RayCluster`.

        Examples
        --------
        >>> for part in model.recommend_in_parts(k=1, size=2):
        ...     print(part.asked, part)
        ['ann', 'bob'] [['rice'], ['sugar']]
        ['cyd', 'dan'] [['beans'], ['tea']]
        """
        state = self._fitted()
        checked_integer("size", size, 1)
        checked_flag("exclude_seen", exclude_seen)
        everyone = self._everyone(state, k, exclude_seen, candidates, exclude, packed=cluster is None)
        total, threads = len(state.users.ids), resolve_threads(self.threads)
        parts = ranges(0, total, size)
        batches = [ranges(begin, end, USERS_OF_A_BATCH) for begin, end in parts]
        found = worked_on(
            ranked_range, everyone, (batch for part in batches for batch in part), threads, cluster
        )
        with reporting("recommending", total, progress) as report:
            for (begin, end), part in zip(parts, batches, strict=True):
                best, scores, cold = map(np.concatenate, zip(*islice(found, len(part)), strict=True))
                rows = np.arange(begin, end)
                yield Rankings(best, scores, state.items.ids, rows, state.users.ids, cold)
                report(end)

    def _everyone(
        self, state: Fitted, k: int, exclude_seen: bool, candidates: Any, exclude: Any, *, packed: bool
    ) -> Everyone:
        """Collect what rankings of all users depend on. packed: with what this process has packed already."""
        total, threads = len(state.users.ids), resolve_threads(self.threads)
        named, sides = np.ones(total, dtype=bool), (state.items.ids, state.users.ids)
        allowed = filter_of(named, *sides, Lookup("error"), seen=None, candidates=candidates, exclude=exclude)
        if allowed.candidates is not None or allowed.hidden is not None:
            raise InvalidValueError(
                "candidates and exclude must be ids or a mask for everyone, got some for each user"
            )
        features, rows = state.users.features, _histories(state, exclude_seen)
        made: dict[str, PackedItems] = {"items": state.items.packed(threads)} if packed else {}
        return Everyone(
            users=state.users.vectors,
            items=state.items.vectors,
            histories=None if rows is None else replace(rows, labels=None, weights=None),
            features=None if features is None else features.rows.offsets,
            counts=state.kept_counts,
            exclude_seen=exclude_seen,
            eligible=allowed.eligible,
            falls_back=self._falls_back,
            k=min(checked_integer("k", k, 0), len(state.items.ids)),
            packed=made,
        )

    def recommend_for(
        self,
        histories: Iterable[Iterable[Any]] | None = None,
        k: int = 10,
        *,
        features: Any = None,
        exclude_seen: bool = True,
        candidates: Any = None,
        exclude: Any = None,
        weights: Iterable[Iterable[float]] | None = None,
        labels: Iterable[Iterable[float]] | None = None,
        unknown: Unknown = "error",
    ) -> Rankings:
        """Recommend the k best items to users the model has not seen: `fold_in`, then `recommend`.

        An empty history gets the most popular items, unless there are features of the user. So does one whose
        items are all unknown and skipped.

        Examples
        --------
        One user has bought tea. Nothing is known about the other.

        >>> model.recommend_for([["tea"], []], k=1)
        [['milk'], ['tea']]
        """
        state, lookup = self._fitted(), Lookup(unknown)
        unseen = unseen_rows(state.users, state.items, histories, weights, labels, lookup, features)
        asked = self._unseen(state, unseen, exclude_seen)
        return self._ranked(state, asked, k, candidates, exclude, lookup, False)

    def _unseen(self, state: Fitted, unseen: UnseenRows, exclude_seen: bool) -> Asked:
        is_hidden = checked_flag("exclude_seen", exclude_seen)
        numbers, seen = np.arange(len(unseen)), unseen.histories if is_hidden else None
        vectors = self._strangers(state, unseen)
        return Asked(IdMap(numbers, name="history"), numbers, vectors, unseen.counts, seen)

    def _ranked(
        self,
        state: Fitted,
        asked: Asked,
        k: int,
        candidates: Any,
        exclude: Any,
        lookup: Lookup,
        progress: Progress,
    ) -> Rankings:
        """Rank the items that candidates and exclusions leave for each user."""
        named = np.ones(len(asked.rows), dtype=bool) if asked.known is None else asked.known
        ids, others = state.items.ids, state.users.ids
        allowed = filter_of(
            named, ids, others, lookup, seen=asked.seen, candidates=candidates, exclude=exclude
        )
        return self._ranked_by(state, asked, k, allowed, lookup.skipped, progress)

    def _ranked_by(
        self,
        state: Fitted,
        asked: Asked,
        k: int,
        allowed: Filter,
        skipped: Skipped = NOTHING_SKIPPED,
        progress: Progress = False,
    ) -> Rankings:
        """Rank the items that are allowed for each user: by their vectors, or by popularity."""
        items, threads = state.items, resolve_threads(self.threads)
        k = min(checked_integer("k", k, 0), len(items.ids))
        cold = self._cold(asked)

        def popular() -> PackedItems | None:
            found = state.popular()
            return None if found is None else found.packed(threads)

        best, scores = rank_or_popular(
            asked.vectors, cold, items.packed(threads), popular, k, threads, allowed, progress
        )
        return Rankings(best, scores, items.ids, asked.rows, asked.ids, cold, skipped)


def _of_the_data(
    state: Fitted, rows: NDArray[np.int64] | None, known: NDArray[np.bool_] | None, exclude_seen: bool
) -> Asked:
    """Collect what is known about some users of the training data; rows: None for all of them."""
    ids, vectors = state.users.ids, state.users.vectors
    if rows is None:
        return _of_the_range(state, 0, len(ids), exclude_seen)
    by_user = _histories(state, exclude_seen)
    counts = None if by_user is None else by_user.offsets[rows + 1] - by_user.offsets[rows]
    if counts is not None:
        counts = counts + state.features_of_users(rows)
    seen = by_user.take(rows) if by_user is not None and exclude_seen else None
    return Asked(ids, rows, vectors[rows], counts, seen, known)


def _of_the_range(state: Fitted, begin: int, end: int, exclude_seen: bool) -> Asked:
    """Collect what is known about the users in a range of rows, without a copy."""
    by_user, vectors = _histories(state, exclude_seen), state.users.vectors[begin:end]
    part = None if by_user is None else by_user.between(begin, end)
    rows = np.arange(begin, end)
    counts = None if part is None else part.counts + state.features_of_users(rows)
    return Asked(state.users.ids, rows, vectors, counts, part if exclude_seen else None)


def _histories(state: Fitted, exclude_seen: bool) -> Csr | None:
    data = state.histories("recommend with exclude_seen=True") if exclude_seen else state.data
    return None if data is None else data.by_user
