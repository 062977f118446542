"""Weights made anew: dampened, divided by popularity, 1 on average."""

import numpy as np
import pytest
from support.models import make_data

from ialspp import Interactions, split
from ialspp.data.weighting import KINDS, Weighting
from ialspp.errors import InvalidValueError
from ialspp.split.weighting import weighted_split

PLAYS = Interactions.from_arrays(
    user=["a", "a", "a", "b", "b", "c"],
    item=["x", "y", "z", "x", "y", "x"],
    weight=[1.0, 4.0, 16.0, 1.0, 100.0, 0.0],
)


def weights(weighting, data=PLAYS):
    return weighting.learned(data).applied(data).by_user.weights


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("powers", [(0, 0), (0.5, 0), (0, 1), (-0.5, 0.3)])
def test_weights_are_1_on_average_and_pairs_stay(kind, powers):
    data = make_data(numbers=("weight",))
    made = Weighting(kind, *powers).learned(data).applied(data)
    given = made.by_user.weights
    assert (1.0 if given is None else given.mean()) == pytest.approx(1, rel=1e-5)
    assert np.array_equal(made.by_user.columns, data.by_user.columns)
    assert (made.users, made.items) == (data.users, data.items)


def test_each_kind_is_its_function():
    given = PLAYS.by_user.weights
    expected = {
        "linear": given,
        "none": (given > 0) * 1.0,
        "sqrt": np.sqrt(given),
        "log": np.log1p(given),  # the least weight is 1
        "clip": np.minimum(given, np.quantile(given[given > 0], 0.9, method="nearest")),
    }
    for kind, values in expected.items():
        assert weights(Weighting(kind)) == pytest.approx(values / values.mean(), rel=1e-5), kind


def test_powers_divide_by_popularity_and_activity():
    counts = {"item": np.array([3, 2, 1, 3, 2, 3]), "user": np.array([3, 3, 3, 2, 2, 1])}
    for axis, count in counts.items():
        made = weights(Weighting("linear", **{f"{axis}_power": 0.5}))
        values = PLAYS.by_user.weights / np.sqrt(count)
        assert made == pytest.approx(values / values.mean(), rel=1e-5), axis


def test_held_out_users_get_what_the_training_part_taught():
    parts = split.strong(make_data(numbers=("weight",)), held_out=8, min_user=1)
    weighting = Weighting("log", 0.4)
    made, learned = weighted_split(parts, weighting), weighting.learned(parts.train)
    for part in ("validation", "test"):
        given = getattr(parts, part).given
        assert np.array_equal(
            getattr(made, part).given.by_user.weights, learned.of(given.by_user).astype(np.float32)
        )
        assert getattr(made, part).wanted is getattr(parts, part).wanted
    weak = weighted_split(split.random(make_data(numbers=("weight",))), weighting)
    assert weak.test.given is weak.train


def test_data_without_weights_may_be_divided_by_popularity():
    data = make_data(numbers=())
    made = weights(Weighting("none", 0.5), data)
    assert made.min() < 1 < made.max()


def test_mistakes_are_named():
    with pytest.raises(InvalidValueError, match=r"weighting must be one of log, .*, got 'cube'"):
        Weighting("cube")
    with pytest.raises(InvalidValueError, match="item_power must be from -2 to 2, got 3"):
        Weighting("log", 3)


@pytest.mark.parametrize("kind", KINDS)
def test_no_pairs_have_no_weights(kind):
    data = Interactions.from_arrays(user=[], item=[], weight=[])
    assert len(Weighting(kind, 0.5, 0.5).learned(data).applied(data)) == 0
