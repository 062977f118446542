"""Model files to test with."""

import os
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ialspp import (
    IALSpp,
    ImplicitMF,
)
from support.models import fitted, make_data

ODD = ["z", "", "a\0", "\n", "\ud800", "\udfff", "😀", "\u05e9\u05dc", "e\u0301", "é", " ", "\u202e"]
IDS = {
    "int64": [-(2**63), 2**63 - 1, -1, *range(9)],
    "uint64": [*range(2**64 - 1, 2**64 - 12, -1), 5],
    "digits": [10**30, -(10**30), 2**64, *range(9)],
    "string": ODD,
}
posix = pytest.mark.skipif(os.name != "posix", reason="signals and mapped files as POSIX has them")


def data_of(ids="string", **options):
    """Twelve users and twelve items with the same ids; three users and two items have no interactions."""
    ids = IDS[ids]
    return make_data(n=60, users=12, user_id=ids.__getitem__, items=ids, **options)


@cache
def model_of_strings():
    return fitted(data_of(), solver=IALSpp())


@cache
def small():
    """A model in a file of few bytes."""
    data = make_data(n=8, users=6, user_id=ODD.__getitem__, items=[5, 3, -4, 1, 2])
    return fitted(data, dim=2, epochs=1)


@cache
def file_of(make):
    """The bytes of a model's file."""
    with tempfile.TemporaryDirectory() as folder:
        make().save(f"{folder}/model")
        return Path(folder, "model").read_bytes()


def again(model, path, **options):
    """The model, saved and loaded."""
    model.save(path, **options)
    return ImplicitMF.load(path, threads=1)


def names(folder):
    return [entry.name for entry in folder.iterdir()]


def check_same(model, other):
    for a, b in zip(*(arrays_of(each) for each in (model, other)), strict=True):
        assert (a is None) == (b is None)
        assert a is None or (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    assert (model.users, model.items) == (other.users, other.items)
    assert model.trained_on.statistics() == other.trained_on.statistics()
    assert model.trained_on.weighted == other.trained_on.weighted
    assert (model.history, model.fitted_solver) == (other.history, other.fitted_solver)
    assert {**model.get_params(), "threads": 0} == {**other.get_params(), "threads": 0}
    assert repr(model) == repr(other)


def arrays_of(model):
    rows = model.trained_on.by_user
    return model.user_factors, model.item_factors, rows.offsets, rows.columns, rows.labels, rows.weights


def answers(model):
    """To every kind of question, with all bits of the scores."""
    user, item = model.users[0], model.items[0]
    near = model.similar_items([item], 5), model.similar_users([user], 3, metric="dot")
    listed = model.recommend(k=4), *near
    alone, why = model.recommend(user, 3), model.explain(user, item)
    numbers = [model.fold_in([list(model.items)[:3], []]), alone.scores, why.contributions]
    numbers += [array for rankings in listed for array in (rankings.rows, rankings.scores)]
    return (
        list(map(list, [*listed, alone, why])),
        why.score,
        [np.asarray(array).tobytes() for array in numbers],
    )
