import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import drawn
from support.rankings import Fixed, split_of

from ialspp import ImplicitMF, datasets, evaluate, metrics, split
from ialspp.metrics import Metric, Standings

AT_K = {
    "recall": metrics.recall,
    "capped_recall": metrics.capped_recall,
    "precision": metrics.precision,
    "hit_rate": metrics.hit_rate,
    "ndcg": metrics.ndcg,
    "map": metrics.average_precision,
    "mrr": metrics.reciprocal_rank,
}
properties = drawn(60)
each_metric = pytest.mark.parametrize("metric", AT_K.values(), ids=AT_K.keys())


def standings(*places, ranked=20):
    """Of users whose wanted items stand at these places, no two scores alike."""
    above = np.array([place for row in places for place in row], dtype=np.int32)
    none, lengths = np.zeros_like(above), list(map(len, places))
    return Standings.of(np.cumsum([0, *lengths]), above, none, none, np.full(len(places), ranked))


def one_auc(above, equal, before, ranked):
    counts = (np.array(column, dtype=np.int32) for column in (above, equal, before))
    return metrics.auc(Standings.of(np.array([0, len(above)]), *counts, np.array([ranked]))).tolist()


@pytest.mark.parametrize(
    ("name", "k", "expected"),
    [
        ("recall", 3, [1 / 4, 0, 1 / 2]),
        ("capped_recall", 3, [1 / 3, 0, 1 / 2]),
        ("precision", 3, [1 / 3, 0, 1 / 3]),
        ("hit_rate", 3, [1, 0, 1]),
        ("ndcg", 3, [(1 / 2) / (1 + 1 / math.log2(3) + 1 / 2), 0, 1 / (1 + 1 / math.log2(3))]),
        ("map", 3, [(1 / 3) / 3, 0, 1 / 2]),
        ("mrr", 3, [1 / 3, 0, 1]),
        ("recall", 6, [3 / 4, 1, 1]),
        ("capped_recall", 6, [3 / 4, 1, 1]),
        ("precision", 6, [3 / 6, 1 / 6, 2 / 6]),
        ("hit_rate", 6, [1, 1, 1]),
        ("map", 6, [(1 / 3 + 2 / 4 + 3 / 6) / 4, 1 / 4, (1 + 2 / 5) / 2]),
        ("mrr", 6, [1 / 3, 1 / 4, 1]),
    ],
)
def test_metrics_worked_out_by_hand(name, k, expected):
    found = AT_K[name](standings([5, 2, 9, 3], [3], [0, 4]), k)
    assert found.tolist() == pytest.approx(expected, abs=1e-15)


@each_metric
def test_the_place_k_is_no_hit_and_the_one_before_is(metric):
    found = metric(standings([4], [5]), 5)
    assert found[0] > 0
    assert found[1] == 0


@given(st.lists(st.sets(st.integers(0, 19), min_size=1), min_size=1, max_size=5), st.integers(1, 25))
@properties
def test_metrics_keep_their_bounds(places, k):
    s = standings(*places)
    of = {name: metric(s, k) for name, metric in AT_K.items()}
    for values in (*of.values(), metrics.auc(s)):
        assert values.shape == (len(places),)
        assert ((values >= 0) & (values <= 1 + 1e-12)).all()
    assert (of["recall"] <= of["capped_recall"]).all()
    assert (of["precision"] <= of["capped_recall"]).all()
    assert (of["map"] <= of["capped_recall"] + 1e-12).all()
    assert (of["mrr"] <= of["hit_rate"]).all()
    for name in ("recall", "hit_rate", "mrr"):
        assert (AT_K[name](s, k + 1) >= of[name]).all()


@given(st.sets(st.integers(0, 19), min_size=1), st.integers(1, 25), st.data())
@properties
def test_a_wanted_item_that_moves_up_never_costs(places, k, data):
    free = [place for place in range(max(places)) if place not in places]
    target = data.draw(st.sampled_from(free)) if free else max(places)
    s = standings(places, (places - {max(places)}) | {target})
    for values in (*(metric(s, k) for metric in AT_K.values()), metrics.auc(s)):
        assert values[1] >= values[0] - 1e-12


@given(st.lists(st.integers(1, 12), min_size=1, max_size=4), st.integers(1, 15))
@properties
def test_a_perfect_ranking_has_all_that_can_be_had(sizes, k):
    s = standings(*(range(size) for size in sizes))
    for name in ("capped_recall", "hit_rate", "ndcg", "map", "mrr"):
        assert AT_K[name](s, k) == pytest.approx(np.ones(len(sizes)), abs=1e-12)
    assert (metrics.auc(s) == 1).all()


def test_the_order_in_which_wanted_items_are_listed_does_not_matter():
    a, b = standings([7, 0, 3], [2, 1]), standings([0, 3, 7], [1, 2])
    for metric in AT_K.values():
        assert metric(a, 4).tolist() == metric(b, 4).tolist()
    assert metrics.auc(a).tolist() == metrics.auc(b).tolist()


