"""Interactions: who did what, with labels, weights and times, by user and by item."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidTypeError, InvalidValueError
from ..system.progress import Progress
from .axis import ids_of_length, numbered
from .csr import SortedPairs
from .dataframes import arrays_of_frame, frame_of
from .decay import decayed, require_time
from .row_files import Workplace
from .sparse import matrix_of
from .two_sided import TwoSided
from .values import labels_of, not_negative, numbers_of, times_of, weights_of

if TYPE_CHECKING:
    import polars as pl


class Interactions(TwoSided):
    """The observed pairs S of users and items, with labels, weights and times, by user and by item.

    Without weights a repeated pair counts once. With weights, the weights of a repeated pair add up. A pair
    with two different labels is an error. The time of a pair is the first at which it occurs. With a
    half-life, weights decay before they add up. Users and items without interactions keep their row.
    """

    __slots__ = ()

    @classmethod
    def from_arrays(
        cls,
        *,
        user: Iterable[Any],
        item: Iterable[Any],
        label: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        time: ArrayLike | None = None,
        half_life: str | float | None = None,
        users: Iterable[Any] | None = None,
        items: Iterable[Any] | None = None,
    ) -> Interactions:
        """Build from parallel sequences, one entry per interaction.

        Parameters
        ----------
        user, item
            Ids: integers of any size, or strings.
        label, weight
            One finite number per interaction; weights are not negative. 1 if not given.
        time
            Unix seconds, or numpy's datetime64. Splits by time and `half_life` need it.
        half_life
            Multiply the weight of each event by 2^(-age / half_life), where the age is the time from the
            event to the newest one of the data. Seconds, or "90m", "12h", "30d", "2w".
        users, items
            All ids of that axis in the row order you want, including those without interactions.
            If not given: the ids that occur, sorted.

        Examples
        --------
        >>> Interactions.from_arrays(user=["ann", "ann", "bob"], item=["tea", "milk", "tea"])
        Interactions(2 users x 2 items, 3 pairs)
        """
        user_map, user_rows = numbered(user, users, "user")
        item_map, item_rows = numbered(item, items, "item")
        if len(user_rows) != len(item_rows):
            raise InvalidValueError(
                f"user and item must have the same length, got {len(user_rows)} and {len(item_rows)}"
            )
        n = len(user_rows)
        numbers = labels_of(label, n), weights_of(weight, n), times_of(time, n)
        return cls(user_map, item_map, user_rows, item_rows, *numbers, half_life=half_life)

    @classmethod
    def read(
        cls,
        path: str | Path | Sequence[str | Path],
        *,
        user: str | int,
        item: str | int,
        label: str | int | None = None,
        weight: Any = None,
        time: str | int | None = None,
        half_life: str | float | None = None,
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
        """Read a file with one row per interaction: text, Parquet or Arrow, streamed by polars.

        Parameters
        ----------
        path
            A file, a folder of files, a pattern such as `"2026-*/*.parquet"`, or a sequence of these. Text
            may be compressed (gzip, zstd). A line of text has at most 1 MiB. A file must not change while it
            is read.
        user, item
            The columns of ids: by name, or by position, counted from 0. Ids are integers or strings; in text
            they are integers if every one is written as an integer (7, not 007). Rows are in the order of the
            sorted ids. Only the columns that are given here are read.
        label
            The column of labels, by name or position. If not given, all labels are 1.
        weight
            The column of weights, by name or position. It may also be computed from columns: SQL such as
            "1 + log(plays)", or a polars expression. If not given, all weights are 1.
        time
            The column of times, by name or position: Unix seconds or dates. Dates without a zone are UTC.
        half_life
            Multiply the weight of each row by 2^(-age / half_life), where the age is the time from the row to
            the newest one that is read. Seconds, or "90m", "12h", "30d", "2w". Needs `time`.
        rating
            The column that `min_rating` looks at. If not given, it is the column called "rating".
        min_rating
            Keep rows with at least this rating. If not given, all rows.
        where
            Keep rows for which this holds: SQL such as "rating >= 4 AND kind = 'buy'", or a polars
            expression. Without a header the columns are column_0, column_1, ...
        min_user, min_item
            Keep users with at least so many items and items with at least so many users; see `core`.
        format
            If not given, the suffix says it; a file with an unknown suffix is text.
        separator
            Between fields of text: one character or "::". If not given, the suffix or the first line says it.
        header
            Whether the first line of text holds names. If not given: yes if a column is given by name. Where
            all are given by position, it must be given if the first line looks like names over numbers.
        quote
            What may surround a field of text; None if quotes have no meaning, as between "::".
        progress
            True: draw a bar. False: don't. None: only on a terminal or in a notebook. A function: call it
            with each `ProgressEvent`.

        Examples
        --------
        >>> Interactions.read("sales.csv", user="customer", item="product")
        Interactions(3 users x 3 items, 6 pairs)

        Here weights are computed from a column, and rows of one piece are left out:

        >>> Interactions.read(
        ...     "sales.csv", user="customer", item="product", weight="1 + log(pieces)", where="pieces > 1"
        ... )
        Interactions(2 users x 1 items, 2 pairs, with weights)
        """
        from .reading import read

        require_time(half_life, time)
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
        pairs = SortedPairs.of(*parts)
        del parts  # they take as much memory as what is built from them
        if half_life is not None:
            pairs.weight, pairs.decayed = decayed(pairs.weight, pairs.time, half_life), True
        weighted = pairs.weight is not None
        data = cls.of_rows(pairs.users, pairs.items, *pairs.merged(), weighted=weighted)
        data.decayed = pairs.decayed
        return data.core(min_user, min_item)

    @classmethod
    def prepare(
        cls,
        path: str | Path | Sequence[str | Path],
        out: str | Path,
        *,
        user: str | int,
        item: str | int,
        memory: str | int = "2G",
        user_names: Any = None,
        item_names: Any = None,
        progress: Progress = None,
        force: bool = False,
        **options: Any,
    ) -> Interactions:
        """Read files of any size, and write what `read` would return to one file, which is then opened.

        The result is that of `read`, to the bit, in bounded memory. A fit on it holds the vectors in memory,
        but not the interactions. Meanwhile, unnamed temporary files in the folder of `out` take 12 bytes per
        row, and more with labels, weights or times. The file appears atomically.

        Parameters
        ----------
        path
            As in `read`.
        out
            The file to write. Its name ends in ".ialsdata" by convention.
        user, item
            As in `read`.
        memory
            How much memory sorting may take, such as "512M" or "4G". Less memory takes more passes. Ids need
            about 60 bytes each beside it, strings more, and reading some hundred MB.
        user_names, item_names
            Names of users and items, as in `with_names`.
        progress
            As in `read`.
        force
            Replace a file of another kind, too.
        **options
            The other options of `read`.

        Examples
        --------
        >>> Interactions.prepare("sales.csv", "sales.ialsdata", user="customer", item="product")
        Interactions(3 users x 3 items, 6 pairs)
        """
        from .preparing import prepare

        options |= {"user": user, "item": item, "user_names": user_names, "item_names": item_names}
        prepare(path, Path(out), memory=memory, progress=progress, force=force, **options)
        return cls.open(out)

    @classmethod
    def open(cls, path: str | Path, *, mapped: bool = True, verify: bool | None = None) -> Interactions:
        """Open a file that `prepare` or `save` wrote. It is mapped: parts are read when they are used.

        Parameters
        ----------
        path
            The file.
        mapped
            Map the file: the system may drop what is not in use, and processes share the memory. A file that
            is overwritten in place, as `cp` does, changes the data or kills the process; False reads the file
            into memory.
        verify
            Check every byte. None: only in a file of up to 64 MB, and in one that is not mapped.

        Examples
        --------
        >>> data.save("sales.ialsdata")
        >>> Interactions.open("sales.ialsdata")
        Interactions(3 users x 3 items, 6 pairs, with weights)
        """
        from .prepared import opened

        file = opened(Path(path), mapped=mapped, verify=verify)
        found = file.parts()
        work = Workplace.beside(Path(path)) if mapped else None
        data = cls.of_rows(*found[:3], found.times, weighted=found.weighted, by_item=found.by_item, work=work)
        data.decayed = found.decayed
        return data.backed_by(file, found.statistics)

    def save(self, path: str | Path, *, progress: Progress = False, force: bool = False) -> None:
        """Write the data to one file, atomically, with both directions, ids, names and times; see `open`.

        A file of another kind is not replaced, unless `force` is True.

        Examples
        --------
        >>> data.save("sales.ialsdata")
        >>> Interactions.open("sales.ialsdata").to_frame().equals(data.to_frame())
        True
        """
        from .prepared import Parts, save

        self.require_sound()
        rows = self.by_user, self.by_item
        flags = self.weighted, self.decayed
        parts = Parts(self.users, self.items, *rows, self.times, *flags, self.statistics())
        save(parts, Path(path), progress, force=force)

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
            Any scipy.sparse format. Every stored entry is an interaction, even a stored zero.
        values
            What the stored numbers are: weights (the default), labels, or to be ignored (None).
        users, items
            Ids of the rows and columns; 0, 1, 2, ... if not given.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> Interactions.from_scipy(csr_array([[2, 0], [1, 1]]), users=["ann", "bob"], items=["tea", "milk"])
        Interactions(2 users x 2 items, 3 pairs, with weights)
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
        user: Any,
        item: Any,
        label: Any = None,
        weight: Any = None,
        time: Any = None,
        half_life: str | float | None = None,
    ) -> Interactions:
        """Build from columns of a pandas or polars DataFrame, one row per interaction.

        Each column is given by its name, or by its values if they are computed: an array or a column with one
        value per row.

        Parameters
        ----------
        frame
            The data frame.
        user
            The column of the users' ids.
        item
            The column of the items' ids.
        label
            The column of labels. If not given, all labels are 1.
        weight
            The column of weights. If not given, all weights are 1.
        time
            The column of times, as in `from_arrays`.
        half_life
            As in `from_arrays`.

        Examples
        --------
        >>> sales = pl.read_csv("sales.csv")
        >>> Interactions.from_dataframe(sales, user="customer", item="product", weight="pieces")
        Interactions(3 users x 3 items, 6 pairs, with weights)
        >>> dampened = 1 + sales["pieces"].log()
        >>> Interactions.from_dataframe(sales, user="customer", item="product", weight=dampened)
        Interactions(3 users x 3 items, 6 pairs, with weights)
        """
        columns = {"user": user, "item": item, "label": label, "weight": weight, "time": time}
        return cls.from_arrays(**arrays_of_frame(frame, columns), half_life=half_life)

    def to_scipy(self, values: Literal["weight", "label"] | None = "weight") -> Any:
        """Return a scipy.sparse.csr_array: rows are users, columns are items, in the order of their ids.

        Parameters
        ----------
        values
            What the stored numbers are: weights (the default), labels, or ones (None). Weights or labels
            that the data does not have are ones.

        Examples
        --------
        >>> list(data.users), list(data.items)
        (['ann', 'bob', 'cyd'], ['milk', 'rice', 'tea'])
        >>> data.to_scipy().toarray().tolist()
        [[1.0, 0.0, 2.0], [1.0, 0.0, 3.0], [0.0, 1.0, 1.0]]
        """
        return matrix_of(self.by_user, values)

    def to_frame(self) -> pl.DataFrame:
        """Return a polars DataFrame with a row for each pair, by user and then by item.

        Its columns are `user` and `item`; `user_name` and `item_name` if there are names; `label`, `weight`
        and `time` (Unix seconds) if there are any. Call `to_pandas()` on it for pandas.

        Examples
        --------
        >>> table = data.to_frame()
        >>> table.columns
        ['user', 'item', 'weight']
        >>> table.rows()[:2]
        [('ann', 'milk', 1.0), ('ann', 'tea', 2.0)]
        """
        return frame_of(self.users, self.items, self.by_user, self.times)


def require_interactions(data: Any, name: str = "data") -> None:
    """Raise unless this is a data set; the error names the method that makes one of what was given."""
    if isinstance(data, Interactions):
        return
    converter = ""
    if hasattr(data, "tocsr"):
        converter = "from_scipy(matrix)"
    elif hasattr(data, "columns"):
        converter = "from_dataframe(frame, user=..., item=...)"
    elif isinstance(data, (str, Path)):
        converter = "read(path, user=..., item=...)"
    elif isinstance(data, (np.ndarray, Sequence)):
        converter = "from_arrays(user=..., item=...)"
    hint = f"; call Interactions.{converter} first" if converter else ""
    raise InvalidTypeError(f"{name} must be Interactions, got {type(data).__name__}{hint}")
