"""Unknown ids that are skipped: answers are those of a query without them, and the result counts them."""

import json
import pickle
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.models import ITEMS, N_USERS, fitted

from ialspp import Interactions, MostPopular, Ranking, Rankings, UnknownIdError
from ialspp.data.ids import IdMap
from ialspp.model.skipped import Skipped, SkippedIds

BIG = 2**53
KINDS = {
    "integers": ([3, 5, 8, 13], [4, -1, 2**63 - 1]),
    "beyond 2^53": ([BIG, BIG + 2, BIG + 4, 2**63 - 1], [BIG + 1, BIG + 3, 2**63 - 2]),
    "beyond 64 bits": ([2**70, 2**70 + 2, -(2**80), 1], [2**70 + 1, 2**71, 0]),
    "unsigned": ([2**64 - 1, 2**63, 7, 9], [2**64 - 2, 2**63 + 1, 8]),
    "strings": (["", "a\0", "naïve 😀", "1"], ["a", " ", "\n"]),
}
FORMS = {
    "list": list,
    "tuple": tuple,
    "iterator": iter,
    "numpy": lambda ids: np.array(ids, dtype=dtype_of(ids)),
    "objects": lambda ids: np.array(ids, dtype=object),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def dtype_of(ids):
    """The type that holds all of them exactly: numpy would choose floats for some."""
    if isinstance(ids[0], str):
        return object
    return next((kind for kind in (np.int64, np.uint64) if all(fits(i, kind) for i in ids)), object)


def fits(value, kind):
    return np.iinfo(kind).min <= value <= np.iinfo(kind).max


@cache
def model_of(kind):
    """Its users and its items have the same ids."""
    ids, _ = KINDS[kind]
    user, item = [*ids, ids[0], ids[1]], [*ids, ids[1], ids[2]]
    return fitted(Interactions.from_arrays(user=user, item=item, users=ids, items=ids), dim=2)


@cache
def model():
    return fitted()


def mixed(kind):
    """Known and unknown ids, some of both twice; those that are known."""
    known, unknown = KINDS[kind]
    ids = [unknown[0], known[2], unknown[1], unknown[0], known[0], known[2], unknown[2]]
    return ids, [known[2], known[0], known[2]]


def same(rankings, others):
    assert isinstance(rankings, Rankings)
    assert rankings == others
    assert rankings.asked == others.asked
    assert rankings.rows.tobytes() == others.rows.tobytes()
    assert rankings.scores.tobytes() == others.scores.tobytes()
    assert rankings.fallback.tolist() == others.fallback.tolist()
    assert rankings.to_frame().equals(others.to_frame())


def counted(kind):
    return SkippedIds(4, 7, tuple(KINDS[kind][1][n] for n in (0, 1, 2)))


@each_kind
@pytest.mark.parametrize("form", FORMS)
def test_users_and_items_that_are_asked_about(kind, form):
    ids, known = mixed(kind)
    model = model_of(kind)
    for argument, ask in {
        "users": model.recommend,
        "items": model.similar_items,
        " users": model.similar_users,
    }.items():
        found = ask(FORMS[form](ids), 3, unknown="skip")
        same(found, ask(known, 3))
        assert found.skipped == Skipped(**{argument.strip(): counted(kind)})
        assert found[0].skipped == found[1:].skipped == found.skipped


@each_kind
@pytest.mark.parametrize("argument", ["candidates", "exclude"])
@pytest.mark.parametrize("form", FORMS)
def test_candidates_and_exclusions(kind, argument, form):
    ids, known = mixed(kind)
    model = model_of(kind)
    queries = (model.recommend, KINDS[kind][0]), (model.recommend_for, [[], known[:1]])
    for ask, asked in queries:
        found = ask(asked, 3, **{argument: FORMS[form](ids)}, unknown="skip")
        same(found, ask(asked, 3, **{argument: known}))
        assert found.skipped == Skipped(**{argument: counted(kind)})


@each_kind
def test_items_of_histories_with_their_weights_and_labels(kind):
    ids, known = mixed(kind)
    model = model_of(kind)
    histories, kept = [ids, [], KINDS[kind][1][:2], known[:1]], [known, [], [], known[:1]]
    weights, kept_weights = [[9, 2, 9, 9, 3, 4, 9], [], [9, 9], [5]], [[2, 3, 4], [], [], [5]]
    labels, kept_labels = [[9, 2, 9, 9, 1, 2, 9], [], [9, 9], [3]], [[2, 1, 2], [], [], [3]]
    for numbers, kept_numbers in (
        ({}, {}),
        ({"weights": weights}, {"weights": kept_weights}),
        ({"weights": weights, "labels": labels}, {"weights": kept_weights, "labels": kept_labels}),
    ):
        found = model.recommend_for(histories, 3, **numbers, unknown="skip")
        same(found, model.recommend_for(kept, 3, **kept_numbers))
        assert found.fallback.tolist() == [False, True, True, False]
        assert found.skipped == Skipped(histories=SkippedIds(6, 10, counted(kind).examples))
        for fold_in in model.fold_in, model.fold_in_items:
            vectors = fold_in(histories, **numbers, unknown="skip")
            assert vectors.tobytes() == fold_in(kept, **kept_numbers).tobytes()
        with pytest.raises(UnknownIdError):
            model.fold_in(histories, **numbers)


@pytest.mark.parametrize("form", [pl.Series, pd.Series, np.array])
def test_columns_of_data_frames(form):
    asked = ["item-7", "gone", "item-3"]
    found = model().recommend(form([3, 1000, 1]), 4, candidates=form(asked), unknown="skip")
    same(found, model().recommend([3, 1], 4, candidates=["item-7", "item-3"]))
    assert found.skipped == Skipped(users=SkippedIds(1, 3, (1000,)), candidates=SkippedIds(1, 3, ("gone",)))
    found = model().recommend_for([form(asked), form(asked[:1])], 4, unknown="skip")
    same(found, model().recommend_for([["item-7", "item-3"], ["item-7"]], 4))


def test_what_is_given_for_each_user_goes_with_the_user():
    users = [3, 1000, 1, 1001]
    lists = [ITEMS[:9], ITEMS[:2], [*ITEMS[9:12], "gone"], ["gone", "lost"]]
    kept = [ITEMS[:9], ITEMS[9:12]]
    masks = np.array([np.isin(np.array(ITEMS), ids) for ids in lists])
    for argument in "candidates", "exclude":
        expected = model().recommend([3, 1], 5, **{argument: kept})
        found = model().recommend(users, 5, **{argument: lists}, unknown="skip")
        same(found, expected)
        assert found.skipped.users == SkippedIds(2, 4, (1000, 1001))
        assert getattr(found.skipped, argument) == SkippedIds(3, 17, ("gone", "lost"))
        same(model().recommend(users, 5, **{argument: masks}, unknown="skip"), expected)
        with pytest.raises(ValueError, match=rf"{argument}.*4 in all, got 2"):
            model().recommend(users, 5, **{argument: kept}, unknown="skip")
        with pytest.raises(ValueError, match=rf"{argument}.*\(4, 30\).*\(2, 30\)"):
            model().recommend(users, 5, **{argument: masks[:2]}, unknown="skip")


def test_if_all_are_unknown_nothing_is_left():
    nobody = model().recommend([1000, 1001], unknown="skip")
    assert (nobody, nobody.asked, nobody.skipped.users.count) == ([], [], 2)
    assert nobody.to_frame().schema == model().recommend([3]).to_frame().schema
    assert model().recommend([3, 1], candidates=["gone"], unknown="skip") == [[], []]
    assert model().similar_items(["gone"], unknown="skip") == []
    same(model().recommend([3, 1], exclude=["gone"], unknown="skip"), model().recommend([3, 1]))


def test_one_unknown_user_gets_the_most_popular_items():
    options = {"candidates": ITEMS[:20], "exclude": [ITEMS[3:6]], "k": 7}
    [popular] = model().recommend_for([[]], **options)
    assert len(popular) == 7
    for exclude_seen in True, False:
        ranking = model().recommend(1000, **options, exclude_seen=exclude_seen, unknown="skip")
        assert isinstance(ranking, Ranking)
        assert (ranking, ranking.scores, ranking.fallback) == (popular, popular.scores, True)
        assert ranking.skipped == Skipped(users=SkippedIds(1, 1, (1000,)))
    baseline = MostPopular().fit(model().trained_on)
    assert baseline.recommend(1000, **options, unknown="skip") == popular


def test_one_unknown_id_has_no_neighbours():
    for found in model().similar_items("gone", unknown="skip"), model().similar_users(1000, unknown="skip"):
        assert isinstance(found, Ranking)
        assert (found, found.scores, found.fallback, found.skipped.count) == ([], [], False, 1)


def test_known_ids_skip_nothing():
    for found in (
        model().recommend([3, 1], candidates=ITEMS, exclude=ITEMS[:2], unknown="skip"),
        model().recommend(unknown="skip"),
        model().recommend([], candidates=[], exclude=[], unknown="skip"),
        model().recommend(3, unknown="skip"),
        model().recommend_for([ITEMS[:3], []], unknown="skip"),
        model().recommend_for([], unknown="skip"),
        model().similar_items([], unknown="skip"),
        model().recommend([3]),
    ):
        assert not found.skipped
        assert (found.skipped, found.skipped.count, found.skipped.as_dict()) == (Skipped(), 0, {})
        assert str(found.skipped) == "nothing was skipped"


@pytest.mark.parametrize(
    "ask",
    [
        lambda skip: model().recommend(["3", "x"], **skip),
        lambda skip: model().recommend("3", **skip),
        lambda skip: model().recommend([3], candidates=[7, 8], **skip),
        lambda skip: model().recommend([3], exclude=np.array([7, 8]), **skip),
        lambda skip: model().recommend_for([[7], [8]], **skip),
        lambda skip: model().fold_in([[7], [8]], **skip),
        lambda skip: model().similar_items([1, 2], **skip),
        lambda skip: model().similar_users(["item-1"], **skip),
    ],
)
def test_ids_of_the_wrong_kind_are_errors_all_the_same(ask):
    for skip in {}, {"unknown": "skip"}:
        with pytest.raises(UnknownIdError, match=r"these are (strings|integers), but the \w+s of the data"):
            ask(skip)


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: model().recommend([3, 1.5], unknown="skip"), TypeError, "user.*position 1.*float"),
        (lambda: model().recommend([3, None], unknown="skip"), TypeError, "user.*position 1.*missing"),
        (lambda: model().recommend([3, "x"], unknown="skip"), TypeError, "all integers or all strings"),
        (lambda: model().recommend(3, candidates="gone", unknown="skip"), TypeError, "candidates.*'gone'"),
        (
            lambda: model().recommend_for([["gone"]], weights=[[1, 2]], unknown="skip"),
            ValueError,
            "weights.*history 0 has 1, got 2",
        ),
        (
            lambda: model().recommend_for([["gone"]], weights=[[-1]], unknown="skip"),
            ValueError,
            "weight must be >= 0",
        ),
        (
            lambda: model().recommend(3, unknown="ignore"),
            ValueError,
            'unknown must be "error" or "skip".*igno',
        ),
        (lambda: model().recommend_for([[]], unknown=None), ValueError, "unknown must be.*None"),
        (lambda: model().fold_in([[]], unknown=True), ValueError, "unknown must be.*True"),
        (lambda: model().similar_items("item-1", unknown="drop"), ValueError, "unknown must be.*'drop'"),
    ],
)
def test_other_mistakes_are_not_skipped(ask, error, message):
    with pytest.raises(error, match=message):
        ask()


