"""Recommending: every way to ask, against a plain sort of the scores of one user at a time."""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.models import N_ITEMS, N_USERS, fitted, seen

from ialspp import Interactions, Objective, Ranking, Rankings, UnknownIdError
from ialspp.model.ranking import USERS_AT_ONCE

ODD = ["", " ", "a", "A", "a,b", '"', "new\nline", "nul\0inside", "naïve", "😀", "-1", "1", "1.0", "None"]
ITEMS = [*ODD, *(f"twin of {item}" for item in ODD), "nobody's", "nobody's either"]
USERS = list(range(N_USERS))
HISTORIES = [ITEMS[:3], [], ITEMS[5:6], [ITEMS[-1]], ITEMS[2:20:3], ITEMS, ITEMS[5:6]]
assert len(ITEMS) == N_ITEMS


@cache
def tied_data():
    """Every item but the last two has a twin of the same users, so of the same scores."""
    once = np.random.default_rng(0).random((N_USERS - 3, len(ODD))) < 0.3
    user, item = np.nonzero(np.hstack([once, once]))
    return Interactions.from_arrays(user=user, item=[ITEMS[i] for i in item], users=USERS, items=ITEMS)


@cache
def model():
    return fitted(tied_data())


class Recommend:
    """Users of the data, asked for by id."""

    everyone = tuple(USERS)

    def ask(self, who, *args, **options):
        return model().recommend(who, *args, **options)

    def vector(self, user):
        return model().user_factors[user]

    def seen(self, user):
        return seen(tied_data(), user)


class RecommendFor:
    """Strangers, asked for by number in HISTORIES."""

    everyone = tuple(range(len(HISTORIES)))

    def ask(self, who, *args, **options):
        return model().recommend_for([HISTORIES[n] for n in who], *args, **options)

    def vector(self, number):
        return model().fold_in([HISTORIES[number]])[0]

    def seen(self, number):
        return set(HISTORIES[number])


RECOMMEND = Recommend()
both = pytest.mark.parametrize("way", [RECOMMEND, RecommendFor()], ids=["recommend", "recommend_for"])


@cache
def scores_of(way, who):
    """{item: score} as the library gives it to one asked about alone, with nothing left out."""
    ranking = way.ask([who], N_ITEMS, exclude_seen=False)[0]
    assert ranking.fallback == (not way.vector(who).any())
    return dict(zip(ranking, ranking.scores, strict=True))


def check(ranking, scores, allowed, k):
    best = sorted(allowed, key=lambda item: (-scores[item], ITEMS.index(item)))[:k]
    assert isinstance(ranking, Ranking)
    assert ranking == best
    assert all(type(score) is float for score in ranking.scores)
    assert ranking.scores == [float(scores[item]) for item in best]


@both
def test_all_items_are_ranked_by_their_score_and_then_by_their_row(way):
    for who in way.everyone:
        scores = scores_of(way, who)
        assert set(scores) == set(ITEMS)
        exact = model().item_factors.astype(float) @ way.vector(who).astype(float)
        if not way.vector(who).any():  # without items, or with one that nobody else has
            exact = tied_data().by_item.counts.astype(float)
        assert [scores[item] for item in ITEMS] == pytest.approx(exact.tolist(), rel=1e-5, abs=1e-6)
        for item in ODD:
            assert scores[item] == scores[f"twin of {item}"]
        check(way.ask([who], N_ITEMS, exclude_seen=False)[0], scores, ITEMS, N_ITEMS)


# Candidates and what is excluded


def mask_of(ids):
    return np.isin(np.arange(N_ITEMS), [ITEMS.index(i) for i in ids])


def masks_of(lists):
    return np.array([mask_of(ids) for ids in lists], bool).reshape(-1, N_ITEMS)


FOR_ALL = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "iterator": iter,
    "array": np.array,
    "array of objects": lambda ids: np.array(ids, dtype=object),
    "pandas": lambda ids: pd.Series(ids, dtype=object),
    "polars": pl.Series,
    "mask": mask_of,
    "strided mask": lambda ids: np.repeat(mask_of(ids), 2)[::2],
}
FOR_EACH = {
    "lists": list,
    "tuple of sets": lambda lists: tuple(map(set, lists)),
    "arrays": lambda lists: [np.array(ids) for ids in lists],
    "iterators": lambda lists: (iter(ids) for ids in lists),
    "polars each": lambda lists: [pl.Series(ids) for ids in lists],
    "2-D mask": masks_of,
    "2-D mask by column": lambda lists: np.asfortranarray(masks_of(lists)),
}
FORMS = ["nothing", *FOR_ALL, *FOR_EACH]


