"""Similar items and users; and rankings, of whatever, as a sequence and as a table."""

import copy
import pickle
from functools import cache

import numpy as np
import polars as pl
import pytest
from support.models import ITEMS, N_ITEMS, N_USERS, fitted, make_data, make_model

from ialspp import Interactions, NotFittedError, Ranking, Rankings, UnknownIdError

METRICS = ["cosine", "dot"]
SIDES = ["items", "users"]


@cache
def model():
    return fitted()


def vectors_of(model, side):
    """(ids, vectors in double precision, how to ask)"""
    if side == "items":
        return ITEMS, model.item_factors.astype(float), model.similar_items
    return list(range(N_USERS)), model.user_factors.astype(float), model.similar_users


def similarity(vectors, metric):
    """All with all; of a vector of zeros, which points nowhere, zero."""
    if metric == "cosine":
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return vectors @ vectors.T


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("k", [0, 1, 5, 10**6])
def test_the_most_similar_are_those_of_the_highest_similarity(isa, metric, side, k):
    ids, vectors, ask = vectors_of(fitted(), side)
    right = similarity(vectors, metric)
    assert (vectors[-1] == 0).all(), isa  # so one without interactions is asked about, too
    for row, ranking in enumerate(ask(ids, k, metric=metric)):
        known = np.flatnonzero(vectors.any(axis=1)) if vectors[row].any() else []
        others = [other for other in known if other != row]
        assert len(ranking) == len(set(ranking)) == min(k, len(others))
        named = [ids.index(i) for i in ranking]
        assert row not in named
        assert ranking.scores == pytest.approx(right[row, named].tolist(), rel=1e-5, abs=1e-5)
        assert [(-s, n) for s, n in zip(ranking.scores, named, strict=True)] == sorted(
            (-s, n) for s, n in zip(ranking.scores, named, strict=True)
        )
        left = set(others) - set(named)
        if left and named:
            assert right[row, sorted(left)].max() <= ranking.scores[-1] + 1e-5


@pytest.mark.parametrize("side", SIDES)
def test_no_cosine_is_beyond_one(side):
    ids, _, ask = vectors_of(model(), side)
    rankings = ask(ids, 10**6)
    scores = rankings.scores[rankings.rows >= 0]
    assert scores.min() < -0.1
    assert np.abs(scores).max() <= 1 + 1e-6


def test_the_metric_is_the_cosine_unless_said_otherwise():
    for side in SIDES:
        ids, _, ask = vectors_of(model(), side)
        one, cosine, dot = (ask(ids[3], 9, **given) for given in ({}, *({"metric": m} for m in METRICS)))
        assert one == cosine
        assert np.array_equal(one.scores, cosine.scores)
        assert not np.array_equal(one.scores, dot.scores)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("side", SIDES)
def test_one_alone_and_among_others_agrees_to_the_bit_on_any_threads(isa, metric, side):
    ids, _, alone = vectors_of(fitted(threads=1), side)
    wanted = [alone(one, 7, metric=metric) for one in ids]
    assert all(type(ranking) is Ranking for ranking in wanted), isa
    for threads in 2, 3, 7:
        _, _, ask = vectors_of(fitted(threads=threads), side)
        several = ask([*ids, ids[2], ids[2]], 7, metric=metric)
        assert isinstance(several, Rankings)
        for ranking, right in zip(several, [*wanted, wanted[2], wanted[2]], strict=True):
            assert (ranking, ranking.scores) == (right, right.scores)


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda m: m.similar_items("item-1", metric="euclidean"), ValueError, "metric.*cosine.*'euclidean'"),
        (lambda m: m.similar_users(1, metric=None), ValueError, "metric.*cosine.*None"),
        (lambda m: m.similar_users(1, -1), ValueError, "k must.*-1"),
        (lambda m: m.similar_users([1, 99]), UnknownIdError, "user: 99"),
        (lambda m: m.similar_users("item-1"), UnknownIdError, "user: 'item-1'.*item.*swapped"),
        (lambda m: m.similar_items([1, 2]), UnknownIdError, "item: 1, 2.*users.*swapped"),
        (lambda m: m.similar_users(1.0), TypeError, r"user.*1\.0"),
        (lambda m: m.similar_users([1, None]), TypeError, "user.*position 1.*missing"),
        (lambda m: m.similar_users(None), TypeError, "user.*None"),
        (lambda _: make_model().similar_users(1), NotFittedError, "fit"),
    ],
)
def test_bad_questions_are_errors(ask, error, message):
    with pytest.raises(error, match=message):
        ask(model())


