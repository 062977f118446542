"""Films that nobody has rated yet: features rank them far better than popularity or chance can."""

import pytest

from benchmarks.cold_items import (
    at_random,
    by_features,
    by_popularity,
    divided,
    popularity_of_features,
    quality,
)
from ialspp import Objective


@pytest.fixture(scope="module", name="problem")
def made(shared_data):
    return divided(shared_data("ml-1m"), seed=0)


def test_unseen_films_are_ranked_by_their_features(problem):
    chance, _ = quality(problem, at_random(problem, 0))
    popular, _ = quality(problem, by_popularity(problem, popularity_of_features(problem)))
    found, _ = quality(problem, by_features(problem, 32, 6, Objective(), empty=False))
    assert 0.02 < chance < 0.06
    assert popular > chance
    assert found > 2 * popular
    assert found > 0.18


def test_unseen_films_are_not_in_the_training(problem):
    assert not set(problem.unseen) & set(problem.train.items)
    assert len(problem.unseen) == (problem.train.n_items + len(problem.unseen)) // 10
    assert len(problem.wanted) == problem.train.n_users