def selection(form, n, rng):
    """What to ask with, and which items that means for each of n."""
    some = [[str(i) for i in rng.choice(ITEMS, rng.choice([0, 1, 5, 20]))] for _ in range(n)]
    if form in FOR_EACH:
        return FOR_EACH[form](some), [set(ids) for ids in some]
    ids = [str(i) for i in rng.choice(ITEMS, 15)] if rng.random() < 0.8 else []
    return (None, None) if form == "nothing" else (FOR_ALL[form](ids), [set(ids)] * n)


@both
@pytest.mark.parametrize("candidates", FORMS)
def test_what_may_be_named_is_what_is_a_candidate_and_neither_excluded_nor_seen(way, candidates):
    rng = np.random.default_rng(FORMS.index(candidates))
    for exclude in FORMS:
        for exclude_seen in True, False:
            asked = [way.everyone[n] for n in rng.integers(0, len(way.everyone), rng.choice([0, 1, 6]))]
            k = int(rng.choice([0, 1, 4, N_ITEMS, 10**6]))
            wanted, unwanted = (selection(form, len(asked), rng) for form in (candidates, exclude))
            options = {"candidates": wanted[0], "exclude": unwanted[0], "exclude_seen": exclude_seen}
            answer = way.ask(asked, k, **options)
            assert len(answer) == len(asked)
            for n, (who, ranking) in enumerate(zip(asked, answer, strict=True)):
                allowed = set(ITEMS) if wanted[1] is None else wanted[1][n]
                allowed = allowed - (set() if unwanted[1] is None else unwanted[1][n])
                check(ranking, scores_of(way, who), allowed - (way.seen(who) if exclude_seen else set()), k)


@pytest.mark.parametrize(
    "candidates",
    [[ITEMS[:9]], (set(ITEMS[:9]),), mask_of(ITEMS[:9]), mask_of(ITEMS[:9])[None], ITEMS[:9] * 2],
)
def test_for_one_user_candidates_may_come_as_for_a_list_of_one(candidates):
    options = {"exclude": [ITEMS[1:3]], "candidates": candidates}
    allowed = set(ITEMS[:9]) - set(ITEMS[1:3]) - seen(tied_data(), 4)
    check(model().recommend(4, 5, **options), scores_of(RECOMMEND, 4), allowed, 5)


@pytest.mark.parametrize("argument", ["candidates", "exclude"])
@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ("a", TypeError, "{argument}.*ids.*'a'"),
        (b"a", TypeError, "{argument}.*ids.*b'a'"),
        (3, TypeError, "{argument}.*ids.*3"),
        (1.5, TypeError, r"{argument}.*ids.*1\.5"),
        (True, TypeError, "{argument}.*ids.*True"),
        (np.array("a"), (TypeError, ValueError), "{argument}|item"),
        (np.ones(N_ITEMS - 1, bool), ValueError, r"{argument}.*30.*\(29,\)"),
        (np.ones(0, bool), ValueError, r"{argument}.*30.*\(0,\)"),
        (np.ones((3, N_ITEMS), bool), ValueError, r"{argument}.*\(2, 30\).*\(3, 30\)"),
        (np.ones((2, 1), bool), ValueError, r"{argument}.*\(2, 30\).*\(2, 1\)"),
        (np.ones((2, 2, N_ITEMS), bool), ValueError, r"{argument}.*\(2, 2, 30\)"),
        (np.ma.array(np.ones(N_ITEMS, bool), mask=[True] + [False] * 29), TypeError, "mask"),
        ([["a"]] * 3, ValueError, "{argument}.*2.*3"),
        ([["a"]], ValueError, "{argument}.*2.*1"),
        ([["a"], None], TypeError, "{argument}.*item.*None"),
        ([["a"], "A"], TypeError, "{argument}.*item.*'A'"),
        ([["a"], 1], TypeError, "{argument}.*item.*1"),
        (["a", ["A"]], TypeError, "item.*position 1.*list"),
        (["a", "b"], UnknownIdError, "item.*'b'"),
        ([["a"], ["A", "b"]], UnknownIdError, "item.*'b'"),
        ([7, 8], UnknownIdError, "item.*7, 8.*integers.*strings.*users.*swapped"),
        (np.array([7, 8]), UnknownIdError, "item.*7, 8.*users.*swapped"),
        ([[7], []], UnknownIdError, "item.*7.*user.*swapped"),
        ([np.nan], TypeError, "item.*position 0.*missing"),
        (["a", None], TypeError, "item.*position 1.*missing"),
        (pd.Series(["a", None]), TypeError, "item.*position 1.*missing"),
        ([["a"], [1.0]], TypeError, r"item.*float.*1\.0"),
        (np.array([1.0]), TypeError, "item.*float64"),
        ([True] * N_ITEMS, TypeError, "item.*bool.*True"),
        ({1: ["a"], 2: ["A"]}, TypeError, "{argument}.*for each user, in the order of the users; got {{1:"),
        ([{"a": 1}, {}], TypeError, "each of {argument} must be a sequence of item ids, got {{'a': 1}}"),
        (np.arange(N_ITEMS) % 2, TypeError, "{argument} has a 0 or a 1 for each of 30 items.*bool.*int64"),
        (np.ones((2, N_ITEMS)), TypeError, "{argument} has a 0 or a 1.*float64; call astype.bool."),
    ],
)
def test_candidates_that_are_no_candidates_are_errors(argument, value, error, message):
    for ask, asked in (model().recommend, [1, 2]), (model().recommend_for, HISTORIES[:2]):
        with pytest.raises(error, match=message.format(argument=argument)):
            ask(asked, 3, **{argument: value})


