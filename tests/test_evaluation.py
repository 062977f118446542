import json
import math
import statistics
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import drawn
from support.rankings import (
    AT_K,
    TOLERANCE,
    Fixed,
    asked_about,
    csr,
    expected,
    interactions,
    problems,
    split_of,
)

from ialspp import Evaluation, ImplicitMF, MostPopular, Random, datasets, evaluate, split
from ialspp.evaluation import Score
from ialspp.model import ranking

properties = drawn(60)
CANDIDATE_METRICS = ("recall", "capped_recall", "precision", "hit_rate", "ndcg", "map", "mrr")
SMALL = datasets.Shape(users=300, items=120, interactions=4000)
LIST = ("recall@1", "ndcg@3", "map@2", "mrr@4", "auc", "coverage@2", "novelty@2")


def check(model, made, names):
    """Every metric, per user, its mean and its standard error, as the definitions have it."""
    found = evaluate(model, made, metrics=names)
    users = len(asked_about(made.test))
    assert found.users == users
    assert list(found.scores) == list(names)
    assert set(found.per_user) == {name for name in names if not name.startswith("coverage")}
    for name, values in expected(model, made, names).items():
        score = found[name]
        if name.startswith("coverage"):
            assert score.mean == pytest.approx(values, abs=TOLERANCE)
            assert math.isnan(score.standard_error)
            continue
        assert found.per_user[name].dtype == np.float64
        assert found.per_user[name].tolist() == pytest.approx(values, abs=TOLERANCE)
        assert score.mean == pytest.approx(sum(values) / users, abs=TOLERANCE)
        if users == 1:
            assert math.isnan(score.standard_error)
        else:
            error = statistics.stdev(values) / math.sqrt(users)
            assert score.standard_error == pytest.approx(error, abs=TOLERANCE)
    return found


def bits(found):
    return {name: values.tobytes() for name, values in found.per_user.items()}, repr(found.scores)


def names_of(metrics, ks):
    return [*(f"{metric}@{k}" for metric in metrics for k in ks), "auc"]


ks = st.lists(st.integers(1, 12), min_size=1, max_size=3, unique=True)


@pytest.mark.parametrize("kind", ["known", "strangers"])
@given(data=st.data(), ks=ks)
@properties
def test_every_metric_is_what_its_definition_says(kind, data, ks):
    check(*data.draw(problems(kind)), names_of(AT_K, ks))


@given(problems("candidates"), ks)
@properties
def test_every_metric_among_candidates_is_what_its_definition_says(problem, ks):
    check(*problem, names_of(CANDIDATE_METRICS, ks))


def large(n_users=60, n_items=2200, seed=0, **options):
    """Enough users, items and equal scores for every path of the ranking; some users want nothing."""
    rng = np.random.default_rng(seed)
    users, items, tastes = (rng.integers(-3, 4, (n, 3)) for n in (n_users, n_items, n_items))
    known, wanted = [], []
    for _ in range(n_users):
        drawn = rng.permutation(n_items)[: rng.integers(0, 60)].tolist()
        wanted.append(set(drawn[:12]) if rng.random() < 0.9 else set())
        known.append(set(drawn[12:]))
    return Fixed(users, items, tastes), split_of(known, wanted, n_items, **options)


@pytest.mark.parametrize("train", [None, [{1, 2}, {2, 3}, {2}]], ids=["known", "strangers"])
@pytest.mark.usefixtures("isa")
def test_many_items_and_long_lists_are_ranked_right(train):
    check(*large(train=train), ["recall@100", "map@30", "ndcg@2199", "auc", "coverage@3", "novelty@700"])


def with_candidates():
    rng = np.random.default_rng(5)
    lists = [set(rng.choice(300, 120, replace=False).tolist()) for _ in range(70)]
    model = Fixed(rng.integers(-3, 4, (70, 3)), rng.integers(-3, 4, (300, 3)))
    wanted = [set(sorted(row)[::40]) for row in lists]
    return model, split_of([set(range(300)) - row for row in lists], wanted, 300, candidates=lists)


def bits_of_large(threads, train):
    model, made = large(train=train)
    model.threads = threads
    return bits(evaluate(model, made, metrics=LIST))


@cache
def bits_of_the_first_instruction_set(train):
    return bits_of_large(1, train)


