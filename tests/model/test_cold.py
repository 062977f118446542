"""Users about whom nothing is known get the most popular items, and their rankings say so."""

import copy
import pickle
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from support.forged import changed, rewrite
from support.models import ITEMS, N_ITEMS, N_USERS, fitted, make_data, make_model, seen

from ialspp import ImplicitMF, Interactions, MostPopular, store
from ialspp.solvers import SOLVERS

COLD = [N_USERS - 3, N_USERS - 2, N_USERS - 1]  # have no interactions


@cache
def model():
    return fitted()


def popular(allowed=ITEMS, k=10, data=None):
    """The best of some items, and their numbers of users, counted one pair at a time."""
    rows = (make_data() if data is None else data).by_user
    users = dict.fromkeys(ITEMS, 0)
    for row in range(len(rows)):
        for column in rows.columns_of(row):
            users[ITEMS[column]] += 1
    best = sorted(allowed, key=lambda item: (-users[item], ITEMS.index(item)))[:k]
    return best, [users[item] for item in best]


def check(ranking, expected):
    assert (list(ranking), ranking.scores) == expected
    assert ranking.fallback is True
    assert ranking[:2].fallback is True


def test_users_without_interactions():
    for user in COLD:
        check(model().recommend(user), popular())
        check(model().recommend(user, exclude_seen=False), popular())
    everyone = model().recommend(k=N_ITEMS)
    assert everyone.fallback.dtype == bool
    assert np.flatnonzero(everyone.fallback).tolist() == COLD
    check(everyone[-1], popular(k=N_ITEMS))
    assert [r.fallback for r in everyone] == everyone.fallback.tolist()
    assert everyone[COLD[0] - 1 :].fallback.tolist() == [False, True, True, True]


@pytest.mark.parametrize("solver", ["ials", "ials++", "spectral", "icd"])
@pytest.mark.parametrize("epochs", [0, 1])
def test_users_without_interactions_are_cold_from_the_first_epoch_on(solver, epochs):
    trained = fitted(solver=SOLVERS[solver](), epochs=epochs, init="random")
    assert np.flatnonzero(trained.recommend(k=3).fallback).tolist() == COLD
    check(trained.recommend(COLD[0], 3), popular(k=3))


def test_empty_histories():
    rankings = model().recommend_for([[], ["item-3", "item-4"], iter(())], 6)
    assert rankings.fallback.tolist() == [True, False, True]
    check(rankings[0], popular(k=6))
    check(rankings[2], popular(k=6))
    assert rankings[1] == model().recommend_for([["item-3", "item-4"]], 6)[0]


def test_histories_that_say_nothing():
    unused = ITEMS[-1]  # that nobody has, so its vector is zero
    rankings = model().recommend_for([[unused], ["item-3"], ["gone"]], 5, unknown="skip")
    assert rankings.fallback.tolist() == [True, False, True]
    check(rankings[0], popular(set(ITEMS) - {unused}, 5))
    check(rankings[2], popular(k=5))
    [ranking] = model().recommend_for([["item-3", "item-4"]], 5, weights=[[0, 0]])
    check(ranking, popular(set(ITEMS) - {"item-3", "item-4"}, 5))
    [ranking] = model().recommend_for([["item-3"]], 5, weights=[[0]], exclude_seen=False)
    check(ranking, popular(k=5))


def test_new_users_of_nothing_but_new_items_until_the_next_fit():
    trained = fitted(make_data(numbers=()))
    trained.update(Interactions.from_arrays(user=[777, 777, 3], item=["new", "newer", "item-5"]))
    ranking = trained.recommend(777, N_ITEMS)
    assert ranking.fallback
    assert "new" not in ranking
    counts = dict(zip(trained.items, trained.trained_on.by_item.counts.tolist(), strict=True))
    assert ranking.scores == [counts[item] for item in ranking] == sorted(ranking.scores, reverse=True)


