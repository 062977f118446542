"""Interactions: who did what, with labels and weights, by user and by item."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidTypeError, InvalidValueError
from ..system.checks import checked_integer
from ..system.progress import Progress
from .axis import Axis, ids_of_length, numbered
from .csr import Csr, Floats, Pairs, Times, transpose, transposed_ranks
from .id_values import first_missing
from .ids import IdMap
from .values import labels_of, not_negative, numbers_of, times_of, weights_of


class Interactions:
    """The set S of (user, item, label, weight), indexed both ways.

    Without weights S is a set: a repeated pair counts once. With weights, the weights of a repeated
    pair add up. Labels that disagree on one pair are an error. The time of a pair is the first at which
    it occurred. Users and items without interactions keep their row.
    """

    __slots__ = ("_by_item", "_item_ranks", "by_user", "items", "times", "users", "weighted")

    users: IdMap
    items: IdMap
    by_user: Csr
    times: Times | None  # Unix seconds, in the order of by_user's entries; None where not given
    weighted: bool  # whether weights were given, be it that all are 1

    def __init__(
        self,
        users: IdMap,
        items: IdMap,
        user_rows: NDArray[np.int32],
        item_rows: NDArray[np.int32],
        label: Floats | None,
        weight: Floats | None,
        time: Times | None = None,
    ) -> None:
        pairs = Pairs.of(users, items, user_rows, item_rows, label, weight, time)
        self._set(users, items, *pairs.merged(), weight is not None)

    def _set(self, users: IdMap, items: IdMap, by_user: Csr, times: Times | None, weighted: bool) -> None:
        self.users, self.items, self.by_user, self.times = users, items, by_user, times
        self.weighted = weighted
        self._by_item: Csr | None = None
        self._item_ranks: NDArray[np.uint32] | None = None

    @classmethod
    def of_rows(
        cls, users: IdMap, items: IdMap, by_user: Csr, times: Times | None = None, *, weighted: bool = False
    ) -> Interactions:
        """Rows of distinct items, ascending, as they are; nothing is copied or looked at."""
        data = cls.__new__(cls)
        data._set(users, items, by_user, times, weighted)
        return data

    @property
    def by_item(self) -> Csr:
        """The same interactions by item, made when first used."""
        if self._by_item is None:
            self._by_item = transpose(self.by_user)
        return self._by_item

    @property
    def item_ranks(self) -> NDArray[np.uint32]:
        """For each entry of `by_item` its place in its user's row of `by_user`, made when first used."""
        if self._item_ranks is None:
            self._item_ranks = transposed_ranks(self.by_user)
        return self._item_ranks

    @classmethod
    def from_arrays(
        cls,
        *,
        user: Iterable[Any],
        item: Iterable[Any],
        label: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        time: ArrayLike | None = None,
        users: Iterable[Any] | None = None,
        items: Iterable[Any] | None = None,
    ) -> Interactions:
        """Build from parallel sequences, one entry per interaction.

        Parameters
        ----------
        user, item
            Ids: integers of any size, or strings.
        label, weight
            One finite number per interaction; weights not negative. 1 where not given.
        time
            Unix seconds, or numpy's datetime64; what a split by time goes by.
        users, items
            All ids of that axis in the row order wanted, those without interactions included.
            Without it, the ids that occur, sorted.
        """
        user_map, user_rows = numbered(user, users, "user")
        item_map, item_rows = numbered(item, items, "item")
        if len(user_rows) != len(item_rows):
            raise InvalidValueError(
                f"user and item must have the same length, got {len(user_rows)} and {len(item_rows)}"
            )
        n = len(user_rows)
        return cls(
            user_map,
            item_map,
            user_rows,
            item_rows,
            labels_of(label, n),
            weights_of(weight, n),
            times_of(time, n),
        )

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        user: str | int,
        item: str | int,
        label: str | int | None = None,
        weight: str | int | None = None,
        time: str | int | None = None,
        rating: str | int | None = None,
        min_rating: float | None = None,
        where: Any = None,
        min_user: int = 1,
        min_item: int = 1,
        format: Literal["csv", "parquet", "arrow"] | None = None,
        separator: str | None = None,
        header: bool | None = None,
        quote: str | None = '"',
        progress: Progress = None,
    ) -> Interactions:
        """Read a file, one row per interaction: text, Parquet or Arrow, streamed through polars.

        Parameters
        ----------
        path
            A file, a folder of files, or a pattern such as "2026-*/*.parquet". Text may be compressed (gzip,
            zstd).
        user, item, label, weight, time
            Columns: by name, or by position, counted from 0. Only these are read. Ids are integers or
            strings; in text they are integers where every one is written as an integer (7, not 007). Rows are
            in the order of the sorted ids. Times are Unix seconds or dates, without a zone taken as UTC.
        rating, min_rating
            Keep rows whose column `rating` (the one of that name where not given) is at least `min_rating`.
        where
            Keep rows for which this holds: SQL such as "rating >= 4 AND kind = 'buy'", or a polars
            expression. Without a header the columns are column_0, column_1, ...
        min_user, min_item
            Keep users with so many items and items with so many users; see `core`.
        format
            Known by the suffix where not given; text if the suffix says nothing.
        separator
            Between fields of text: one character or "::". By the suffix, or else found in the first line.
        header
            Whether the first line of text holds names. Without it: yes if a column is given by name.
        quote
            What may surround a field of text; None where quotes mean nothing, as between "::".
        progress
            True: draw a bar. False: don't. None: only on a terminal. A function: call it with each
            `ProgressEvent`.
        """
        from .reading import read

        parts = read(
            path,
            {"user": user, "item": item, "label": label, "weight": weight, "time": time, "rating": rating},
            min_rating=min_rating,
            where=where,
            format=format,
            separator=separator,
            header=header,
            quote=quote,
            progress=progress,
        )
        pairs = Pairs.of(*parts)
        del parts  # they are as large as what is made of them
        weighted = pairs.weight is not None
        data = cls.of_rows(pairs.users, pairs.items, *pairs.merged(), weighted=weighted)
        return data.core(min_user, min_item)

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        *,
        values: Literal["weight", "label"] | None = "weight",
        users: Iterable[Any] | None = None,
        items: Iterable[Any] | None = None,
    ) -> Interactions:
        """Build from a sparse matrix or array: rows are users, columns are items.

        Parameters
        ----------
        matrix
            Any scipy.sparse format. Every stored entry is an interaction, also a stored zero.
        values
            What the stored numbers are: weights (the default), labels, or nothing (None).
        users, items
            Ids of the rows and columns; 0, 1, 2, ... where not given.
        """
        if values not in ("weight", "label", None):
            raise InvalidValueError(f'values must be "weight", "label" or None, got {values!r}')
        if not hasattr(matrix, "tocoo"):
            raise InvalidTypeError(f"a scipy.sparse matrix or array is required, got {type(matrix).__name__}")
        if len(matrix.shape) != 2:
            raise InvalidValueError(f"a two-dimensional matrix is required, got shape {matrix.shape}")
        coo = matrix.tocoo()
        numbers = numbers_of(coo.data, coo.nnz, values or "matrix") if values else None
        return cls(
            ids_of_length(users, coo.shape[0], "user", "rows"),
            ids_of_length(items, coo.shape[1], "item", "columns"),
            np.asarray(coo.row, dtype=np.int32),
            np.asarray(coo.col, dtype=np.int32),
            numbers if values == "label" else None,
            not_negative(numbers) if values == "weight" else None,
        )

    @classmethod
    def from_dataframe(
        cls,
        frame: Any,
        *,
        user: str,
        item: str,
        label: str | None = None,
        weight: str | None = None,
        time: str | None = None,
    ) -> Interactions:
        """Build from named columns of a pandas or polars DataFrame, one row per interaction."""
        if not hasattr(frame, "columns") or hasattr(frame, "collect"):
            hint = "; call collect() first" if hasattr(frame, "collect") else ""
            raise InvalidTypeError(
                f"a pandas or polars DataFrame is required, got {type(frame).__name__}{hint}"
            )
        columns = list(frame.columns)
        roles = (("user", user), ("item", item), ("label", label), ("weight", weight), ("time", time))
        for role, column in roles:
            if column is not None and column not in columns:
                raise InvalidValueError(f"{role} column {column!r} is not in the frame; it has {columns}")
        return cls.from_arrays(
            user=_column(frame, user),
            item=_column(frame, item),
            label=None if label is None else _column(frame, label),
            weight=None if weight is None else _column(frame, weight),
            time=None if time is None else _column(frame, time),
        )

    def core(self, min_user: int = 1, min_item: int = 1) -> Interactions:
        """Users with at least `min_user` items and items with at least `min_item` users: the k-core.

        Taking away a user takes away from its items, and so on, until all that are left have enough.
        """
        least = checked_integer("min_user", min_user, 0), checked_integer("min_item", min_item, 0)
        if (self.by_user.counts >= least[0]).all() and (self.by_item.counts >= least[1]).all():
            return self
        kept = np.ones(len(self), dtype=bool)
        user, item = self.by_user.row_numbers, self.by_user.columns
        while True:
            before = np.count_nonzero(kept)
            for rows, length, enough in ((user, self.n_users, least[0]), (item, self.n_items, least[1])):
                kept &= (np.bincount(rows[kept], minlength=length) >= enough)[rows]
            if np.count_nonzero(kept) == before:
                return self.select(kept)

    def select(
        self, entries: NDArray[np.bool_], users: Axis | None = None, items: Axis | None = None
    ) -> Interactions:
        """Some of the interactions, marked in the order of `by_user`.

        Users and items left without any are gone, and the others in the order of their ids, unless `users` or
        `items` says which rows there are.
        """
        if entries.dtype != bool or entries.shape != (len(self),):
            raise InvalidValueError(
                f"entries must be {len(self)} booleans, got {entries.dtype} of shape {entries.shape}"
            )
        rows = self.by_user
        user, item = rows.row_numbers[entries], rows.columns[entries]
        users = Axis.of(self.users, user) if users is None else users
        items = Axis.of(self.items, item) if items is None else items
        selected = Interactions(
            users.ids,
            items.ids,
            users.rows[user],
            items.rows[item],
            None if rows.labels is None else rows.labels[entries],
            None if rows.weights is None else rows.weights[entries],
            None if self.times is None else self.times[entries],
        )
        selected.weighted = self.weighted
        return selected

    @property
    def n_users(self) -> int:
        """The number of users, those without interactions included."""
        return len(self.users)

    @property
    def n_items(self) -> int:
        """The number of items, those without interactions included."""
        return len(self.items)

    def statistics(self) -> dict[str, Any]:
        """Counts and ranges, as plain values."""
        from .statistics import statistics

        return statistics(self)

    def __len__(self) -> int:
        return len(self.by_user.columns)

    def __repr__(self) -> str:
        extras = [
            name
            for name, array in (
                ("labels", self.by_user.labels),
                ("weights", self.by_user.weights),
                ("times", self.times),
            )
            if array is not None
        ]
        suffix = f", with {', '.join(extras)}" if extras else ""
        return f"Interactions({self.n_users} users x {self.n_items} items, {len(self)} pairs{suffix})"


def _column(frame: Any, name: str) -> NDArray[Any]:
    place = first_missing(frame[name])
    if place is not None:
        raise InvalidValueError(f"column {name!r} has a missing value at row {place}")
    return np.asarray(frame[name].to_numpy())