# What was skipped, as a value


def test_what_was_skipped_reads_as_sentences_and_goes_to_json():
    gone = [f"gone-{n}" for n in range(1200)]
    found = model().recommend([3, 1000], candidates=[*ITEMS, *gone], exclude=["lost", "lost"], unknown="skip")
    assert str(found.skipped).splitlines() == [
        "1 of 2 users is unknown and was skipped: 1000",
        "1,200 of 1,230 candidates are unknown and were skipped, such as 'gone-0', 'gone-1', 'gone-2'",
        "2 of 2 excluded items are unknown and were skipped, such as 'lost'",
    ]
    assert found.skipped.count == 1203
    assert json.loads(json.dumps(found.skipped.as_dict())) == {
        "users": {"count": 1, "total": 2, "examples": [1000]},
        "candidates": {"count": 1200, "total": 1230, "examples": gone[:3]},
        "exclude": {"count": 2, "total": 2, "examples": ["lost"]},
    }
    assert [argument for argument, _ in found.skipped] == ["users", "candidates", "exclude"]
    for copied in pickle.loads(pickle.dumps(found)), pickle.loads(pickle.dumps(found[0])):
        assert copied.skipped == found.skipped
    with pytest.raises(AttributeError):
        found.skipped.users = SkippedIds()


# Ids that are looked up


@each_kind
def test_find_tells_known_ids_from_unknown_ones(kind):
    ids, known = mixed(kind)
    id_map = model_of(kind).items
    found = id_map.find(ids)
    assert id_map.named(found.rows) == known
    assert [i for i, there in zip(ids, found.known, strict=True) if not there] == found.unknown
    assert found.known.tolist() == [i in KINDS[kind][0] for i in ids]
    assert id_map.find([]).rows.tolist() == id_map.find([]).unknown == []
    assert id_map.find(KINDS[kind][0]).unknown == []


def test_find_in_a_map_of_nothing():
    for ids in ["a"], [1]:
        assert IdMap([]).find(ids).unknown == ids


def test_many_ids_are_found_as_few_are():
    asked = np.arange(-50, 100_000) % 1000
    found = model().recommend(asked, 2, unknown="skip")
    assert len(found) == np.count_nonzero(asked < N_USERS)
    assert found.skipped.users.count == np.count_nonzero(asked >= N_USERS)
    assert found.asked == asked[asked < N_USERS].tolist()
