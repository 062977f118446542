import numpy as np
import pytest

from ialspp import ImplicitMF
from ialspp.datasets import SHAPES, Shape, synthetic

SMALL = Shape(users=2000, items=500, interactions=40_000)


def test_the_counts_are_exact():
    data = synthetic(SMALL)
    assert (data.n_users, data.n_items, len(data)) == (2000, 500, 40_000)
    scaled = synthetic("ml20m", scale=0.01)
    assert (scaled.n_users, scaled.n_items, len(scaled)) == (1367, 201, 100_000)


def test_a_seed_gives_the_same_data_and_another_does_not():
    columns = [synthetic(SMALL, seed=seed).by_user.columns.tolist() for seed in (3, 3, 4)]
    assert columns[0] == columns[1]
    assert columns[0] != columns[2]


def test_popularity_and_activity_are_skewed():
    data = synthetic(SMALL)
    by_popularity = np.sort(data.by_item.counts)[::-1]
    assert by_popularity[:50].sum() > 2 * 50 / 500 * len(data)
    assert data.by_user.counts.max() > 5 * np.median(data.by_user.counts)


def test_there_is_structure_to_learn():
    def explained(dim):
        model = ImplicitMF(dim=dim, epochs=4).fit(synthetic(SMALL))
        return 1 - model.history[-1].loss / len(synthetic(SMALL))

    assert explained(32) > explained(1) + 0.02


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("netflix",), "one of ml20m, msd or a Shape, got 'netflix'"),
        ((Shape(10, 10, 60),), "too dense: at most half"),
    ],
)
def test_impossible_shapes_are_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        synthetic(*arguments)


@pytest.mark.parametrize("scale", [0, -1, 1.5])
def test_scale_must_be_a_share(scale):
    with pytest.raises(ValueError, match=r"scale must be in \(0, 1\]"):
        synthetic("msd", scale=scale)


def test_the_published_shapes_are_those_of_the_paper():
    assert SHAPES["ml20m"] == Shape(136_677, 20_108, 10_000_000)
    assert SHAPES["msd"] == Shape(571_355, 41_140, 33_600_000)