# Who is asked about


@pytest.mark.parametrize("exclude_seen", [True, False])
def test_one_many_and_all_agree_to_the_bit_on_any_threads(isa, exclude_seen):
    data = tied_data()
    alone = fitted(data, threads=1)
    wanted = [alone.recommend(user, 6, exclude_seen=exclude_seen) for user in USERS]
    assert {len(ranking) for ranking in wanted} == {6}, isa
    for threads in 1, 2, 3, 7:
        model = fitted(data, threads=threads)
        everyone = model.recommend(k=6, exclude_seen=exclude_seen)
        some = model.recommend([*USERS[::-3], 5, 5], 6, exclude_seen=exclude_seen)
        by_hand = [wanted[user] for user in [*USERS[::-3], 5, 5]]
        for rankings, right in (everyone, wanted), (some, by_hand):
            assert rankings == right
            assert rankings.scores.tobytes() == np.array([r.scores for r in right], np.float32).tobytes()
        strangers = model.recommend_for(HISTORIES, 6, exclude_seen=exclude_seen)
        for history, ranking in zip(HISTORIES, strangers, strict=True):
            one = alone.recommend_for([history], 6, exclude_seen=exclude_seen)[0]
            assert (ranking, ranking.scores) == (one, one.scores)


@pytest.mark.parametrize(
    "form",
    [list, tuple, iter, np.array, np.uint64, pd.Series, pl.Series, lambda ids: [np.int8(i) for i in ids]],
)
def test_users_come_as_any_sequence_of_ids(form):
    asked = [3, N_USERS - 1, 0, 3]
    rankings = model().recommend(form(asked), 4)
    assert isinstance(rankings, Rankings)
    for user, ranking in zip(asked, rankings, strict=True):
        check(ranking, scores_of(RECOMMEND, user), set(ITEMS) - seen(tied_data(), user), 4)


@pytest.mark.parametrize("user", [3, np.int8(3), np.uint64(3)])
@pytest.mark.parametrize("k", [2, np.int64(2)])
def test_one_user_comes_as_any_integer(user, k):
    check(model().recommend(user, k), scores_of(RECOMMEND, 3), set(ITEMS) - seen(tied_data(), 3), 2)


def test_strings_of_any_characters_are_users():
    data = tied_data()
    user = np.repeat(np.arange(N_USERS), data.by_user.counts)
    names = [f"{ITEMS[row % 30]}{row // 30}" for row in USERS]
    renamed = Interactions.from_arrays(
        user=[names[row] for row in user], item=data.by_user.columns, users=names, items=range(N_ITEMS)
    )
    rankings = fitted(renamed).recommend(names[::-1], 7)
    for name, ranking, there in zip(names[::-1], rankings, model().recommend(USERS[::-1], 7), strict=True):
        assert [ITEMS[i] for i in ranking] == there
        assert fitted(renamed).recommend(name, 7) == ranking
        assert all(type(i) is int for i in ranking)


@pytest.mark.parametrize("nobody", [[], (), np.array([]), np.array([], int), pd.Series([], dtype=object)])
def test_nobody_asked_about_gets_no_rankings(nobody):
    rankings = model().recommend(nobody, 3)
    assert isinstance(rankings, Rankings)
    assert rankings == []
    assert len(rankings.rows) == len(rankings.scores) == 0


