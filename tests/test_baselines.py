import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import drawn
from support.rankings import Fixed, csr, expected, interactions, problems, split_of

from ialspp import ImplicitMF, Interactions, MostPopular, NotFittedError, Random, datasets, evaluate, split

SMALL = datasets.Shape(users=1500, items=300, interactions=30_000)
NAMES = ["recall@2", "ndcg@3", "map@4", "mrr@9", "auc", "coverage@2", "novelty@2"]
STRANGERS = pytest.mark.parametrize("strangers", [False, True], ids=["known", "strangers"])
BASELINES = pytest.mark.parametrize("model", [MostPopular, Random])
properties = drawn(40)


def one_wanted(items, n_items, strangers, *, trained=((0,),)):
    """For each of `items` a user who has nothing and wants it; others have been trained on."""
    train = [set(row) for row in trained]
    if strangers:
        return split_of([set()] * len(items), [{i} for i in items], n_items, train=train)
    nothing = [set()] * len(items)
    return split_of([*nothing, *train], [*({i} for i in items), *([set()] * len(train))], n_items)


def places(model, made):
    """Where the one wanted item of each user stands, counted from 1."""
    k = made.train.n_items
    return (1 / evaluate(model, made, metrics=[f"mrr@{k}"]).per_user[f"mrr@{k}"]).round().astype(int).tolist()


@STRANGERS
def test_the_most_popular_come_first_and_equal_ones_by_row(strangers):
    trained = [{1, 2, 4}, {2, 4}, {2, 4, 5}]  # counts 0 1 3 0 3 1
    assert places(MostPopular(), one_wanted(range(6), 6, strangers, trained=trained)) == [5, 3, 1, 6, 2, 4]


@pytest.mark.parametrize("kind", ["known", "strangers"])
@given(data=st.data())
@properties
def test_the_most_popular_are_ranked_by_their_counts(kind, data):
    _, made = data.draw(problems(kind))
    counts = [[len(made.train.by_item.columns_of(item))] for item in range(made.train.n_items)]
    by_hand = Fixed([[1]] * made.train.n_users, counts)
    by_hand.fold_in_rows = lambda rows: np.ones((len(rows), 1), dtype=np.float32)
    found = evaluate(MostPopular(), made, metrics=NAMES)
    for name, values in expected(by_hand, made, NAMES).items():
        of_each = found[name].mean if name.startswith("coverage") else found.per_user[name].tolist()
        assert of_each == pytest.approx(values, abs=1e-12)


def test_popularity_counts_users_whatever_the_weights():
    data = Interactions.from_arrays(user=[1, 2, 3], item=["b", "b", "a"], weight=[1, 1, 9], label=[1, 1, 5])
    assert MostPopular().fit(data).item_factors.tolist() == [[1], [2]]


@STRANGERS
def test_a_seed_gives_one_order_and_another_seed_another(strangers):
    made = one_wanted(range(50), 50, strangers)
    a, b, c = (places(Random(seed), made) for seed in (3, 3, 4))
    assert a == b
    assert a != c
    assert places(Random(), made) == places(Random(0), made)


@STRANGERS
def test_random_orders_do_not_depend_on_the_data(strangers):
    made = [
        one_wanted(range(50), 50, strangers, trained=trained)
        for trained in ([{1, 2}, {3}], [set(range(40)), {0}])
    ]
    assert places(Random(), made[0]) == places(Random(), made[1])


@STRANGERS
def test_random_users_have_orders_of_their_own(strangers):
    same_item = places(Random(), one_wanted([7] * 200, 100, strangers))
    assert len(set(same_item)) > 60  # of 87 expected


@pytest.mark.parametrize("seed", range(3))
@STRANGERS
def test_random_finds_k_of_n(strangers, seed):
    rng = np.random.default_rng(100 + seed)
    made = one_wanted(rng.integers(0, 400, 6000).tolist(), 400, strangers)
    found = evaluate(Random(seed), made, metrics=["hit_rate@20", "hit_rate@100", "recall@20", "auc"])
    for name, share in (("hit_rate@20", 0.05), ("hit_rate@100", 0.25), ("recall@20", 0.05), ("auc", 0.5)):
        score = found[name]
        assert score.mean == pytest.approx(share, abs=5 * score.standard_error)


@pytest.mark.parametrize("seed", range(3))
@STRANGERS
def test_random_favours_no_item(strangers, seed):
    n_items, users, k = 100, 200, 5
    made = one_wanted(np.repeat(np.arange(n_items), users).tolist(), n_items, strangers)
    hits = evaluate(Random(seed), made, metrics=["hit_rate@5"]).per_user["hit_rate@5"]
    of_each_item = hits.reshape(n_items, users).sum(axis=1)
    share = k / n_items
    variance = ((of_each_item - users * share) ** 2).mean()
    assert variance < 1.6 * users * share * (1 - share)  # 1 +- 0.14 by chance alone


