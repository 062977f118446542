"""Splits that others published, so that results can be compared: the files of NCF and of LightGCN."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..data.interactions import Interactions
from ..errors import InvalidValueError
from ..split import Split, given, given_leave_one_out
from .archive import located
from .numbers import NumberLines

Ids = NDArray[np.int64]
Pairs = tuple[Ids, Ids]  # users and items, one entry per interaction


def lightgcn(folder: str | Path) -> Split:
    """The split of a folder (or zip archive) with LightGCN's train.txt and test.txt.

    A line is a user and the items of that user, all of them row numbers: there are as many users and
    items as the largest numbers in both files say, also those that occur in neither.
    """
    files = [NumberLines.read(located(folder, name)) for name in ("train.txt", "test.txt")]
    pairs = [_first_with_rest(lines) for lines in files]
    users = np.arange(1 + max(lines.values[lines.places == 0].max(initial=-1) for lines in files))
    items = np.arange(1 + max(item.max(initial=-1) for _, item in pairs))
    train, test = (
        Interactions.from_arrays(user=user, item=item, users=users, items=items) for user, item in pairs
    )
    return given(train, test)


def ncf(folder: str | Path, name: str = "ml-1m") -> Split:
    """The leave-one-out split of He et al. (2017): a folder (or zip archive) of three files.

    <name>.train.rating and <name>.test.rating have a user, an item, a rating and perhaps a time a line;
    <name>.test.negative has (user,item) and the items to rank that one with. Every rating counts as an
    interaction, as it does there; so does a held-out item that is among its own negatives count once.
    """
    kinds = ("train.rating", "test.rating", "test.negative")
    train_file, test_file, negative_file = (located(folder, f"{name}.{kind}") for kind in kinds)
    train, test = _rated(train_file), _rated(test_file)
    ranked = _first_with_rest(NumberLines.read(negative_file, between=b" \t\r(),"))
    users, items = (reduce(np.union1d, axis) for axis in zip(train, test, ranked, strict=True))
    known, wanted, candidates = (
        Interactions.from_arrays(user=user, item=item, users=users, items=items)
        for user, item in (train, test, ranked)
    )
    return given_leave_one_out(known, wanted, candidates.by_user)


def _rated(file: Path) -> Pairs:
    """The first two columns, as whole numbers: those of the negatives are."""
    data = Interactions.read(file, user=0, item=1, format="csv", separator="\t")
    for ids in (data.users, data.items):
        if ids.ids.dtype.kind not in "iu":
            raise InvalidValueError(f"{file}: {ids.name}s must be whole numbers, got {ids[0]!r}")
    return data.users.ids[data.by_user.row_numbers], data.items.ids[data.by_user.columns]


def _first_with_rest(lines: NumberLines) -> Pairs:
    """The first number of a line with each of the others."""
    first = lines.places == 0
    users = lines.values[first][np.cumsum(first) - 1]
    return users[~first], lines.values[~first]