def test_auc_counts_pairs_and_equal_scores_half():
    assert one_auc([0], [0], [0], 5) == [1]
    assert one_auc([4], [0], [0], 5) == [0]
    assert one_auc([1], [0], [0], 5) == [3 / 4]
    assert one_auc([0], [4], [2], 5) == [1 / 2]  # all alike, wherever the row puts it
    assert one_auc([1], [2], [0], 5) == [1 - (1 + 2 / 2) / 4]


def test_auc_does_not_count_wanted_items_against_each_other():
    assert one_auc([0, 1], [0, 0], [0, 0], 4) == [1]
    assert one_auc([0, 0], [1, 1], [0, 1], 4) == [1]
    assert one_auc([1, 1], [2, 2], [0, 2], 4) == [1 - (1 + 1 + 2 * 0.5) / 4]
    assert one_auc([0, 1, 2], [0, 0, 0], [0, 0, 0], 3) == [1]  # there is nothing else


def test_coverage_and_novelty_are_of_the_lists_that_are_shown():
    best = np.array([[0, 1], [1, -1], [-1, -1]], dtype=np.int32)
    assert metrics.coverage(best, 8) == 1 / 4
    popularity = np.array([1 / 2, 1 / 8, *[1.0] * 6])
    assert metrics.novelty(best, popularity).tolist() == [(1 + 3) / 2, 3, 0]


@pytest.mark.parametrize("name", [*AT_K, "coverage", "novelty"])
@pytest.mark.parametrize("k", [1, 10, 12345])
def test_a_metric_is_read_from_its_name(name, k):
    metric = Metric.parse(f"{name}@{k}")
    assert (metric.name, metric.k, str(metric)) == (name, k, f"{name}@{k}")
    assert metric.of_lists == (name in ("coverage", "novelty"))


def test_the_names_are_all_there_are():
    assert set(metrics.NAMES) == {*(f"{name}@k" for name in (*AT_K, "coverage", "novelty")), "auc"}
    assert (Metric.parse("auc").k, str(Metric.parse("auc"))) == (None, "auc")


@pytest.mark.parametrize(
    "name",
    [
        *("recall", "recall@0", "recall@-1", "recall@05", "recall@1.5", "recall@k", "recall@", "Recall@5"),
        *(
            " recall@5",
            "recall@5\n",
            "recall@٣",
            "recall@5@5",
            "auc@5",
            "auc@",
            "AUC",
            "foo@3",
            "foo",
            "@5",
            "",
        ),
    ],
)
def test_a_name_that_means_nothing_is_an_error_that_lists_those_that_do(name):
    made = split_of([{0}], [{1}], 3)
    with pytest.raises(
        ValueError, match=r"one of recall@k, .*ndcg@k.*, auc, with a number for k, got "
    ) as found:
        evaluate(Fixed([[1]], [[1]] * 3), made, metrics=["ndcg@2", name])
    assert str(found.value).partition(";")[0].endswith(repr(name))


# As Liang et al. (2018) published them, on dense scores with what is given at minus infinity.


def ndcg_of_batch(scores, wanted, k):
    users = np.arange(len(scores))[:, None]
    some = np.argpartition(-scores, k, axis=1)[:, :k]
    best = some[users, np.argsort(-scores[users, some], axis=1)]
    discounts = 1 / np.log2(np.arange(2, k + 2))
    ideal = np.array([discounts[: min(int(n), k)].sum() for n in wanted.sum(axis=1)])
    return (wanted[users, best] * discounts).sum(axis=1) / ideal


def recall_of_batch(scores, wanted, k):
    shown = np.zeros_like(wanted)
    np.put_along_axis(shown, np.argpartition(-scores, k, axis=1)[:, :k], True, axis=1)
    return (shown & wanted).sum(axis=1) / np.minimum(k, wanted.sum(axis=1))


def dense(data):
    cells = np.zeros((data.n_users, data.n_items), dtype=bool)
    cells[data.by_user.row_numbers, data.by_user.columns] = True
    return cells


@pytest.mark.parametrize("on", ["test", "validation"])
def test_the_numbers_are_those_of_the_published_functions(on):
    made = split.strong(datasets.synthetic("ml20m", scale=0.01), held_out=50)
    model = ImplicitMF(dim=8, epochs=2).fit(made.train, progress=False)
    found = evaluate(model, made, on=on)
    part = made.test if on == "test" else made.validation
    scores = model.fold_in_rows(part.given.by_user) @ model.item_factors.T
    scores[dense(part.given)] = -np.inf
    wanted = dense(part.wanted)
    asked = wanted.any(axis=1)
    published = {
        "capped_recall@20": recall_of_batch(scores[asked], wanted[asked], 20),
        "capped_recall@50": recall_of_batch(scores[asked], wanted[asked], 50),
        "ndcg@100": ndcg_of_batch(scores[asked], wanted[asked], 100),
    }
    assert list(found.scores) == list(published)
    assert found.users == asked.sum() > 40
    for name, values in published.items():
        assert found.per_user[name] == pytest.approx(values, abs=1e-6)
        assert found[name].mean == pytest.approx(values.mean(), abs=1e-6)
        assert found[name].standard_error == pytest.approx(
            values.std(ddof=1) / math.sqrt(len(values)), abs=1e-6
        )