@pytest.mark.parametrize("k", [0, 1, 5, 10**6])
def test_candidates_and_exclusions_apply(k):
    few, never = ITEMS[4:20], ITEMS[10:15]
    allowed = set(few) - set(never)
    mask = np.isin(np.array(ITEMS), few)
    for candidates in few, mask, [few], [mask]:
        for exclude in never, [never]:
            options = {"candidates": candidates, "exclude": exclude}
            check(model().recommend(COLD[0], k, **options), popular(allowed, k))
            [ranking] = model().recommend_for([[]], k, **options)
            check(ranking, popular(allowed, k))
    found = model().recommend([3, COLD[0], COLD[1]], k, candidates=[ITEMS[:3], ITEMS[3:9], []])
    assert found.fallback.tolist() == [False, True, True]
    check(found[1], popular(ITEMS[3:9], k))
    check(found[2], ([], []))
    assert set(found[0]) <= set(ITEMS[:3]) - seen(make_data(), 3)


def test_a_table_says_which_are_fallbacks():
    frame = model().recommend([3, COLD[0]], 4).to_frame()
    assert frame.schema["fallback"] == pl.Boolean
    assert frame["fallback"].to_list() == [False] * 4 + [True] * 4
    warm = model().recommend([3], 4).to_frame()
    assert warm["fallback"].to_list() == [False] * 4
    assert warm.schema == frame.schema == model().recommend([]).to_frame().schema
    assert "fallback" not in model().similar_users([3, COLD[0]]).to_frame().columns
    assert not model().similar_users([3, COLD[0]]).fallback.any()


def test_popularity_counts_users_whatever_the_weights():
    data = Interactions.from_arrays(
        user=[1, 2, 3], item=["b", "b", "a"], weight=[1, 1, 9], label=[1, 1, 5], users=[1, 2, 3, 4]
    )
    ranking = fitted(data, dim=2).recommend(4)
    assert (ranking, ranking.scores, ranking.fallback) == (["b", "a"], [2, 1], True)


def test_the_same_on_any_threads_and_from_a_file(tmp_path):
    wanted = model().recommend(k=7)
    model().save(tmp_path / "m.ialspp")
    for other in fitted(threads=1), fitted(threads=7), ImplicitMF.load(tmp_path / "m.ialspp"):
        found = other.recommend(k=7)
        assert found.rows.tobytes() == wanted.rows.tobytes()
        assert found.scores.tobytes() == wanted.scores.tobytes()
        assert found.fallback.tolist() == wanted.fallback.tolist()


def bare_file(path, model):
    model.save(path, interactions=False)
    return path.read_bytes()


def test_a_file_without_interactions_knows_popular_items(tmp_path):
    path = tmp_path / "m.ialspp"
    bare_file(path, model())
    for _ in range(2):
        bare = ImplicitMF.load(path)
        rankings = bare.recommend([3, COLD[0]], 4, exclude_seen=False)
        assert rankings[0] == model().recommend(3, 4, exclude_seen=False)
        check(rankings[1], popular(k=4))
        assert rankings.fallback.tolist() == [False, True]
        found = bare.recommend_for([[], ["item-3"]], 4, candidates=["item-1", "item-2"])
        check(found[0], popular(["item-1", "item-2"]))
        assert found[1] == model().recommend_for([["item-3"]], 4, candidates=["item-1", "item-2"])[0]
        check(bare.recommend(1000, 3, unknown="skip"), popular(k=3))
        check(copy.deepcopy(bare).recommend_for([[]], 3)[0], popular(k=3))
        bare.save(path, interactions=False)  # and so does a copy of the file
    with_pairs = tmp_path / "whole.ialspp"
    model().save(with_pairs)
    assert "item_counts" not in store.info(with_pairs)["arrays"]


