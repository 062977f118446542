"""Splits that others published, so that results can be compared: the files of NCF and of LightGCN."""

from __future__ import annotations

import re
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..data.interactions import Interactions
from ..errors import InvalidValueError
from ..split import Split, given, given_leave_one_out
from .archive import located

if TYPE_CHECKING:
    import polars as pl

    # user: the first number of a line; item: each of the others; place: its place. Null if there is none.
    Lines = pl.DataFrame

UserItemIds = tuple[NDArray[np.int64], NDArray[np.int64]]  # one entry per interaction
MOST_DIGITS = 8  # LightGCN's numbers are row numbers; a mistyped one must not allocate billions of rows


def lightgcn(folder: str | Path) -> Split:
    """Load the split of a folder or zip archive with LightGCN's train.txt and test.txt.

    A line has a user and the items of that user, all of them row numbers. The largest numbers in both files
    say how many users and items there are, including those that occur in neither file.

    The place of an item in its line is the time of the pair, unless every line of train.txt ascends.
    In Gowalla's files, places seem to be in the order of time.

    Examples
    --------
    >>> parts = datasets.lightgcn(".")
    >>> parts.train
    Interactions(2 users x 4 items, 5 pairs)
    >>> parts.test
    HeldOut(2 users, 2 test pairs)
    """
    train, test = (_read_lines(located(folder, name)) for name in ("train.txt", "test.txt"))
    users, items = (np.arange(1 + _largest([train[axis], test[axis]])) for axis in ("user", "item"))
    known, wanted = (
        Interactions.from_arrays(user=user, item=item, users=users, items=items, time=time)
        for (user, item), time in ((_ids_of(train), _places_of(train)), (_ids_of(test), None))
    )
    return given(known, wanted)


def ncf(folder: str | Path, name: str = "ml-1m") -> Split:
    """Load the leave-one-out split of He et al. (2017): a folder or zip archive of three files.

    A line of `<name>.train.rating` or `<name>.test.rating` has a user, an item, a rating and perhaps a time.
    A line of `<name>.test.negative` has (user,item) and the items to rank it with. Every rating counts as an
    interaction, as in that paper. A held-out item that is among its own negatives counts once.

    Examples
    --------
    >>> parts = datasets.ncf(".", name="ml-1m")
    >>> parts.train
    Interactions(2 users x 6 items, 3 pairs)
    >>> parts.test
    HeldOut(2 users, 2 test pairs)
    """
    kinds = ("train.rating", "test.rating", "test.negative")
    train_file, test_file, negative_file = (located(folder, f"{name}.{kind}") for kind in kinds)
    ranked = _read_lines(negative_file, separators=" \t\r(),")
    parts = _read_ratings(train_file), _read_ratings(test_file), _ids_of(ranked)
    users, items = (reduce(np.union1d, axis) for axis in zip(*parts, strict=True))
    known, wanted, candidates = (
        Interactions.from_arrays(user=user, item=item, users=users, items=items) for user, item in parts
    )
    return given_leave_one_out(known, wanted, candidates.by_user)


def _read_ratings(file: Path) -> UserItemIds:
    """Read the first two columns, which must be whole numbers like those of the negatives."""
    data = Interactions.read(file, user=0, item=1, format="csv", separator="\t")
    for ids in (data.users, data.items):
        if ids.ids.dtype.kind not in "iu":
            raise InvalidValueError(f"{file}: {ids.name}s must be whole numbers, got {ids[0]!r}")
    return data.users.ids[data.by_user.row_numbers], data.items.ids[data.by_user.columns]


def _read_lines(file: Path, separators: str = " \t\r") -> Lines:
    """Read lines of whole numbers with any of these characters between them; skip blank lines."""
    import polars as pl

    words = pl.col("text").str.extract_all(f"[^{separators}]+")
    lines = pl.DataFrame({"text": file.read_bytes().decode(errors="replace").split("\n")}).select(words=words)
    _check_numbers(file, lines)
    numbers = pl.col("words").cast(pl.List(pl.Int64))
    pairs = lines.select(user=numbers.list.first(), item=numbers.list.slice(1)).drop_nulls("user")
    return pairs.with_columns(place=pl.int_ranges(pl.col("item").list.len())).explode("item", "place")


def _check_numbers(file: Path, lines: pl.DataFrame) -> None:
    import polars as pl

    is_number = pl.col("words").str.contains(rf"^[0-9]{{1,{MOST_DIGITS}}}$")
    wrong = lines.with_row_index("line", offset=1).explode("words").filter(~is_number)
    if len(wrong):
        line, word = wrong.row(0)
        too_long = re.fullmatch("[0-9]+", word)
        required = f"a number of at most {MOST_DIGITS} digits" if too_long else "a whole number"
        raise InvalidValueError(f"{file}, line {line}: {required} is required, got {word[:40]!r}")


def _largest(columns: list[pl.Series]) -> int:
    return max(int(column.drop_nulls().to_numpy().max(initial=-1)) for column in columns)


def _ids_of(lines: Lines) -> UserItemIds:
    pairs = lines.drop_nulls()
    return pairs["user"].to_numpy(), pairs["item"].to_numpy()


def _places_of(lines: Lines) -> NDArray[np.float64] | None:
    """Return the place of each pair in its line; None: all lines ascend, which is no order of time."""
    import polars as pl

    pairs = lines.drop_nulls()
    same_line = pl.col("place") > 0
    if not pairs.select((same_line & (pl.col("item").diff() < 0)).any()).item():
        return None
    return pairs["place"].to_numpy().astype(np.float64)
