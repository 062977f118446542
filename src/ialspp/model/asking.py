"""Different queries, each with options of its own, that are answered together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.csr import Csr, Floats, RowNumbers
from ..data.ids import IdMap
from ..errors import InvalidValueError, UnknownIdError
from ..system.checks import checked_flag, checked_integer
from .fitted import Fitted
from .newcomers import NO_ROWS, UnseenRows, one_unseen
from .ranking import Filter, Ranking
from .recommending import Asked, Recommending
from .skipped import Lookup, Skipped, Unknown


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """One request for recommendations whose ids were looked up: what `query` makes and `answer` answers.

    Attributes
    ----------
    k
        The number of items that are wanted.
    skipped
        The unknown ids that were left out.
    """

    k: int
    skipped: Skipped
    state: Fitted  # that the rows belong to
    who: Floats | UnseenRows  # the vector of a known user, or one row of what is known of an unseen one
    count: int  # of the items and features; 1 if not known, because the model has no interactions
    hidden: RowNumbers  # items that must not be recommended, ascending
    candidates: RowNumbers | None  # the only ones that may be, ascending


class Asking(Recommending):
    """Queries that are made one by one and answered together."""

    def query(
        self,
        user: Any = None,
        *,
        history: Iterable[Any] | None = None,
        weights: Iterable[float] | None = None,
        features: Any = None,
        k: int = 10,
        exclude_seen: bool = True,
        candidates: Iterable[Any] | None = None,
        exclude: Iterable[Any] | None = None,
        unknown: Unknown = "error",
    ) -> Query:
        """Make a query for `answer`: look up its ids, and check everything that can be wrong with it.

        Parameters
        ----------
        user
            The id of a user of the training data. None: an unseen user, with a history or features.
        history
            The ids of the items of an unseen user.
        weights
            One number for each item of the history.
        features
            Features of an unseen user, one row, with a history or instead of one; see `fold_in`.
        k
            The number of items, as in `recommend`.
        exclude_seen
            Leave out items that the user has interacted with.
        candidates
            Ids of the only items to choose from. None: all items.
        exclude
            Ids of items to leave out.
        unknown
            "error": an unknown id is an `UnknownIdError`. "skip": leave it out; `skipped` counts it. An
            unknown user gets the most popular items.

        Examples
        --------
        >>> query = model.query(history=["rice", "salt"], k=2, unknown="skip")
        >>> print(query.skipped)
        1 of 2 items in histories is unknown and was skipped: 'salt'
        >>> model.answer([query])
        [['beans', 'tea']]
        """
        if (user is None) == (history is None and features is None):
            raise InvalidValueError(_one_is_required(user, history))
        if weights is not None and history is None:
            raise InvalidValueError("weights belong to the items of a history, got a user")
        state, lookup = self._fitted(), Lookup(unknown)
        k = checked_integer("k", k, 0)
        checked_flag("exclude_seen", exclude_seen)
        rows, _ = (NO_ROWS, None) if user is None else lookup.rows("users", [user], *_sides(state))
        who: Floats | UnseenRows
        if len(rows):
            who, seen, count = _known_user(state, int(rows[0]), exclude_seen)
        else:
            items = [] if user is not None else history  # nothing is known of a user who is not found
            who = one_unseen(state.users, state.items, items, weights, None, lookup, features)
            seen, count = who.histories.columns, int(who.counts[0])
        hidden = seen if exclude_seen else NO_ROWS
        if exclude is not None:
            hidden = np.union1d(hidden, _rows_of("exclude", exclude, state, lookup)).astype(np.int32)
        only = None if candidates is None else _rows_of("candidates", candidates, state, lookup)
        return Query(k, lookup.skipped, state, who, count, hidden, only)

    def answer(self, queries: Sequence[Query]) -> list[Ranking]:
        """Answer queries together, which takes less time than one by one, with the same results.

        Each ranking has the `k`, the options and the `skipped` of its own query. A query is answered from the
        state that the model had when the query was made, also if the model was updated since.

        Examples
        --------
        >>> queries = [model.query("bob", k=1), model.query(history=["rice"], k=2)]
        >>> model.answer(queries)
        [['sugar'], ['beans', 'tea']]
        """
        answers: dict[int, Ranking] = {}
        groups: dict[tuple[int, bool], list[int]] = {}
        for number, query in enumerate(queries):
            groups.setdefault((id(query.state), query.candidates is None), []).append(number)
        for numbers in groups.values():
            ranked = self._answered([queries[number] for number in numbers])
            answers.update(zip(numbers, ranked, strict=True))
        return [answers[number] for number in range(len(queries))]

    def _answered(self, queries: Sequence[Query]) -> list[Ranking]:
        """Answer queries of one state: all of them with candidates, or none."""
        state, numbers = queries[0].state, np.arange(len(queries))
        n_items = len(state.items.ids)
        asked = Asked(
            IdMap.stored(numbers, name="query"),
            numbers,
            self._vectors(state, queries),
            np.array([query.count for query in queries]),
            None,
        )
        hidden = _as_rows([query.hidden for query in queries], n_items)
        only = [query.candidates for query in queries if query.candidates is not None]
        allowed = Filter(hidden, _as_rows(only, n_items) if only else None)
        found = self._ranked_by(state, asked, max(query.k for query in queries), allowed)
        return [_cut(ranking, query) for ranking, query in zip(found, queries, strict=True)]

    def _vectors(self, state: Fitted, queries: Sequence[Query]) -> Floats:
        """Return the vectors of known users, and those of the others, folded in together."""
        vectors = np.empty((len(queries), state.items.vectors.shape[1]), dtype=np.float32)
        unseen: dict[tuple[bool, bool], dict[int, UnseenRows]] = {}
        for number, query in enumerate(queries):
            if isinstance(query.who, UnseenRows):
                kind = query.who.features is None, query.who.only_features
                unseen.setdefault(kind, {})[number] = query.who
            else:
                vectors[number] = query.who
        for some in unseen.values():
            vectors[list(some)] = self._strangers(state, UnseenRows.stacked(list(some.values())))
        return vectors


def _cut(ranking: Ranking, query: Query) -> Ranking:
    """Leave what one of several queries asked for."""
    cut = ranking[: query.k] if len(ranking) > query.k else ranking
    cut.skipped = query.skipped
    return cut


def _one_is_required(user: Any, history: Iterable[Any] | None) -> str:
    if user is None:
        return "one of user and history is required, got neither"
    if history is not None:
        return "one of user and history is required, got both"
    return f"features are of an unseen user, got them for user {user!r}"


def _sides(state: Fitted) -> tuple[IdMap, IdMap]:
    return state.users.ids, state.items.ids


def _known_user(state: Fitted, row: int, exclude_seen: bool) -> tuple[Floats, RowNumbers, int]:
    """Return the vector of a user, the items that they have seen, and how much is known of them."""
    data = state.histories("query with exclude_seen=True") if exclude_seen else state.data
    vector = state.users.vectors[row]
    if data is None:
        return vector, NO_ROWS, 1
    seen = data.by_user.columns_of(row)
    return vector, seen, len(seen) + int(state.features_of_users(np.array([row]))[0])


def _rows_of(argument: str, ids: Iterable[Any], state: Fitted, lookup: Lookup) -> RowNumbers:
    """Return the rows of some items, ascending and each once."""
    try:
        rows, _ = lookup.rows(argument, ids, state.items.ids, state.users.ids)
    except UnknownIdError as error:
        raise UnknownIdError(f"{argument}: {error}") from None
    return np.unique(rows).astype(np.int32)


def _as_rows(columns: Sequence[RowNumbers], n_columns: int) -> Csr:
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in columns])])
    return Csr(offsets, np.concatenate(columns), n_columns)