@pytest.mark.parametrize("train", [None, ((1,), (1, 2))], ids=["known", "strangers"])
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.usefixtures("isa")
def test_the_bits_are_the_same_on_any_number_of_threads_and_instruction_set(threads, train):
    assert bits_of_large(threads, train) == bits_of_the_first_instruction_set(train)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.usefixtures("isa")
def test_the_bits_among_candidates_are_the_same_on_any_number_of_threads(threads):
    model, made = with_candidates()
    model.threads = threads
    check(model, made, ["ndcg@10", "map@9", "auc"])
    assert bits(evaluate(model, made)) == bits_among_candidates()


@cache
def bits_among_candidates():
    return bits(evaluate(*with_candidates()))


MODELS = {"fixed": lambda: large(n_users=50)[0], "popular": MostPopular, "random": Random}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
@pytest.mark.parametrize("train", [None, [{1}, {1, 2}]], ids=["known", "strangers"])
def test_the_result_does_not_depend_on_how_many_users_are_ranked_at_once(monkeypatch, model, train):
    _, made = large(n_users=50, train=train)
    at_once = evaluate(model(), made, metrics=LIST)
    monkeypatch.setattr(ranking, "USERS_AT_ONCE", 7)
    assert bits(evaluate(model(), made, metrics=LIST)) == bits(at_once)


def alike():
    """Everybody's ranking is 0, 1, 2, 3."""
    return Fixed([[1]] * 3, [[3], [2], [1], [0]])


def test_more_is_wanted_than_is_shown():
    found = check(
        alike(), split_of([{0}], [{1, 2, 3}], 4), ["recall@1", "capped_recall@1", "ndcg@2", "map@2"]
    )
    assert [score.mean for score in found.scores.values()] == [1 / 3, 1, 1, 1]


def test_more_is_shown_than_there_is():
    names = ["recall@50", "precision@50", "ndcg@50", "mrr@50", "coverage@50", "novelty@50"]
    found = check(alike(), split_of([{0}], [{3}], 4), names)
    assert [found[name].mean for name in names[:4]] == [1, 1 / 50, 1 / math.log2(4), 1 / 3]
    assert found["coverage@50"].mean == 3 / 4


def test_users_of_whom_nothing_is_wanted_are_left_out():
    found = check(alike(), split_of([{0}, {1}, {0}], [{1}, set(), {3}], 4), ["mrr@4"])
    assert found.per_user["mrr@4"].tolist() == [1, 1 / 3]
    assert found.users == 2


def test_what_is_given_to_users_who_are_left_out_is_not_shown():
    found = check(alike(), split_of([{1, 2, 3}, set(range(4))], [{0}, set()], 4), ["coverage@4", "auc"])
    assert found["coverage@4"].mean == 1 / 4


def test_everything_is_wanted():
    names = ["recall@4", "capped_recall@2", "precision@3", "ndcg@4", "map@4", "mrr@1", "auc"]
    found = check(alike(), split_of([set(), set()], [set(range(4))] * 2, 4), names)
    assert {score.mean for score in found.scores.values()} == {1}
    assert {score.standard_error for score in found.scores.values()} == {0}


def test_everything_but_the_one_wanted_is_given():
    found = check(alike(), split_of([{0, 1, 2}], [{3}], 4), ["recall@1", "ndcg@9", "auc", "novelty@3"])
    assert [found[name].mean for name in ("recall@1", "ndcg@9", "auc")] == [1, 1, 1]


def test_what_is_given_cannot_be_wanted():
    with pytest.raises(ValueError, match=r"given"):  # it is never recommended, so no place is right for it
        evaluate(alike(), split_of([{0, 1, 2, 3}], [{2}], 4), metrics=["recall@4"])


def test_scores_that_are_no_numbers_are_an_error():
    nothing = Fixed([[np.nan]], [[3], [2], [1], [0]])
    with pytest.raises(ValueError, match=r"(?i)finite|nan"):  # else the wanted would stand first
        evaluate(nothing, split_of([{0}], [{3}], 4), metrics=["recall@1"])


def test_one_user_has_no_standard_error():
    found = evaluate(alike(), split_of([{0}], [{1}], 4), metrics=["mrr@2", "coverage@1"])
    assert math.isnan(found["mrr@2"].standard_error)
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False)) == {
        "protocol": "by hand",
        "users": 1,
        "metrics": {
            "mrr@2": {"mean": 1.0, "standard_error": None},
            "coverage@1": {"mean": 0.25, "standard_error": None},
        },
    }