def test_an_old_file_without_interactions_has_no_popular_items(tmp_path):
    path = tmp_path / "m.ialspp"
    bare = ImplicitMF.load(rewrite(path, bare_file(path, model()), "arrays/item_counts", None))
    rankings = bare.recommend([3, COLD[0]], 4, exclude_seen=False)
    check(rankings[1], ([], []))
    assert rankings.fallback.tolist() == [False, True]
    assert rankings.to_frame()["user"].to_list() == [3] * 4
    check(bare.recommend(1000, unknown="skip"), ([], []))
    bare.save(path, interactions=False)
    assert "item_counts" not in store.info(path)["arrays"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda counts: counts[1:], "must have .* entries"),
        (lambda counts: counts.astype(np.int64), "must be int32"),
        (changed(2, -1), "an item must have 0 to .* users"),
        (changed(2, N_USERS + 1), "an item must have 0 to .* users"),
    ],
)
def test_counts_of_a_forged_file_are_verified(tmp_path, value, message):
    path = tmp_path / "m.ialspp"
    rewrite(path, bare_file(path, model()), "arrays/item_counts", value)
    with pytest.raises(store.StoreError, match=message):
        ImplicitMF.load(path)


# The file that golden/make_counts.py made once; whatever changes, it can be read


def test_a_golden_file_without_interactions_has_counts_and_names():
    golden = Path(__file__).parents[1] / "golden" / "model-v2-counts.ialspp"
    loaded = ImplicitMF.load(golden, verify=True)
    ranking = loaded.recommend_for([[]])[0]
    check(ranking, ([500, 3, 40, 2**40], [4, 3, 3, 3]))  # counted by hand in make.py
    assert ranking.names == [None, "Amélie", "Toy Story (1995)", "two\nlines"]


def test_popularity_follows_updates_and_fits():
    trained = fitted(make_data(numbers=()))
    assert trained.recommend(COLD[0], 1).fallback
    crowd = Interactions.from_arrays(user=range(1000, 1100), item=["item-9"] * 100)
    trained.update(crowd)
    assert trained.recommend(COLD[0], 1) == ["item-9"]
    trained.fit(make_data(seed=5), progress=False)
    check(trained.recommend(COLD[0], 5), popular(k=5, data=make_data(seed=5)))


def test_a_copy_falls_back_too():
    trained = fitted()
    trained.recommend(COLD[0])  # so that there are counts to copy
    for other in copy.deepcopy(trained), pickle.loads(pickle.dumps(trained)):
        check(other.recommend(COLD[0]), popular())


def test_in_a_callback_while_the_model_is_fitted():
    found = []

    def ask(model, _):
        found.append(model.recommend(COLD[0], 3))

    make_model().fit(make_data(), callbacks=[ask], progress=False)
    assert len(found) == 3
    for ranking in found:
        check(ranking, popular(k=3))


# The baseline


def test_the_most_popular_to_everyone():
    baseline = MostPopular().fit(make_data())
    everyone = baseline.recommend(k=6)
    assert everyone.asked == list(range(N_USERS))
    assert not everyone.fallback.any()
    for user, ranking in enumerate(everyone):
        items, counts = popular(set(ITEMS) - seen(make_data(), user), 6)
        assert (ranking, ranking.scores) == (items, counts)
        assert baseline.recommend(user, 6) == ranking
    assert baseline.recommend([3, 1], 6, exclude_seen=False) == [popular(k=6)[0]] * 2
    few = {"candidates": ITEMS[:12], "exclude": ["gone", "item-2"], "unknown": "skip"}
    ranking = baseline.recommend(COLD[0], 6, **few)
    assert (list(ranking), ranking.fallback) == (popular(set(ITEMS[:12]) - {"item-2"}, 6)[0], False)
    assert ranking.skipped.exclude.count == 1
    assert everyone.to_frame().schema == model().recommend().to_frame().schema


def test_the_most_popular_for_histories():
    baseline = MostPopular().fit(make_data())
    found = baseline.recommend_for([[], ITEMS[:9]], 5, weights=[[], range(9)], labels=[[], range(9)])
    assert found == [popular(k=5)[0], popular(ITEMS[9:], 5)[0]]
    assert not found.fallback.any()
    assert found.asked == [0, 1]