# Rankings are a sequence


@cache
def some_rankings():
    return model().recommend([3, 1, N_USERS - 1, 3], 4)


def test_rankings_are_indexed_as_a_list_is():
    rankings = some_rankings()
    plain = [model().recommend(user, 4) for user in (3, 1, N_USERS - 1, 3)]
    assert len(rankings) == 4
    assert list(rankings) == plain
    assert list(reversed(rankings)) == plain[::-1]
    assert plain[1] in rankings
    assert rankings.index(plain[1]) == 1
    assert rankings.count(plain[0]) == 2
    for index in (*range(-4, 4), np.int64(2), np.int8(-1)):
        assert isinstance(rankings[index], Ranking)
        assert rankings[index] == plain[index]
        assert np.array_equal(rankings[index].scores, plain[index].scores)
    for index in 4, -5, 10**30:
        with pytest.raises(IndexError):
            rankings[index]
    for index in "0", 0.0, None, (0, 1):
        with pytest.raises((TypeError, IndexError)):
            rankings[index]


@pytest.mark.parametrize(
    "part", [slice(None), slice(1, 3), slice(None, None, -1), slice(-2, None), slice(9, None), slice(0, 0)]
)
def test_a_slice_of_rankings_is_rankings(part):
    rankings, plain = some_rankings(), list(some_rankings())
    assert isinstance(rankings[part], Rankings)
    assert rankings[part] == plain[part]
    assert rankings[part].rows.tolist() == rankings.rows[part].tolist()
    assert rankings[part].to_frame()["user"].unique().sort().to_list() == sorted(
        {[3, 1, N_USERS - 1, 3][n] for n in range(4)[part]}
    )


def test_rankings_are_equal_to_lists_of_the_same_ids():
    rankings = some_rankings()
    plain = [list(ranking) for ranking in rankings]
    assert rankings == plain
    assert plain == rankings
    assert rankings == model().recommend([3, 1, N_USERS - 1, 3], 4)
    assert rankings != plain[:3]
    assert rankings != plain[::-1]
    assert rankings != model().recommend([3, 1, N_USERS - 1, 1], 4)
    assert rankings != 3
    assert rankings != [1, 2, 3, 4]
    assert model().recommend([], 4) == []


def test_rankings_show_what_is_in_them():
    assert repr(some_rankings()[:2]) == repr([list(r) for r in some_rankings()[:2]])
    assert repr(model().recommend([])) == "[]"
    long = repr(model().recommend(k=3))
    assert str(list(model().recommend(0, 3))) in long
    assert str(N_USERS) in long
    assert len(long) < 400
    assert repr(model().recommend(3, 2)) == repr(list(model().recommend(3, 2)))


@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_copies_of_answers_are_like_them(copied):
    rankings = copied(some_rankings())
    assert rankings == some_rankings()
    assert rankings.to_frame().equals(some_rankings().to_frame())
    assert copied(some_rankings()[0]) == some_rankings()[0]
    assert np.array_equal(copied(some_rankings()[0]).scores, some_rankings()[0].scores)
    explanation = model().explain(3, "item-1")
    assert copied(explanation) == explanation
    assert copied(explanation).rest == explanation.rest


# And a table