def test_an_evaluation_prints_what_it_found():
    found = evaluate(
        alike(), split_of([{0}, {0}], [{1}, {2}], 4), metrics=iter(["mrr@2", "capped_recall@10"])
    )
    assert isinstance(found, Evaluation)
    assert str(found) == (
        "by hand, 2 users\nmrr@2              0.7500 ± 0.2500\ncapped_recall@10   1.0000 ± 0.0000"
    )
    assert found.as_dict()["metrics"]["mrr@2"] == {"mean": 0.75, "standard_error": 0.25}


def test_the_metrics_are_those_of_the_protocol_unless_others_are_asked_for():
    made = split_of([{0}], [{1}], 4)
    assert list(evaluate(alike(), made).scores) == ["recall@2"]
    assert evaluate(alike(), made, metrics=[]).scores == {}
    with pytest.raises(KeyError, match="ndcg@10"):
        evaluate(alike(), made)["ndcg@10"]


def test_a_model_that_is_not_fitted_is_fitted_on_the_training_data():
    made = split.random(datasets.synthetic(SMALL), seed=1)
    model = ImplicitMF(dim=4, epochs=1)
    first = evaluate(model, made)
    assert model.trained_on is made.train
    before = model.user_factors.tobytes()
    assert bits(evaluate(model, made)) == bits(first)
    assert model.user_factors.tobytes() == before


def test_a_model_fitted_on_equal_data_is_welcome():
    made = split_of([{0}, {1}], [{1}, {2}], 4)
    model = Fixed([[1], [1]], [[3], [2], [1], [0]]).fit(interactions([(1, 1), (0, 0)], 2, 4))
    assert evaluate(model, made, metrics=["recall@1"])["recall@1"].mean == 0.5


@pytest.mark.parametrize(
    "data",
    [
        interactions([(0, 0), (1, 1), (1, 2)], 2, 4),
        interactions([(0, 0)], 2, 4),
        interactions([(0, 0), (1, 2)], 2, 4),
        interactions([(0, 0), (1, 1)], 3, 4),
        interactions([(0, 0), (1, 1)], 2, 5),
    ],
    ids=["with an answer", "with less", "with another pair", "with another user", "with another item"],
)
def test_a_model_fitted_on_other_data_is_an_error(data):
    made = split_of([{0}, {1}], [{1}, {2}], 4)
    with pytest.raises(ValueError, match=r"fitted on the split's training data.*which may hold the answers"):
        evaluate(MostPopular().fit(data), made)


def test_validation_users_are_asked_about_on_request():
    made = split.strong(datasets.synthetic(SMALL), held_out=20)
    model = MostPopular().fit(made.train)
    of_both = [evaluate(model, made, on=on) for on in ("validation", "test")]
    for found, part in zip(of_both, (made.validation, made.test), strict=True):
        assert found.users == len(asked_about(part))
        assert list(found.scores) == ["capped_recall@20", "capped_recall@50", "ndcg@100"]
    assert bits(of_both[0]) != bits(of_both[1])
    assert bits(evaluate(model, made)) == bits(of_both[1])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"metrics": "ndcg@10"}, TypeError, "metrics must be a sequence of names, got 'ndcg@10'"),
        ({"on": "train"}, ValueError, 'on must be "test" or "validation", got \'train\''),
        ({"on": "validation"}, ValueError, "a by hand split has no validation users"),
    ],
)
def test_bad_questions_are_errors(options, error, message):
    model = Fixed([[1]], [[1]] * 4)
    with pytest.raises(error, match=message):
        evaluate(model, split_of([{0}], [{1}], 4), **options)
    assert model.trained_on is None  # they are found before anything is fitted


@pytest.mark.parametrize("metric", ["coverage@2", "novelty@2"])
def test_lists_among_candidates_are_an_error(metric):
    train, test = interactions([(0, 0), (1, 1)], 2, 4), interactions([(0, 1)], 2, 4)
    made = split.given_leave_one_out(train, test, csr([{1, 3}, {0}], 4))
    assert evaluate(alike(), made, metrics=["mrr@2"])["mrr@2"].mean == 1
    with pytest.raises(ValueError, match=r"@2 is of rankings of all items; here only candidates are ranked"):
        evaluate(alike(), made, metrics=["mrr@2", metric])


def test_a_score_without_a_standard_error_prints_its_mean():
    assert str(Score(0.1432, math.nan)) == "0.1432"
    assert str(Score(0.1432, 0.001)) == "0.1432 ± 0.0010"
