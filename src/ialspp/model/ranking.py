"""Rankings: the k items of highest score for each of many vectors, as ids."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.csr import Csr, Floats, RowNumbers
from ..data.dataframes import id_columns
from ..data.ids import IdMap
from ..data.offsets import rows_of_a_file
from ..errors import InvalidStateError
from ..files.arrays import is_finite
from ..system import html
from ..system.progress import Progress, reporting
from .skipped import NOTHING_SKIPPED, Skipped

if TYPE_CHECKING:
    import polars as pl

USERS_AT_ONCE = 4096  # between two reports of progress
SHOWN_ANSWERS = 5  # to each query, in a notebook
PackedItems = _core.PackedItems


class Ranking(list[Any]):
    """Ids, best first. A slice is a `Ranking` too.

    Attributes
    ----------
    scores
        The score of each id, as Python floats.
    names
        The name of each id, or None where it has none.
    fallback
        Whether the ids are the most popular items, because nothing is known about the user. Then scores are
        numbers of users.
    skipped
        The unknown ids that the query left out, with those of other users of the same query.
    """

    def __init__(
        self,
        ids: Iterable[Any],
        scores: Sequence[float],
        *,
        names: Sequence[str | None] | None = None,
        fallback: bool = False,
        skipped: Skipped = NOTHING_SKIPPED,
    ) -> None:
        super().__init__(ids)
        self.scores = scores
        self.names = [None] * len(self) if names is None else list(names)
        self.fallback = fallback
        self.skipped = skipped

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Any: ...

    @overload
    def __getitem__(self, index: slice, /) -> Ranking: ...

    def __getitem__(self, index: SupportsIndex | slice, /) -> Any:
        if isinstance(index, slice):
            ids, scores, names = super().__getitem__(index), self.scores[index], self.names[index]
            return Ranking(ids, scores, names=names, fallback=self.fallback, skipped=self.skipped)
        return super().__getitem__(index)

    def __repr__(self) -> str:
        return f"[{', '.join(map(shown_with_name, self, self.names))}]"

    def _repr_html_(self) -> str:
        """Draw the ids, names and scores as a table, for notebooks."""
        note = "the most popular items: scores are numbers of users" if self.fallback else ""
        if self.skipped:
            note += f"\n{self.skipped}"
        scores = html.bars(self.scores, 0 if self.fallback else 4)
        return html.table("Ranking", *named_columns("id", self, self.names, "score", scores), note)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rankings(Sequence[Ranking]):
    """One `Ranking` for each query, kept as two arrays until ids are needed.

    Attributes
    ----------
    rows
        Row numbers of the answers, best first; -1 where fewer than k are left.
    scores
        The score of each answer.
    fallback
        For each query, whether the answers are the most popular items, because nothing is known about the
        user. Then scores are numbers of users.
    skipped
        The unknown ids that were left out of the query.
    """

    rows: RowNumbers
    scores: Floats
    ids: IdMap  # of the answers
    asked_rows: NDArray[np.integer[Any]]
    asked_ids: IdMap
    fallback: NDArray[np.bool_]
    skipped: Skipped = NOTHING_SKIPPED

    @property
    def asked(self) -> list[Any]:
        """The ids that were queried, one for each ranking: without those that were skipped."""
        return self.asked_ids.named(self.asked_rows)

    @property
    def columns(self) -> tuple[str, str]:
        """What the queries and the answers are, such as "user" and "item": the columns of `to_frame`."""
        answer = self.ids.name
        return self.asked_ids.name, f"similar_{answer}" if self.of_neighbours else answer

    @property
    def of_neighbours(self) -> bool:
        """Whether the answers are similar items or users, for which there is no fallback."""
        return self.asked_ids.name == self.ids.name

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Ranking: ...

    @overload
    def __getitem__(self, index: slice) -> Rankings: ...

    def __getitem__(self, index: int | slice) -> Ranking | Rankings:
        if isinstance(index, slice):
            return replace(
                self,
                rows=self.rows[index],
                scores=self.scores[index],
                asked_rows=self.asked_rows[index],
                fallback=self.fallback[index],
            )
        row = self.rows[operator.index(index)]
        left = np.count_nonzero(row >= 0)
        return Ranking(
            self.ids.named(row[:left]),
            self.scores[index][:left].tolist(),
            names=self.ids.names_of(row[:left]),
            fallback=bool(self.fallback[index]),
            skipped=self.skipped,
        )

    def __iter__(self) -> Iterator[Ranking]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (str, bytes)) or not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __repr__(self) -> str:
        shown = ", ".join(repr(self[i]) for i in range(min(3, len(self))))
        return f"[{shown}{f', ... {len(self):,} in all' if len(self) > 3 else ''}]"

    def _repr_html_(self) -> str:
        """Draw the first answers to the first queries as a table, for notebooks."""
        question, answer = self.columns
        first = self[: html.MOST_ROWS]
        shown = first.rows[:, :SHOWN_ANSWERS]
        rows = [
            [name, *self.ids.labels(row[row >= 0])]
            for name, row in zip(self.asked_ids.labels(first.asked_rows), shown, strict=True)
        ]
        header = [question, *(f"{answer} {place}" for place in range(1, shown.shape[1] + 1))]
        hidden = len(self) - len(first)
        note = f"and {hidden:,} more" if hidden else ""
        if self.skipped:
            note += f"\n{self.skipped}"
        return html.table(f"Rankings: {len(self):,} of up to {self.rows.shape[1]} each", header, rows, note)

    def to_frame(self) -> pl.DataFrame:
        """Return a polars DataFrame with a row for each answer: the query, the answer, its rank and score.

        Recommendations have one more column, `fallback`. Users and items that have names have a column more,
        `user_name` or `item_name`.

        Examples
        --------
        >>> frame = model.recommend(["ann", "bob"], k=2).to_frame()
        >>> frame.columns
        ['user', 'item', 'rank', 'score', 'fallback']
        >>> frame["user", "item", "rank"].rows()
        [('ann', 'rice', 1), ('ann', 'beans', 2), ('bob', 'sugar', 1), ('bob', 'rice', 2)]
        """
        import polars as pl

        there = self.rows >= 0
        counts = there.sum(axis=1)
        question, answer = self.columns
        columns = {
            **id_columns(question, self.asked_ids, np.repeat(self.asked_rows, counts)),
            **id_columns(answer, self.ids, self.rows[there]),
            "rank": np.broadcast_to(np.arange(1, there.shape[1] + 1, dtype=np.int32), there.shape)[there],
            "score": self.scores[there],
        }
        if not self.of_neighbours:
            columns["fallback"] = np.repeat(self.fallback, counts)
        return pl.DataFrame(columns)


def named_columns(
    title: str, ids: Sequence[Any], names: Sequence[str | None], number: str, bars: Sequence[html.Bar]
) -> tuple[list[str], list[list[Any]]]:
    """Return the header and the rows of a table of ids with bars; without names where there are none."""
    if any(names):
        return [title, "name", number], [list(row) for row in zip(ids, names, bars, strict=True)]
    return [title, number], [list(row) for row in zip(ids, bars, strict=True)]


def shown_with_name(value: Any, name: str | None) -> str:
    """Return what people read of one answer, such as 260: 'Star Wars (1977)'."""
    return repr(value) if name is None else f"{value!r}: {name!r}"


@dataclass(frozen=True, slots=True, eq=False)
class Filter:
    """Which items may be recommended to whom. A part that is None filters nothing."""

    hidden: Csr | None = None  # row u holds the items that user u must not get
    candidates: Csr | None = None  # row u holds the only items that user u may get
    eligible: NDArray[np.bool_] | None = None  # for each item, whether anyone may get it

    def take(self, users: NDArray[np.int64]) -> Filter:
        """Return the filter of these users."""
        hidden, candidates = (
            None if rows is None else rows.take(users) for rows in (self.hidden, self.candidates)
        )
        return Filter(hidden, candidates, self.eligible)


def pack(items: Floats, threads: int) -> PackedItems:
    """Make a coded copy of item vectors, by which most items are left out of a ranking (docs/ranking.md).

    The vectors are not copied. They must not change while the result is in use.
    """
    return PackedItems(items, threads)


def rank(
    vectors: Floats,
    items: _core.PackedItems,
    k: int,
    threads: int,
    *,
    allowed: Filter | None = None,
    wanted: Csr | None = None,
    depth: int = 0,
    task: str = "recommending",
    progress: Progress = False,
) -> tuple[RowNumbers, Floats, NDArray[np.int32]]:
    """Rank items for each vector by the dot product; items of equal score are in the order of rows.

    Returns the rows of the k best (-1 where fewer are left), their scores, and for each entry of `wanted`
    its place among the first `depth`, as `_core.rank` gives it.
    """
    allowed = allowed or Filter()
    eligible = None if allowed.eligible is None else allowed.eligible.view(np.uint8)
    best, scores = np.empty((len(vectors), k), dtype=np.int32), np.empty((len(vectors), k), dtype=np.float32)
    standings = []
    with reporting(task, len(vectors), progress) as report:
        for begin in range(0, len(vectors), USERS_AT_ONCE):
            end = min(begin + USERS_AT_ONCE, len(vectors))
            hidden, candidates, asked = (
                None if rows is None else rows.between(begin, end).native()
                for rows in (allowed.hidden, allowed.candidates, wanted)
            )
            try:
                with rows_of_a_file():
                    best[begin:end], scores[begin:end], found = _core.rank(
                        vectors[begin:end], items, hidden, candidates, eligible, asked, k, depth, threads
                    )
            except OverflowError as error:
                raise _overflow() from error
            standings.append(found)
            report(end)
    return best, scores, np.concatenate(standings) if standings else np.empty((0, 3), dtype=np.int32)


def _overflow() -> InvalidStateError:
    """Make the error for a score that overflows: its place is unknown, so nothing is ranked."""
    return InvalidStateError(
        "scores overflow single precision, because vectors are too long; scale labels down, or raise "
        "regularization, and fit again"
    )


def score_pairs(users: Floats, pairs: Csr, items: Floats, threads: int) -> Floats:
    """Score some items of each user: one number for each entry of `pairs`, whose rows are the users."""
    labels = np.zeros(len(pairs.columns), dtype=np.float32)  # the residual against a label of 0 is the score
    rows = _core.Rows(pairs.offsets, pairs.columns, pairs.n_columns, labels)
    scores = _core.residuals(rows, users, items, threads)
    if not is_finite(scores):
        raise _overflow()
    return scores
