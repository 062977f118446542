"""Only solvers with a prediction cache make the ranks that lead from items to the users' order."""

import numpy as np
import pytest

from ialspp import IALS, ICD, IALSpp, ImplicitMF, Interactions, SpectralCG


class RanksMadeError(Exception):
    """Raised where somebody asks for the ranks."""


class WithoutRanks(Interactions):
    __slots__ = ()

    @property
    def item_ranks(self):
        raise RanksMadeError


def triples():
    rng = np.random.default_rng(3)
    return {"user": rng.integers(0, 20, 200), "item": rng.integers(0, 30, 200), "weight": rng.random(200)}


@pytest.mark.parametrize("solver", [None, SpectralCG(), IALS(), IALSpp(block_size=3)], ids=str)
def test_a_solver_without_a_cache_makes_no_ranks(solver):
    chosen = {} if solver is None else {"solver": solver}
    model = ImplicitMF(dim=7, epochs=2, **chosen)
    with_ranks = Interactions.from_arrays(**triples())
    vectors = model.fit(WithoutRanks.from_arrays(**triples())).user_factors
    assert np.array_equal(vectors, model.fit(with_ranks).user_factors)


@pytest.mark.parametrize("solver", [ICD(), IALSpp(block_size=3, sweep="block")], ids=str)
def test_a_solver_with_a_cache_makes_them(solver):
    with pytest.raises(RanksMadeError):
        ImplicitMF(dim=7, epochs=2, solver=solver).fit(WithoutRanks.from_arrays(**triples()))


def test_a_rank_is_the_place_in_the_users_row():
    data = Interactions.from_arrays(**triples())
    users = data.by_item.columns
    entries = data.by_user.offsets[users] + data.item_ranks
    assert data.by_user.columns[entries].tolist() == data.by_item.row_numbers.tolist()
    assert sorted(entries) == list(range(len(data)))
    assert data.by_user.weights[entries].tolist() == data.by_item.weights.tolist()
