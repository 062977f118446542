"""Published numbers on real data: MovieLens 1M in the NCF split, leave one out among 99 negatives.

Settings from Rendle et al., "Revisiting the Performance of iALS on Item Recommendation Benchmarks":
d = 192, 12 epochs, lambda 0.007, alpha0 0.3, nu 1. Means over three seeds.
"""

import functools

import numpy as np
import pytest

from ialspp import IALS, ICD, IALSpp, ImplicitMF, Interactions, Objective, SpectralCG

SEEDS = (1, 2, 3)
OTHERS = [IALSpp(block_size=16), IALSpp(block_size=64), IALSpp(sweep="block"), ICD(), SpectralCG()]


@pytest.fixture(scope="module")
def split(shared_data):
    folder = shared_data("ncf-ml1m")
    train = np.loadtxt(folder / "ml-1m.train.rating", dtype=np.int64, usecols=(0, 1))
    test = np.loadtxt(folder / "ml-1m.test.rating", dtype=np.int64, usecols=(0, 1))
    negatives = np.loadtxt(folder / "ml-1m.test.negative", dtype=np.int64, usecols=range(1, 100))
    n_items = 1 + max(train[:, 1].max(), test[:, 1].max(), negatives.max())
    data = Interactions.from_arrays(user=train[:, 0], item=train[:, 1], items=range(n_items))
    return data, test, negatives


def hit_rate_and_ndcg(model, test, negatives, k=10):
    users = model.user_factors[model.users.rows(test[:, 0])]
    candidates = np.column_stack([test[:, 1], negatives])
    scores = np.einsum("ud,ucd->uc", users, model.item_factors[candidates])
    rank = (scores[:, 1:] >= scores[:, :1]).sum(axis=1)
    hit = rank < k
    return hit.mean(), (hit / np.log2(rank + 2)).mean()


@pytest.fixture(scope="module")
def mean_quality(split):
    data, test, negatives = split

    @functools.cache
    def measure(solver):
        results = [
            hit_rate_and_ndcg(
                ImplicitMF(
                    dim=192,
                    solver=solver,
                    objective=Objective(unobserved_weight=0.3, regularization=0.007),
                    epochs=12,
                    seed=seed,
                ).fit(data),
                test,
                negatives,
            )
            for seed in SEEDS
        ]
        mean = np.mean(results, axis=0)
        print(f"{solver}: HR@10 {mean[0]:.4f}, NDCG@10 {mean[1]:.4f}")
        return mean

    return measure


def test_ials_reaches_the_published_quality(mean_quality):
    hit_rate, ndcg = mean_quality(IALS())
    assert hit_rate >= 0.725
    assert ndcg >= 0.448


@pytest.mark.parametrize("solver", OTHERS)
def test_the_other_solvers_agree_with_ials(mean_quality, solver):
    assert mean_quality(solver) == pytest.approx(mean_quality(IALS()), abs=0.004)
