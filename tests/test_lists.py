"""Lists of items that any program made, evaluated on a split."""

import numpy as np
import pytest
from support.models import make_model

from ialspp import ImplicitMF, Interactions, MostPopular, evaluate, evaluate_lists, split
from ialspp.errors import InvalidTypeError, InvalidValueError, UnknownIdError

METRICS = ("recall@9", "capped_recall@3", "precision@20", "hit_rate@1", "ndcg@20", "map@20", "mrr@20")
OF_ALL_ITEMS = ("coverage@9", "novelty@20")


def log():
    rng = np.random.default_rng(0)
    user, item = rng.integers(0, 90, 1500), rng.integers(0, 60, 1500) % rng.integers(1, 60, 1500)
    return Interactions.from_arrays(user=user, item=item, time=rng.integers(0, 10**6, 1500))


SPLITS = {
    "random": split.random(log()),
    "last-days": split.last_days(log(), 3),
    "strong": split.strong(log()),
    "leave-one-out": split.leave_one_out(log(), negatives=20),
}


def lists_of(model, part):
    """All items for each user, those that are given of them among them, best first."""
    if not part.unseen:
        return model.recommend(k=10**6, exclude_seen=False)
    histories = [part.given.items.named(part.given.by_user.columns_of(u)) for u in range(part.given.n_users)]
    ranked = model.recommend_for(histories, k=10**6, exclude_seen=False)
    return {user: list(ranking) for user, ranking in zip(part.given.users, ranked, strict=True)}


@pytest.mark.parametrize("make", [lambda: make_model(dim=8), MostPopular])
@pytest.mark.parametrize("name", SPLITS)
def test_a_models_own_lists_have_its_metrics(name, make):
    parts, names = SPLITS[name], METRICS if name == "leave-one-out" else METRICS + OF_ALL_ITEMS
    model = make().fit(parts.train, progress=False)
    wanted = evaluate(model, parts, metrics=names, progress=False)
    found = evaluate_lists(lists_of(model, parts.test), parts, metrics=names)
    assert found.users == wanted.users
    assert found.user_ids == wanted.user_ids
    for metric in names:
        assert found[metric].mean == pytest.approx(wanted[metric].mean, rel=1e-12)
    for metric, values in wanted.per_user.items():
        np.testing.assert_allclose(found.per_user[metric], values, rtol=1e-12)


def test_what_is_behind_the_end_of_a_list_is_no_hit():
    train = Interactions.from_arrays(user=["a", "b", "c"], item=[1, 1, 1], items=range(1, 7))
    test = Interactions.from_arrays(user=["a", "a", "b", "c"], item=[2, 3, 4, 5])
    lists = {"a": np.array([1, 3, 6]), "b": (), "c": [6, 2, 5], "nobody": ["what?"]}
    found = evaluate_lists(lists, split.given(train, test), metrics=["recall@1", "recall@3", "coverage@2"])
    assert found.per_user["recall@1"].tolist() == [0.5, 0, 0]  # 1 is given, so 3 is the first
    assert found.per_user["recall@3"].tolist() == [0.5, 0, 1]
    assert found["coverage@2"].mean == pytest.approx(3 / 6)
    assert found.to_frame().rows() == [("a", 0.5, 0.5), ("b", 0.0, 0.0), ("c", 0.0, 1.0)]


def parts_of_two():
    train = Interactions.from_arrays(user=["a", "b"], item=[1, 2], items=[1, 2, 3])
    return split.given(train, Interactions.from_arrays(user=["a", "b"], item=[2, 3]))


@pytest.mark.parametrize(
    ("lists", "error", "message"),
    [
        ([[2], [3]], InvalidTypeError, "lists must be Rankings, or a mapping .* got list"),
        ({"a": [2]}, InvalidValueError, "1 of 2 have none, such as 'b'"),
        ({"a": [2], "b": 3}, InvalidTypeError, "user 'b' has 3"),
        ({"a": [2], "b": "3"}, InvalidTypeError, "user 'b' has '3'"),
        ({"a": [2], "b": {3: 0.5}}, InvalidTypeError, "user 'b' has {3: 0.5}"),
        ({"a": [2], "b": {3}}, InvalidTypeError, r"best first, but user 'b' has \{3\}"),
        ({"a": [2], "b": [3, 4]}, UnknownIdError, "items of the training data; unknown item: 4"),
        ({"a": ["2"], "b": ["3"]}, UnknownIdError, "these are strings"),
        ({"a": [2, 3, 2], "b": []}, InvalidValueError, "that of user 'a' has 2 twice"),
    ],
)
def test_lists_that_cannot_be_evaluated_are_errors(lists, error, message):
    with pytest.raises(error, match=message):
        evaluate_lists(lists, parts_of_two())


def test_a_metric_of_all_items_is_refused():
    with pytest.raises(InvalidValueError, match="auc is of all items"):
        evaluate_lists({"a": [], "b": []}, parts_of_two(), metrics=["auc"])


def test_what_is_no_model_is_led_to_lists():
    for other in (object(), ImplicitMF, {"a": [2]}):
        with pytest.raises(InvalidTypeError, match=r"model must be an ImplicitMF.*evaluate_lists"):
            evaluate(other, parts_of_two())


def test_each_user_has_an_id_and_a_name():
    parts = SPLITS["random"]
    found = evaluate(make_model(), parts, metrics=["recall@5", "coverage@5"], progress=False)
    rows = np.flatnonzero(parts.test.wanted.by_user.counts)
    assert found.user_ids == parts.test.wanted.users.named(rows)
    table = found.to_frame()
    assert table.columns == ["user", "recall@5"]
    assert table["recall@5"].to_list() == found.per_user["recall@5"].tolist()
    named = split.random(log().with_names(users={0: "Zoe"}))
    assert "Zoe" in evaluate(make_model(), named, progress=False).to_frame()["user_name"].to_list()


def test_a_metric_that_was_not_evaluated_is_an_error_that_lists_the_others():
    found = evaluate(make_model(), SPLITS["random"], metrics=["recall@5"], progress=False)
    with pytest.raises(KeyError, match=r"no metric 'recall@50' was evaluated; there are recall@5$"):
        found["recall@50"]
    assert found == found
    assert found != evaluate(make_model(), SPLITS["random"], metrics=["recall@5"], progress=False)
