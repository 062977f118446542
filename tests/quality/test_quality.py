"""Published numbers on real data: MovieLens 1M in the NCF split, leave one out among 99 negatives. Last.fm.

Settings from Rendle et al., "Revisiting the Performance of iALS on Item Recommendation Benchmarks":
d = 192, 12 epochs, lambda 0.007, alpha0 0.3, nu 1. `make test` trains once of each kind, `make quality` every
solver with three seeds, and at a large dimension.
"""

import functools
import json

import numpy as np
import pytest
from support.commands import ialspp

from ialspp import IALS, ICD, IALSpp, ImplicitMF, Objective, SpectralCG, datasets, evaluate
from ialspp.data.weighting import Weighting
from ialspp.split.weighting import weighted_split

SEEDS = (1, 2, 3)
OTHERS = [IALSpp(block_size=16), IALSpp(block_size=64), IALSpp(sweep="block"), ICD(), SpectralCG()]
OBJECTIVE = Objective(unobserved_weight=0.3, regularization=0.007)
METRICS = ("hit_rate@10", "ndcg@10")


@pytest.fixture(scope="module")
def folder(shared_data):
    return shared_data("ncf-ml1m")


@pytest.fixture(scope="module")
def split(folder):
    return datasets.ncf(folder)


def quality(split, solver, seed):
    model = ImplicitMF(dim=192, solver=solver, objective=OBJECTIVE, epochs=12, seed=seed)
    return evaluate(model, split)


@pytest.fixture(scope="module")
def mean_quality(split):
    @functools.cache
    def measure(solver):
        results = [quality(split, solver, seed) for seed in SEEDS]
        mean = [np.mean([result[name].mean for result in results]) for name in METRICS]
        print(f"{solver}: HR@10 {mean[0]:.4f}, NDCG@10 {mean[1]:.4f}")
        return mean

    return measure


@pytest.mark.parametrize("solver", [SpectralCG(), IALSpp()])
def test_one_training_reaches_the_published_quality(split, solver):
    found = quality(split, solver, seed=1)
    assert found["hit_rate@10"].mean >= 0.725
    assert found["ndcg@10"].mean >= 0.448


@pytest.mark.quality
def test_ials_reaches_the_published_quality(mean_quality):
    hit_rate, ndcg = mean_quality(IALS())
    assert hit_rate >= 0.725
    assert ndcg >= 0.448


@pytest.mark.quality
@pytest.mark.parametrize("solver", OTHERS)
def test_the_other_solvers_agree_with_ials(mean_quality, solver):
    assert mean_quality(solver) == pytest.approx(mean_quality(IALS()), abs=0.004)


def places_from_the_files(model, folder):
    """Where each held-out item stands among its negatives, from the files and the factors alone."""
    test = np.loadtxt(folder / "ml-1m.test.rating", dtype=np.int64, usecols=(0, 1))
    negatives = np.loadtxt(folder / "ml-1m.test.negative", dtype=np.int64, usecols=range(1, 100))
    candidates = model.items.rows(np.column_stack([test[:, 1], negatives]).ravel()).reshape(len(test), 100)
    users = model.user_factors[model.users.rows(test[:, 0])]
    scores = np.einsum("ud,ucd->uc", users, model.item_factors[candidates])
    others = candidates[:, 1:] != candidates[:, :1]  # some held-out items are among their own negatives
    assert (~others).any(axis=1).sum() == 156
    assert all(len(set(row)) == 99 for row in negatives.tolist())
    return (others & (scores[:, 1:] >= scores[:, :1])).sum(axis=1)


def test_the_protocol_is_the_published_one(split, folder):
    assert (split.train.n_users, split.train.n_items, len(split.train)) == (6040, 3706, 994_169)
    model = ImplicitMF(dim=16, objective=OBJECTIVE, epochs=2, seed=1)
    found = evaluate(model, split)
    place = places_from_the_files(model, folder)
    hit = place < 10
    assert tuple(found.scores) == METRICS
    assert found.users == len(place) == 6040
    assert found["hit_rate@10"].mean == pytest.approx(hit.mean(), abs=1e-12)
    assert found["ndcg@10"].mean == pytest.approx((hit / np.log2(place + 2)).mean(), abs=1e-12)


def gowalla_quality(shared_data, dim, epochs, solver):
    """Settings from the search in docs/evaluation.md, which was made with few epochs from the paper's start.

    The loss of these settings keeps falling when the quality no longer rises. The default start and
    relaxation are past that point after two epochs.
    """
    parts = datasets.lightgcn(shared_data("gowalla"))
    objective = Objective(unobserved_weight=0.01, regularization=0.004)
    model = ImplicitMF(dim, solver=solver, objective=objective, epochs=epochs, init="random")
    found = evaluate(model, parts)
    print(found)
    return found["recall@20"].mean, found["ndcg@20"].mean


def test_a_small_dimension_on_gowalla(shared_data):
    recall, ndcg = gowalla_quality(shared_data, 64, epochs=4, solver=IALS())
    assert recall >= 0.152  # .154 and .131 were measured
    assert ndcg >= 0.129


@pytest.mark.quality
def test_a_large_dimension_passes_lightgcn_on_gowalla(shared_data):
    """LightGCN's Recall@20 on this split is .1820 (BARS). Here three seeds gave .1829 to .1831."""
    recall, ndcg = gowalla_quality(shared_data, 1024, epochs=4, solver=SpectralCG(relaxation=1))
    assert recall >= 0.1825
    assert ndcg >= 0.150


@pytest.mark.quality
def test_settings_that_were_tuned_for_gowalla(shared_data):
    """What `ialspp tune` found with d = 2048 on validation pairs (docs/how-to/tune.md)."""
    parts = weighted_split(datasets.lightgcn(shared_data("gowalla")), Weighting("none", 0.19, 0.0659))
    objective = Objective(unobserved_weight=0.0104, regularization=0.00863)
    found = evaluate(ImplicitMF(2048, objective=objective, epochs=2), parts)
    assert found["recall@20"].mean >= 0.191  # .1925 and .1625 were measured
    assert found["ndcg@20"].mean >= 0.161


def test_lastfm_needs_no_option_for_good_recommendations(shared_data):
    """Last.fm has play counts, which mislead as they are; its own weights do not."""
    found = ialspp(
        "evaluate", "lastfm", "--path", shared_data("hetrec2011-lastfm-2k"), "--protocol", "random", "--json"
    )
    assert (found.returncode, found.stderr) == (0, "")
    recall = {
        name: metrics["recall@20"]["mean"] for name, metrics in json.loads(found.stdout)["results"].items()
    }
    assert recall["model"] >= 0.28  # .316 was measured
    assert recall["most popular"] < 0.15
