"""Models to export, and a disk that is full."""

import os
from contextlib import contextmanager
from functools import cache

import pytest

from ialspp import Interactions
from support.models import fitted

posix = pytest.mark.skipif(os.name != "posix", reason="limits of a process as POSIX has them")

ODD = [
    "",
    " ",
    "a",
    "A",
    "a,b",
    '"',
    "'",
    "new\nline",
    "nul\0inside",
    "😀",
    "-1",
    "007",
    "None",
    "\u00e9",
    "e\u0301",
]
IDS = {
    "integers": [-5, 0, 3, 2**62],
    "64 bits without a sign": [0, 2**63, 2**64 - 1],
    "beyond 64 bits": [-(2**70), 1, 2**64, 10**40],
    "strings": ODD,
    "one empty string": [""],
}
each_id = pytest.mark.parametrize("ids", IDS.values(), ids=IDS.keys())


def model_of(ids, **settings):
    """A model whose users and items both have these ids."""
    everyone = [ids[i % len(ids)] for i in range(2 * len(ids))]
    data = Interactions.from_arrays(user=everyone, item=everyone[::-1], users=ids, items=ids)
    return fitted(data, dim=3, **settings)


@cache
def small():
    return fitted()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def files_no_larger_than(size):
    """To a program this is a full disk."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
