"""The best k of many scores, as ids."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.csr import Csr, Floats, RowNumbers
from ..data.ids import IdMap
from ..system.progress import bar

if TYPE_CHECKING:
    import polars as pl

USERS_AT_ONCE = 4096  # between two steps of the progress bar


class Ranking(list[Any]):
    """Ids, best first; `scores` holds the score of each."""

    def __init__(self, ids: list[Any], scores: Floats) -> None:
        super().__init__(ids)
        self.scores = scores


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rankings(Sequence[Ranking]):
    """One `Ranking` for each that was asked about, kept as two arrays.

    Attributes
    ----------
    rows
        Row numbers of the answers, best first; -1 where fewer than k are left.
    scores
        The score of each.
    """

    rows: RowNumbers
    scores: Floats
    ids: IdMap  # of the answers
    asked_rows: NDArray[np.integer[Any]]
    asked_ids: IdMap

    @property
    def asked(self) -> list[Any]:
        """The ids that were asked about."""
        return self.asked_ids.named(self.asked_rows)

    @property
    def names(self) -> tuple[str, str]:
        """What was asked about and what the answers are: the names of the columns of `to_frame`."""
        asked, answer = self.asked_ids.name, self.ids.name
        return asked, f"similar_{answer}" if answer == asked else answer

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Ranking: ...

    @overload
    def __getitem__(self, index: slice) -> Rankings: ...

    def __getitem__(self, index: int | slice) -> Ranking | Rankings:
        if isinstance(index, slice):
            asked = self.asked_rows[index]
            return Rankings(self.rows[index], self.scores[index], self.ids, asked, self.asked_ids)
        row = self.rows[operator.index(index)]
        left = np.count_nonzero(row >= 0)
        return Ranking(self.ids.named(row[:left]), self.scores[index][:left])

    def __iter__(self) -> Iterator[Ranking]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (str, bytes)) or not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __repr__(self) -> str:
        shown = ", ".join(repr(self[i]) for i in range(min(3, len(self))))
        return f"[{shown}{f', ... {len(self):,} in all' if len(self) > 3 else ''}]"

    def to_frame(self) -> pl.DataFrame:
        """A polars DataFrame, a row for each answer: who was asked about, the answer, its rank, its score."""
        import polars as pl

        there = self.rows >= 0
        counts = there.sum(axis=1)
        return pl.DataFrame(
            {
                self.names[0]: _column(self.asked_ids, np.repeat(self.asked_rows, counts)),
                self.names[1]: _column(self.ids, self.rows[there]),
                "rank": np.broadcast_to(np.arange(1, there.shape[1] + 1, dtype=np.int32), there.shape)[there],
                "score": self.scores[there],
            }
        )


def _column(ids: IdMap, rows: NDArray[np.integer[Any]]) -> pl.Series:
    """The ids of these rows: integers of 64 bits as they are, those beyond and strings as strings."""
    import polars as pl

    if not ids.is_text and ids.ids.dtype != object:
        return pl.Series(ids.ids[rows])
    occurs = np.zeros(len(ids), dtype=bool)  # each id is made a string once
    occurs[rows] = True
    strings = [str(value) for value in ids.named(np.flatnonzero(occurs))]
    return pl.Series(strings, dtype=pl.String).gather((np.cumsum(occurs) - 1)[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Filter:
    """Which items may be named to whom; each part may be absent."""

    hidden: Csr | None = None  # row u: not to user u
    candidates: Csr | None = None  # row u: to user u nothing else
    eligible: NDArray[np.bool_] | None = None  # of each item: whether it may be named at all


def rank(
    vectors: Floats,
    items: _core.PackedItems,
    k: int,
    threads: int,
    *,
    allowed: Filter | None = None,
    wanted: Csr | None = None,
    depth: int = 0,
    what: str = "recommending",
    progress: bool | None = False,
) -> tuple[RowNumbers, Floats, RowNumbers]:
    """For each vector the k items of highest score, equal ones by row: rows, -1 where fewer are left; scores.

    And for each entry of `wanted` how it stands among the first `depth`, as `_core.rank` says it.
    """
    allowed = allowed or Filter()
    eligible = None if allowed.eligible is None else allowed.eligible.view(np.uint8)
    best, scores = np.empty((len(vectors), k), dtype=np.int32), np.empty((len(vectors), k), dtype=np.float32)
    standings = []
    with bar(what, len(vectors), progress) as report:
        for begin in range(0, len(vectors), USERS_AT_ONCE):
            end = min(begin + USERS_AT_ONCE, len(vectors))
            hidden, candidates, asked = (
                None if rows is None else rows.between(begin, end).native()
                for rows in (allowed.hidden, allowed.candidates, wanted)
            )
            best[begin:end], scores[begin:end], found = _core.rank(
                vectors[begin:end], items, hidden, candidates, eligible, asked, k, depth, threads
            )
            standings.append(found)
            report(end)
    return best, scores, np.concatenate(standings) if standings else np.empty((0, 3), dtype=np.int32)
