"""IdMap: external ids, integers or strings, and their row numbers 0, 1, 2, ..."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidTypeError, InvalidValueError, OutOfRangeError, UnknownIdError
from .id_values import as_ids, is_integer, plain
from .lookup import SortedIds, StoredStrings, ascend, factorize
from .names import Names
from .naming import names_for
from .search import TextSearch
from .utf8 import Utf8

MAX_ROWS = 2**31 - 1  # row numbers have 32 bits
FEW = 1000  # up to so many ids are searched in a file's bytes one by one; for more, all strings are decoded


class IdMap:
    """The external ids of one axis in row order, and the row of each id.

    Ids are integers of any size or strings, never both in one map. Maps made from data are sorted: the same
    set of ids gives the same rows, in whatever order the data is.

    A map may also have names, for people to read. They change no answer, and maps that differ in names alone
    are equal.

    Attributes
    ----------
    name
        What an id stands for: "user" or "item".
    names
        One name per row, "" where a row has none; None if no row has one.
    """

    __slots__ = ("_ids", "_lookup", "_search", "_stored", "name", "names")

    name: str
    names: Names | None

    def __init__(self, ids: Iterable[Any], *, name: str = "id") -> None:
        self.name, self.names = name, None
        self._search: TextSearch | None = None
        self._ids: NDArray[Any] | None = as_ids(ids, name)
        self._stored: StoredStrings | None = None
        if len(self._ids) > MAX_ROWS:
            raise InvalidValueError(f"at most {MAX_ROWS} {name}s fit, got {len(self._ids)}")
        self._lookup: SortedIds | None = SortedIds.of(self._ids)
        twice = self._lookup.repeated()
        if twice is not None:
            raise InvalidValueError(f"{name} {plain(twice)!r} is listed more than once")
        self._ids.flags.writeable = False

    @classmethod
    def stored(
        cls,
        ids: NDArray[Any] | Utf8,
        order: NDArray[np.int64] | None = None,
        *,
        name: str = "id",
        names: Names | None = None,
    ) -> IdMap:
        """Make a map of the distinct ids of a file; strings are decoded only when they are needed.

        order: the rows in ascending order of id, if ids are strings that do not ascend.
        """
        made = cls.__new__(cls)
        made.name, made.names = name, names
        made._search = None
        made._ids = None if isinstance(ids, Utf8) else ids
        made._stored = StoredStrings(ids, order) if isinstance(ids, Utf8) else None
        made._lookup = None
        return made

    def check(self) -> None:
        """Raise unless all ids are distinct: a map made by `stored` has not looked at them."""
        if self._stored is not None:
            self._stored.strings.check_content(self._stored.order)
        elif self._lookup is None and not ascend(self.ids):
            twice = self._sorted_ids().repeated()
            if twice is not None:
                raise InvalidValueError(f"{self.name} {plain(twice)!r} is listed more than once")

    @property
    def ids(self) -> NDArray[Any]:
        """All ids in row order. Read-only."""
        if self._ids is None:
            assert self._stored is not None
            strings = self._stored.strings.all()
            strings.flags.writeable = False
            self._ids = strings
        return self._ids

    @property
    def is_text(self) -> bool:
        """Whether ids are strings; False if there are no ids."""
        if self._ids is None:
            return True
        return self._ids.dtype == object and all(isinstance(value, str) for value in self._ids[:1])

    @property
    def order(self) -> NDArray[np.int64]:
        """The rows in ascending order of id."""
        if self._lookup is None and self._stored is not None:
            order = self._stored.order
            return np.arange(len(self)) if order is None else order
        return self._sorted_ids().order

    def utf8(self) -> Utf8:
        """The ids as encoded bytes; they must be strings."""
        return Utf8.of(self.ids.tolist()) if self._stored is None else self._stored.strings

    def _sorted_ids(self) -> SortedIds:
        if self._lookup is None:
            self._lookup = SortedIds.of(self.ids)
        return self._lookup

    def named(self, rows: NDArray[np.integer[Any]]) -> list[Any]:
        """Return the ids of some rows as plain Python values.

        Examples
        --------
        >>> items.named(items.rows(["tea", "milk"]))
        ['tea', 'milk']
        """
        rows = self._checked(rows)
        if self._ids is None and self._stored is not None:
            return self._stored.strings.take(rows)
        return list(self.ids[rows].tolist())

    def _checked(self, rows: ArrayLike) -> NDArray[np.integer[Any]]:
        """Return rows, or raise an error for one that is not there, such as the -1 that fills rankings up."""
        wanted = np.asarray(rows)
        if wanted.size == 0:
            return wanted.astype(np.int64)
        if wanted.dtype.kind not in "iu":
            raise InvalidTypeError(f"rows must be integers, got {wanted.dtype}")
        if not (wanted.min() >= 0 and wanted.max() < len(self)):
            wrong = wanted[(wanted < 0) | (wanted >= len(self))]
            raise OutOfRangeError(f"rows must be from 0 to {len(self) - 1}, got {wrong[0]}")
        return wanted

    def with_names(self, names: Any) -> IdMap:
        """Return a map of the same ids with names.

        Parameters
        ----------
        names
            A mapping from ids to names; a pandas or polars data frame with two columns, the ids and the
            names; a pandas column whose index has the ids; or one name per row. Ids that are not in the map
            are ignored, because a catalogue may be larger than the data. The first name of an id counts.
            Rows for which no name is given keep theirs.

        Examples
        --------
        >>> data.items.with_names({"tea": "Green tea"}).labels([0, 1, 2])
        ['milk', 'rice', 'Green tea']
        """
        named = copy(self)
        named.names, named._search = names_for(self, names), None
        return named

    def labels(self, rows: Iterable[int] | NDArray[np.integer[Any]]) -> list[str]:
        """Return what people read for some rows: the name of each, or its id where it has none.

        Examples
        --------
        >>> items.labels([0, 1, 2])
        ['milk', 'Brown rice', 'Green tea']
        """
        wanted = np.asarray(rows if isinstance(rows, np.ndarray) else list(rows), dtype=np.int64)
        ids = [str(value) for value in self.named(wanted)]
        if self.names is None:
            return ids
        return [name or value for name, value in zip(self.names.take(wanted), ids, strict=True)]

    def names_of(self, rows: NDArray[np.integer[Any]]) -> list[str | None]:
        """Return the name of each of some rows, or None where it has none.

        Examples
        --------
        >>> items.names_of(items.rows(["milk", "tea"]))
        [None, 'Green tea']
        """
        rows = self._checked(rows)
        if self.names is None:
            return [None] * len(rows)
        return [name or None for name in self.names.take(rows)]

    def search(self, text: str, limit: int = 20, popularity: ArrayLike | None = None) -> NDArray[np.int64]:
        """Return the rows whose name or id has this text in it, best first. Case and accents do not matter.

        First come rows whose name or id is the text, then those that start with it, then those in which a
        word starts with it, then those that have it anywhere. If there are none, those that have all of its
        words are found.

        Parameters
        ----------
        text
            What to look for.
        limit
            How many rows to return at most.
        popularity
            A number for each row: among rows that match equally well, larger numbers come first. If not
            given, they come in row order.

        Examples
        --------
        >>> items.labels(items.search("ri"))
        ['Brown rice']
        """
        if self._search is None:
            ids = map(str, self)
            self._search = TextSearch(ids) if self.names is None else TextSearch(ids, self.names)
        return self._search.rows(text, limit, popularity)

    def selected(self, rows: NDArray[np.integer[Any]]) -> IdMap:
        """Return the map of some rows, which are numbered 0, 1, 2, ... in this order."""
        ascend = self._stored is not None and self._stored.order is None and bool((np.diff(rows) > 0).all())
        if self._stored is not None and ascend:
            part = IdMap.stored(self._stored.strings.selected(rows), name=self.name)
        else:
            part = IdMap(self.ids[rows], name=self.name)
        part.names = None if self.names is None else self.names.selected(rows)
        return part

    def extended(self, ids: Iterable[Any]) -> IdMap:
        """Append the ids that are new, in ascending order; returns itself if there are none.

        New ids have no name, unless `ids` is a map with names. Its names replace those there are.
        """
        grown = self._grown(ids)
        if grown is not self and self.names is not None:
            grown.names = self.names.extended(len(grown))
        if isinstance(ids, IdMap) and ids.names is not None and ids.names.filled:
            return grown.with_names(dict(zip(ids, ids.names, strict=True)))
        return grown

    def _grown(self, ids: Iterable[Any]) -> IdMap:
        new = as_ids(ids.ids if isinstance(ids, IdMap) else ids, self.name)
        if len(self) and len(new) and isinstance(plain(new[0]), str) != self.is_text:
            own, came = "strings" if self.is_text else "integers", plain(new[0])
            raise InvalidTypeError(
                f"{self.name}s must be all integers or all strings; those known are {own}, got {came!r}"
            )
        missing = np.unique(new[~self._locate(new)[1]])
        if len(missing) == 0:
            return self
        if missing.dtype != self.ids.dtype:  # ids outgrow 64 bits, or the map was empty
            return IdMap([*self, *missing.tolist()], name=self.name)
        grown = IdMap.stored(np.concatenate([self.ids, missing]), name=self.name)
        grown._lookup = self._sorted_ids().extended(missing)
        grown.ids.flags.writeable = False
        return grown

    def renamed(self, name: str) -> IdMap:
        """Return the same ids under another name."""
        if name == self.name:
            return self
        other = copy(self)
        other.name = name
        return other

    @classmethod
    def factorize(cls, values: Iterable[Any], *, name: str = "id") -> tuple[IdMap, NDArray[np.int32]]:
        """Return the map of all ids in `values`, sorted, and the row number of each value."""
        array = as_ids(values, name)
        distinct, rows = factorize(array)
        return cls(distinct, name=name), rows.astype(np.int32)

    def __len__(self) -> int:
        if self._ids is None and self._stored is not None:
            return len(self._stored.strings)
        return len(self.ids)

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, str) and not is_integer(value):
            return False
        return bool(self._locate(as_ids([value], self.name))[1][0])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.ids.tolist())

    def __getitem__(self, row: int) -> Any:
        """The id of a row, as a plain Python value."""
        return self.named(np.array([range(len(self))[row]]))[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IdMap):
            return NotImplemented
        return self.ids.dtype == other.ids.dtype and np.array_equal(self.ids, other.ids)

    def __repr__(self) -> str:
        shown = ", ".join(repr(value) for value in self.named(np.arange(min(3, len(self)))))
        names = "" if self.names is None else f"; {self.names.filled} have names"
        return f"IdMap({len(self)} {self.name}s: {shown}{', ...' if len(self) > 3 else ''}{names})"

    def rows(self, values: Iterable[Any], other: IdMap | None = None) -> NDArray[np.int64]:
        """Return the row number of each id; raise `UnknownIdError` if one is unknown.

        The error also tells if the ids belong to the `other` axis.

        Examples
        --------
        >>> items.rows(["tea", "milk"]).tolist()
        [2, 0]
        >>> items.rows(["salt"])
        Traceback (most recent call last):
        ialspp.errors.UnknownIdError: unknown item: 'salt'
        """
        wanted = as_ids(values, self.name)
        rows, known = self._locate(wanted)
        if not known.all():
            raise self._unknown(wanted, known, self._swapped_hint(wanted[~known], other))
        return rows

    def find(self, values: Iterable[Any]) -> Found:
        """Tell the ids that are known, and their rows, from those that are unknown.

        Strings where ids are integers are an error, as in `rows`, and so are integers where ids are strings:
        none of them can be known.

        Examples
        --------
        >>> found = items.find(["tea", "salt"])
        >>> found.rows.tolist(), found.unknown
        ([2], ['salt'])
        """
        wanted = as_ids(values, self.name)
        rows, known = self._locate(wanted)
        if known.all():
            return Found(rows, known, [])
        if not known.any() and self._kind_hint(wanted):
            raise self._unknown(wanted, known)
        return Found(rows[known], known, wanted[~known].tolist())

    def _unknown(self, wanted: NDArray[Any], known: NDArray[np.bool_], hint: str = "") -> UnknownIdError:
        missing = list(dict.fromkeys(wanted[~known].tolist()))
        shown = ", ".join(repr(value) for value in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        return UnknownIdError(f"unknown {self.name}: {shown}{more}{self._kind_hint(wanted)}{hint}")

    def _locate(self, wanted: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return (row, whether there is one) for each id."""
        if self._ids is None and self._stored is not None and len(wanted) <= FEW:
            return self._stored.locate(wanted)
        return self._sorted_ids().locate(wanted)

    def _swapped_hint(self, missing: NDArray[Any], other: IdMap | None) -> str:
        if other is None or not other._locate(missing)[1].all():
            return ""
        what = f"is the id of an {other.name}" if len(missing) == 1 else f"are ids of {other.name}s"
        return f" ({what.replace('an user', 'a user')}: are users and items swapped?)"

    def _kind_hint(self, wanted: NDArray[Any]) -> str:
        own, theirs = (
            "strings" if text else "integers" for text in (self.is_text, isinstance(plain(wanted[0]), str))
        )
        if len(self) == 0 or own == theirs:
            return ""
        return f" (these are {theirs}, but the {self.name}s of the data are {own})"


class Found(NamedTuple):
    """What `IdMap.find` found.

    Attributes
    ----------
    rows
        The row number of each known id, in the order in which the ids were given.
    known
        For each id that was given, whether it is known.
    unknown
        The other ids.
    """

    rows: NDArray[np.int64]
    known: NDArray[np.bool_]
    unknown: list[Any]