@pytest.mark.parametrize(
    ("users", "error", "message"),
    [
        (b"1", TypeError, "user.*b'1'"),
        ([b"1"], TypeError, "user.*bytes"),
        (np.nan, TypeError, "user.*nan"),
        ([1, np.nan], TypeError, "user.*position 1.*missing"),
        (np.array([1.0]), TypeError, "user.*float64"),
        ([[1]], TypeError, "user.*list"),
        (np.array([[1]]), ValueError, r"user.*one-dimensional.*\(1, 1\)"),
        (np.ones(N_USERS, bool), TypeError, "user.*bool"),
        ([1, 41, 42], UnknownIdError, "user: 41, 42"),
        ("A", UnknownIdError, "user: 'A'.*item.*swapped"),
        (["A", "a"], UnknownIdError, "user: 'A', 'a'.*items.*swapped"),
        (2**70, UnknownIdError, f"user: {2**70}"),
        (-1, UnknownIdError, "user: -1"),
    ],
)
def test_users_that_are_not_of_the_data_are_errors(users, error, message):
    with pytest.raises(error, match=message):
        model().recommend(users)


def test_more_users_than_are_ranked_at_once(isa):
    n, items = USERS_AT_ONCE + 904, 20
    rng = np.random.default_rng(0)
    has, may = rng.random((n, items)) < 0.2, rng.random((n, items)) < 0.7
    user, item = np.nonzero(has)
    data = Interactions.from_arrays(user=user, item=item, users=range(n), items=range(items))
    model = fitted(data, dim=4, epochs=1, objective=Objective(unobserved_weight=0.2, regularization=0.1))
    full = model.recommend(k=items, exclude_seen=False)
    scores = np.empty((n, items), np.float32)
    np.put_along_axis(scores, full.rows, full.scores, axis=1)
    exact = model.user_factors.astype(float) @ model.item_factors.T.astype(float)
    assert np.array_equal(full.fallback, ~has.any(axis=1))
    exact[full.fallback] = has.sum(axis=0)
    assert np.allclose(scores, exact, rtol=1e-5, atol=1e-6), isa
    assert np.array_equal(full.rows, np.argsort(-scores, axis=1, kind="stable"))
    lists = [np.flatnonzero(row) for row in may]
    for candidates in may, lists:
        some = model.recommend(k=5, candidates=candidates, progress=False)
        allowed = may & ~has
        order = np.argsort(np.where(allowed, -scores, np.inf), axis=1, kind="stable")[:, :5]
        wanted = np.where(np.take_along_axis(allowed, order, axis=1), order, -1)
        assert np.array_equal(some.rows, wanted)
        assert len(some) == n
    last = n - 1
    assert model.recommend(last, 5, candidates=lists[-1]) == some[-1] == [i for i in wanted[-1] if i >= 0]


@pytest.mark.parametrize("progress", [False, None])
def test_no_progress_is_drawn_off_a_terminal(progress, capfd):
    model().recommend(k=3, progress=progress)
    assert "".join(capfd.readouterr()) == ""


def test_weights_and_labels_of_a_history_count_in_its_ranking():
    history, weights, labels = ITEMS[:4], [0.5, 2, 3, 0], [1, -1, 2, 4]
    ranking = model().recommend_for([history], N_ITEMS, weights=[weights], labels=[labels])[0]
    vector = model().fold_in([history], weights=[weights], labels=[labels])[0].astype(float)
    exact = dict(zip(ITEMS, model().item_factors.astype(float) @ vector, strict=True))
    assert set(ranking) == set(ITEMS) - set(history)
    assert ranking.scores == pytest.approx([exact[i] for i in ranking], rel=1e-5, abs=1e-6)
    assert not np.allclose(vector, model().fold_in([history])[0], atol=1e-2)


def test_dimensions_of_the_answer():
    rankings = model().recommend([0, N_USERS - 1], N_ITEMS)
    left = N_ITEMS - len(seen(tied_data(), 0))
    assert 0 < left < N_ITEMS
    assert rankings.rows.dtype == np.int32
    assert rankings.scores.dtype == np.float32
    assert rankings.rows.shape == rankings.scores.shape == (2, N_ITEMS)
    assert (rankings.rows[0, left:] == -1).all()
    assert [ITEMS[row] for row in rankings.rows[0, :left]] == rankings[0]
    counts = tied_data().by_item.counts
    assert rankings.rows[1].tolist() == np.argsort(-counts, kind="stable").tolist()


@pytest.mark.parametrize("wrong", ["no", 1, None])
def test_what_is_neither_true_nor_false_is_no_answer_to_whether_seen_items_count(wrong):
    made, message = model(), f"exclude_seen must be True or False, got {wrong!r}"
    for ask in (
        lambda: made.recommend(1, exclude_seen=wrong),
        lambda: made.recommend(exclude_seen=wrong),
        lambda: made.recommend_for([["a"]], exclude_seen=wrong),
        lambda: made.query(1, exclude_seen=wrong),
        lambda: next(made.recommend_in_parts(exclude_seen=wrong)),
    ):
        with pytest.raises(TypeError, match=message):
            ask()
    assert made.recommend(1, exclude_seen=np.bool_(False)) == made.recommend(1, exclude_seen=False)
