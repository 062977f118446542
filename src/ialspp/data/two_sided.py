"""Two sides, users and items, and the observed pairs of them: by user, by item, and parts of them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from copy import copy, deepcopy
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidValueError
from ..files.container import Container
from ..system import html
from ..system.checks import checked_integer
from .axis import Axis, map_of
from .csr import Csr, Floats, SortedPairs, Times, core_of, transpose, transposed_ranks
from .decay import decayed
from .ids import IdMap
from .row_files import Cut, Workplace, count_within, rows_by_column
from .statistics import described, statistics

AnyData = TypeVar("AnyData", bound="TwoSided")


class TwoSided:
    """What `Interactions` are made of, and what can be taken of them."""

    __slots__ = (
        "_by_item",
        "_file",
        "_is_extended",
        "_item_ranks",
        "_statistics",
        "by_user",
        "decayed",
        "items",
        "times",
        "users",
        "weighted",
        "work",
    )

    users: IdMap
    items: IdMap
    by_user: Csr
    times: Times | None  # Unix seconds, in the order of by_user's entries; None if not given
    weighted: bool  # whether weights were given, even if all are 1
    decayed: bool  # whether weights decayed with time
    work: Workplace | None  # where parts of mapped data are made; None: in memory

    def __init__(
        self,
        users: IdMap,
        items: IdMap,
        user_rows: NDArray[np.int32],
        item_rows: NDArray[np.int32],
        label: Floats | None,
        weight: Floats | None,
        time: Times | None = None,
        *,
        half_life: str | float | None = None,
    ) -> None:
        if half_life is not None:
            weight = decayed(weight, time, half_life)
        pairs = SortedPairs.of(users, items, user_rows, item_rows, label, weight, time)
        pairs.decayed = half_life is not None
        self._set(users, items, *pairs.merged(), weight is not None)
        self.decayed = pairs.decayed

    def _set(self, users: IdMap, items: IdMap, by_user: Csr, times: Times | None, weighted: bool) -> None:
        self.users, self.items, self.by_user, self.times = users, items, by_user, times
        self.weighted, self.decayed = weighted, False
        self._statistics: dict[str, Any] | None = None
        self._by_item: Csr | None = None
        self._item_ranks: NDArray[np.uint32] | None = None
        self._file: Container | None = None  # that the arrays are in
        self._is_extended = False  # by ids that the file does not have
        self.work = None

    @classmethod
    def of_rows(
        cls: type[AnyData],
        users: IdMap,
        items: IdMap,
        by_user: Csr,
        times: Times | None = None,
        *,
        weighted: bool = False,
        by_item: Csr | None = None,
        work: Workplace | None = None,
    ) -> AnyData:
        """Use rows of distinct, ascending items unchanged: nothing is copied or checked.

        Rows that are mapped have a place for temporary files, in which larger parts of them are made.
        """
        data = cls.__new__(cls)
        data._set(users, items, by_user, times, weighted)
        data._by_item, data.work = by_item, work
        return data

    def __copy__(self: AnyData) -> AnyData:
        other = type(self).__new__(type(self))
        for name in TwoSided.__slots__:
            setattr(other, name, getattr(self, name))
        return other

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        self.require_sound()  # a copy has the contents of a file without its checksums
        return None, {name: getattr(self, name) for name in TwoSided.__slots__} | {
            "_file": None,
            "work": None,
        }

    @property
    def by_item(self) -> Csr:
        """The same interactions by item, made when first used."""
        if self._by_item is None:
            rows, work = self.by_user, self.work
            self._by_item = transpose(rows) if work is None else rows_by_column(rows, work)
        return self._by_item

    @property
    def item_ranks(self) -> NDArray[np.uint32]:
        """For each entry of `by_item` its place in its user's row of `by_user`, made when first used."""
        if self._item_ranks is None:
            self._item_ranks = transposed_ranks(self.by_user)
        return self._item_ranks

    def backed_by(self: AnyData, file: Container, statistics: dict[str, Any]) -> AnyData:
        """Say which file the arrays are in, and what it says of them. Returns the same object."""
        self._file, self._statistics = file, statistics
        return self

    @property
    def file(self) -> Container | None:
        """The file that has all of the data; None if it is in memory, or has more ids than the file."""
        return None if self._is_extended else self._file

    def require_sound(self) -> None:
        """Read the file that the data was opened from completely; raise a `StoreError` if it is damaged.

        `open` does not check a large file. Whatever writes its contents to another file checks it first:
        fresh checksums would make the damage look sound.
        """
        if self._file is not None:
            self._file.verify()

    def read_in_order(self) -> AbstractContextManager[None]:
        """Tell the system, for a block of code, that rows of a mapped file are read from first to last."""
        if self._file is None:
            return nullcontext()
        return self._file.read_in_order(name for name in self._file.arrays if name.startswith("by_"))

    def with_names(self: AnyData, *, items: Any = None, users: Any = None) -> AnyData:
        """Return the same data with names of items or users, which people read beside ids.

        Names change no result. They stay with their ids in parts of the data, in a model that is trained on
        it and in the model's file. `data.items.names.filled` is the number of items that have one.

        Parameters
        ----------
        items, users
            A mapping from ids to names; a pandas or polars data frame with two columns, the ids and the
            names; a pandas column whose index has the ids; or one name per row, in the order of `items.ids`
            or `users.ids`. Ids that are not in the data are ignored. None: the names that there are.

        Examples
        --------
        >>> data.with_names(items={"tea": "Green tea", "rice": "Brown rice"}).items
        IdMap(3 items: 'milk', 'rice', 'tea'; 2 have names)
        """
        named = copy(self)
        named.items, named.users = self.items.with_names(items), self.users.with_names(users)
        return named

    def extended(self: AnyData, users: IdMap, items: IdMap) -> AnyData:
        """Return the same interactions among more users and items: ids at the end that have none.

        Examples
        --------
        >>> data.extended(IdMap(["ann", "bob", "cyd", "dan"], name="user"), data.items)
        Interactions(4 users x 3 items, 6 pairs, with weights)
        """
        grown = copy(self)
        grown.users, grown.items, grown._statistics = users, items, None
        is_larger = len(users) > len(self.users) or len(items) > len(self.items)
        grown._is_extended = self._is_extended or is_larger
        grown.by_user = self.by_user.extended(len(users), len(items))
        if self._by_item is not None:
            grown._by_item = self._by_item.extended(len(items), len(users))
        return grown

    def core(self: AnyData, min_user: int = 1, min_item: int = 1) -> AnyData:
        """Keep users with at least `min_user` items and items with at least `min_item` users: the k-core.

        Removing a user leaves its items with fewer users, which may remove them too, and so on, until all
        that are left have enough.

        Examples
        --------
        Only ann and bob have two of the items that two or more users have:

        >>> data.core(min_user=2, min_item=2)
        Interactions(2 users x 2 items, 4 pairs, with weights)
        """
        least_items = checked_integer("min_user", min_user, 0)
        least_users = checked_integer("min_item", min_item, 0)
        rows = self.by_user
        if (rows.counts >= least_items).all() and (rows.column_counts >= least_users).all():
            return self
        return self.cut(*core_of(rows, least_items, least_users))

    def cut(
        self: AnyData,
        in_users: NDArray[np.bool_],
        in_items: NDArray[np.bool_],
        users: Axis | None = None,
        items: Axis | None = None,
        entries: NDArray[np.bool_] | None = None,
    ) -> AnyData:
        """Keep the interactions of marked users with marked items; if `entries` are given, the marked ones.

        The rest is as in `part`, but of mapped data the part is mapped, too: it takes no memory.
        """
        rows, work = self.by_user, self.work
        if users is None or items is None:
            of_users, of_items = count_within(rows, in_users, in_items, entries)
            users = Axis.of(self.users, np.flatnonzero(of_users)) if users is None else users
            items = Axis.of(self.items, np.flatnonzero(of_items)) if items is None else items
        if work is None or not (users.ascends and items.ascends):
            kept = np.repeat(in_users, rows.counts) & in_items[rows.columns]
            return self.part(kept if entries is None else kept & entries, users, items)
        part = Cut(in_users, in_items, users.rows >= 0, items.rows, entries)
        by_user, times = part.of(rows, self.times, len(items.ids), work)
        found = type(self).of_rows(users.ids, items.ids, by_user.without_ones(), times, work=work)
        found.weighted, found.decayed = self.weighted, self.decayed
        return found

    def select(self: AnyData, entries: ArrayLike, users: Any = None, items: Any = None) -> AnyData:
        """Keep the interactions that are marked.

        Parameters
        ----------
        entries
            For each interaction whether to keep it, in the order of `by_user`, which is that of `to_frame`.
        users, items
            The ids of the result, in the order of its rows, such as the `users` of other data. An interaction
            that is kept must have its user and its item among them. If not given: the ids that are left with
            interactions, sorted.

        Examples
        --------
        >>> data.select(data.by_user.weights > 1).to_frame().rows()
        [('ann', 'tea', 2.0), ('bob', 'tea', 3.0)]
        >>> data.select(data.to_frame()["weight"] > 1, items=data.items)
        Interactions(2 users x 3 items, 2 pairs, with weights)
        """
        return self.part(_as_mask(entries, len(self)), users, items)

    def part(self: AnyData, kept: NDArray[np.bool_], users: Any = None, items: Any = None) -> AnyData:
        """Keep the interactions that are marked. `users` and `items` may say, for each row, its new row."""
        rows = self.by_user
        user, item = rows.row_numbers[kept], rows.columns[kept]
        users = _axis_of(self.users, user, users, self.items)
        items = _axis_of(self.items, item, items, self.users)
        selected = type(self)(
            users.ids,
            items.ids,
            users.rows[user],
            items.rows[item],
            None if rows.labels is None else rows.labels[kept],
            None if rows.weights is None else rows.weights[kept],
            None if self.times is None else self.times[kept],
        )
        selected.weighted, selected.decayed = self.weighted, self.decayed
        return selected

    @property
    def n_users(self) -> int:
        """The number of users, including those without interactions."""
        return len(self.users)

    @property
    def n_items(self) -> int:
        """The number of items, including those without interactions."""
        return len(self.items)

    def statistics(self) -> dict[str, Any]:
        """Return counts and ranges as plain values, computed once.

        Examples
        --------
        >>> found = data.statistics()
        >>> found["pairs"], found["pairs_per_item"]
        (6, {'least': 1, 'median': 2, 'most': 3})
        """
        if self._statistics is None:
            self._statistics = statistics(self.by_user, self.times)
        return deepcopy(self._statistics)

    def __len__(self) -> int:
        return len(self.by_user.columns)

    def __repr__(self) -> str:
        extras = [
            name
            for name, part in (
                ("labels", self.by_user.labels),
                ("weights", self.by_user.weights),
                ("times", self.times),
                ("user names", self.users.names),
                ("item names", self.items.names),
            )
            if part is not None
        ]
        suffix = f", with {', '.join(extras)}" if extras else ""
        return f"Interactions({self.n_users} users x {self.n_items} items, {len(self)} pairs{suffix})"

    def _repr_html_(self) -> str:
        """Draw counts and ranges as a table, for notebooks."""
        names = {"user names": self.users.names, "item names": self.items.names}
        filled = {name: found.filled for name, found in names.items() if found is not None}
        return html.facts("Interactions", {**described(self.statistics()), **filled})


def _as_mask(entries: ArrayLike, length: int) -> NDArray[np.bool_]:
    """Return one truth value for each interaction; a column of a data frame will do, too."""
    mask = np.asarray(entries)
    if mask.dtype != bool or mask.shape != (length,):
        raise InvalidValueError(f"entries must be {length} booleans, got {mask.dtype} of shape {mask.shape}")
    return mask


def _axis_of(ids: IdMap, occurring: NDArray[np.int32], given: Any, other: IdMap) -> Axis:
    """Return the rows of a part: those that occur, or those given."""
    if given is None:
        return Axis.of(ids, occurring)
    if isinstance(given, Axis):
        return given
    used = np.zeros(len(ids), dtype=bool)
    used[occurring] = True
    return Axis.onto(map_of(given, ids.name), ids, used, other)