BIG = 2**64 - 1
KINDS = {
    "int64": ([-(2**63), 0, 7, 2**63 - 1], pl.Int64, lambda i: i),
    "uint64": ([BIG, 5, 2**63, 7], pl.UInt64, lambda i: i),
    "beyond": ([2**70, 1, -(2**80), BIG], pl.String, str),
    "strings": (["", "a\0", "naïve 😀", "1"], pl.String, lambda i: i),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


@cache
def model_of(kind):
    """Its users and its items have the same ids."""
    ids = KINDS[kind][0]
    data = Interactions.from_arrays(user=[*ids, ids[0]], item=[*ids, ids[1]], users=ids, items=ids)
    return fitted(data, dim=2)


def frames(kind):
    """Every question: (answer, names of the two columns, who was asked about, type of that column)"""
    model, (ids, dtype, _) = model_of(kind), KINDS[kind]
    return [
        (model.recommend(k=3), ("user", "item"), ids, dtype),
        (model.recommend([ids[2], ids[0]], 3), ("user", "item"), [ids[2], ids[0]], dtype),
        (model.recommend(list(model.users), 3), ("user", "item"), ids, dtype),
        (model.recommend(model.users.ids, 3), ("user", "item"), ids, dtype),
        (model.recommend_for([ids[:1], []], 3), ("history", "item"), [0, 1], pl.Int64),
        (model.similar_items([ids[3], ids[1]], 3), ("item", "similar_item"), [ids[3], ids[1]], dtype),
        (model.similar_items(ids[1:2], 3), ("item", "similar_item"), ids[1:2], dtype),
        (model.similar_users(ids, 3), ("user", "similar_user"), ids, dtype),
        (model.recommend(ids, 3, candidates=[]), ("user", "item"), ids, dtype),
        (model.recommend(ids, 0), ("user", "item"), ids, dtype),
        (model.recommend([]), ("user", "item"), [], dtype),
        (model.recommend_for([]), ("history", "item"), [], pl.Int64),
        (model.similar_items([]), ("item", "similar_item"), [], dtype),
        (model.similar_users([]), ("user", "similar_user"), [], dtype),
    ]


@each_kind
@pytest.mark.parametrize("question", range(14))
def test_a_table_has_a_row_for_each_answer(kind, question):
    rankings, names, asked, asked_dtype = frames(kind)[question]
    _, dtype, shown = KINDS[kind]
    frame = rankings.to_frame()
    is_recommended = names[1] == "item"
    assert frame.columns == [*names, "rank", "score", *(["fallback"] if is_recommended else [])]
    wanted = [
        (
            who if names[0] == "history" else shown(who),
            shown(found),
            rank,
            score,
            *([ranking.fallback] if is_recommended else []),
        )
        for who, ranking in zip(asked, rankings, strict=True)
        for rank, (found, score) in enumerate(zip(ranking, ranking.scores, strict=True), 1)
    ]
    assert frame.rows() == wanted
    assert frame.dtypes[:2] == [asked_dtype, dtype]
    assert frame["rank"].dtype.is_integer()
    assert frame["score"].dtype == pl.Float32
    assert not is_recommended or frame["fallback"].dtype == pl.Boolean


@pytest.mark.parametrize("narrow", [np.int8, np.uint8, np.int32, np.uint64, np.int64])
def test_the_table_does_not_tell_how_the_ids_were_given(narrow):
    plain = model().recommend([3, 1], 2).to_frame()
    given = np.array([3, 1], narrow)
    for asked in given, list(given), pl.Series(given):
        frame = model().recommend(asked, 2).to_frame()
        assert frame.equals(plain)
        assert frame.schema == plain.schema


def test_answers_of_a_model_of_two_kinds_of_ids():
    data = make_data(user_id=lambda u: f"user {u}", items=[*range(N_ITEMS)])
    frame = fitted(data).recommend(["user 7"], 2).to_frame()
    assert frame.schema["user"] == pl.String
    assert frame.schema["item"] == pl.Int64
    assert frame["user"].to_list() == ["user 7"] * 2


@pytest.mark.parametrize("metric", METRICS)
def test_what_nobody_knows_is_similar_to_nothing(metric):
    ids = {"users": ["a", "b", "c"], "items": [1, 2, 3]}
    data = Interactions.from_arrays(user=["a", "a", "b"], item=[1, 2, 1], **ids)
    made = make_model(dim=4).fit(data, progress=False)
    assert made.similar_items(3, metric=metric) == made.similar_users("c", metric=metric) == []
    assert made.similar_items([1, 3, 2], metric=metric) == [[2], [], [1]]
    assert made.similar_items_for([[], ["a"]], k=3, metric=metric)[0] == []
    assert set(made.similar_items_for([[], ["a"]], k=3, metric=metric)[1]) == {1, 2}
    table = made.similar_items([3, 1], metric=metric).to_frame()
    assert table["similar_item"].to_list() == [2]
    made.update(Interactions.from_arrays(user=["b"], item=[3]))
    assert set(made.similar_items(3, metric=metric)) == {1, 2}