def splits_of(data):
    return {"strong": split.strong(data, held_out=100), "random": split.random(data)}


def in_groups(users=400, groups=5, per_group=20, per_user=8):
    """Users who have items of their own group only; every group is as popular as the others."""
    rng = np.random.default_rng(1)
    items = [rng.choice(per_group, per_user, replace=False) + per_group * (u % groups) for u in range(users)]
    pairs = [(user, item) for user, row in enumerate(items) for item in row.tolist()]
    return interactions(pairs, users, groups * per_group)


@pytest.mark.parametrize("kind", ["strong", "random"])
def test_a_model_beats_the_popular_where_there_is_taste(kind):
    made = splits_of(in_groups())[kind]
    for name in ("recall@20", "ndcg@20", "auc"):
        popular, model = (
            evaluate(m, made, metrics=[name])[name] for m in (MostPopular(), ImplicitMF(dim=8, epochs=6))
        )
        assert model.mean > popular.mean + 5 * (model.standard_error + popular.standard_error)


@pytest.mark.parametrize("kind", ["strong", "random"])
def test_the_popular_beat_chance_where_popularity_differs(kind):
    made = splits_of(datasets.synthetic(SMALL))[kind]
    popular, chance = (
        evaluate(model, made, metrics=["recall@20", "ndcg@20", "auc", "coverage@20", "novelty@20"])
        for model in (MostPopular(), Random())
    )
    for name in ("recall@20", "ndcg@20", "auc"):
        least = 3 * (popular[name].standard_error + chance[name].standard_error)
        assert popular[name].mean > chance[name].mean + least
    assert chance["auc"].mean == pytest.approx(0.5, abs=5 * chance["auc"].standard_error)
    assert popular["novelty@20"].mean < chance["novelty@20"].mean - 1
    assert popular["coverage@20"].mean < 0.2 < 0.95 < chance["coverage@20"].mean


def test_where_all_are_equally_popular_popularity_says_nothing():
    everything = [set(range(8))]
    made = one_wanted(range(8), 8, True, trained=everything)
    assert places(MostPopular(), made) == list(range(1, 9))
    assert evaluate(MostPopular(), made, metrics=["auc"]).per_user["auc"].tolist() == [0.5] * 8


@BASELINES
@STRANGERS
def test_baselines_rank_candidates_too(model, strangers):
    train = [{0}, {0, 1}] if strangers else None
    made = split_of([{0}, {0, 1}], [{3}, {2}], 6, train=train, candidates=[{1, 3}, {2, 4, 5}])
    found = evaluate(model(), made, metrics=["mrr@3"]).per_user["mrr@3"]
    assert set(found.tolist()) <= {1, 1 / 2, 1 / 3}


@BASELINES
def test_evaluating_fits_a_baseline_and_another_fit_replaces_it(model):
    a, b = (interactions(pairs, 2, 3) for pairs in ([(0, 0)], [(0, 1), (1, 2)]))
    made = model()
    assert made.trained_on is None
    evaluate(made, split.given(a, interactions([(1, 2)], 2, 3)))
    assert made.trained_on is a
    assert made.fit(b) is made
    assert made.trained_on is b
    assert made.user_factors.dtype == made.item_factors.dtype == np.float32
    assert (len(made.user_factors), len(made.item_factors)) == (2, 3)
    assert made.user_factors.shape[1] == made.item_factors.shape[1]


@BASELINES
def test_strangers_get_a_vector_each(model):
    made = model().fit(interactions([(0, 0)], 1, 3))
    for rows in ([], [{0}], [{0}, set(), {1, 2}]):
        assert made.fold_in_rows(csr(rows, 3)).shape == (len(rows), made.item_factors.shape[1])


@BASELINES
@pytest.mark.parametrize("side", ["user_factors", "item_factors"])
def test_what_is_not_fitted_has_no_vectors(model, side):
    with pytest.raises(NotFittedError, match=r"not fitted; call fit\(data\) first"):
        getattr(model(), side)


def test_strangers_need_no_fit():
    rows = csr([{0}, {1}], 3)
    assert MostPopular().fold_in_rows(rows).tolist() == [[1], [1]]
    assert len(set(Random().fold_in_rows(rows)[:, 0].tolist())) == 2


@pytest.mark.parametrize(
    ("seed", "error", "message"),
    [
        (-1, ValueError, "seed must be at least 0, got -1"),
        (1.5, TypeError, "seed must be an integer, got 1.5"),
    ],
)
def test_bad_seeds_are_errors(seed, error, message):
    with pytest.raises(error, match=message):
        Random(seed)


def test_baselines_print_how_they_were_made():
    assert (repr(MostPopular()), repr(Random(7))) == ("MostPopular()", "Random(seed=7)")
