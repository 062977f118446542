"""Different queries answered together: each as if it were alone."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.models import ITEMS, N_USERS, fitted, properties

from ialspp import Interactions, UnknownIdError

STRANGER = N_USERS - 1
some_items = st.lists(st.sampled_from([*ITEMS, "nothing", "nobody"]), max_size=8)
whos = st.one_of(
    st.fixed_dictionaries({"user": st.sampled_from([0, 3, 17, STRANGER, 999])}),
    st.fixed_dictionaries({"history": some_items}),
    some_items.flatmap(
        lambda items: st.fixed_dictionaries(
            {
                "history": st.just(items),
                "weights": st.lists(st.floats(0, 5, width=32), min_size=len(items), max_size=len(items)),
            }
        )
    ),
)
choices = st.fixed_dictionaries(
    {"k": st.integers(0, 40), "exclude_seen": st.booleans()},
    optional={"candidates": some_items, "exclude": some_items},
)
queries = st.tuples(whos, choices).map(lambda parts: {**parts[0], **parts[1]})


@cache
def model():
    return fitted()


def alone(model, user=None, history=None, weights=None, **choice):
    """What the methods for one kind of query say."""
    choice = {name: value for name, value in choice.items() if value is not None}
    if history is None:
        return model.recommend(user, unknown="skip", **choice)
    numbers = {} if weights is None else {"weights": [weights]}
    return model.recommend_for([history], unknown="skip", **numbers, **choice)[0]


@given(st.lists(queries, max_size=6))
@properties
def test_each_answer_is_that_of_the_query_alone(asked):
    together = model().answer([model().query(**query, unknown="skip") for query in asked])
    assert len(together) == len(asked)
    for query, found in zip(asked, together, strict=True):
        right = alone(model(), **query)
        assert list(found) == list(right)
        assert found.scores == right.scores  # the same bits
        assert (found.fallback, found.skipped) == (right.fallback, right.skipped)


def test_a_query_keeps_the_state_that_it_was_made_in():
    model = fitted()
    before = model.recommend(3, 5)
    query = model.query(3, k=5)
    model.update(Interactions.from_arrays(user=[3, 3], item=["new", ITEMS[0]]))
    after = model.recommend(3, 5)
    assert before != after
    assert model.answer([query, model.query(3, k=5)]) == [before, after]


def test_a_model_without_interactions_answers_without_seen_items(tmp_path):
    fitted().save(tmp_path / "bare.ialspp", interactions=False)
    bare = fitted().load(tmp_path / "bare.ialspp")
    with pytest.raises(ValueError, match="interactions"):
        bare.query(3)
    [known, folded, cold] = bare.answer(
        [bare.query(3, exclude_seen=False), bare.query(history=ITEMS[:2]), bare.query(history=[])]
    )
    assert known == fitted().recommend(3, exclude_seen=False)
    assert folded == fitted().recommend_for([ITEMS[:2]])[0]
    assert cold == fitted().recommend_for([[]])[0]  # it still knows what is popular
    assert cold.fallback
    assert not known.fallback


@pytest.mark.parametrize(
    ("query", "error", "message"),
    [
        ({}, ValueError, "user and history.*neither"),
        ({"user": 3, "history": []}, ValueError, "user and history.*both"),
        ({"user": 3, "weights": [1]}, ValueError, "weights.*user"),
        ({"user": 99}, UnknownIdError, "user: 99"),
        ({"user": "item-1"}, UnknownIdError, "swapped"),
        ({"history": ["nothing"]}, UnknownIdError, "item: 'nothing'"),
        ({"history": ["item-1"], "weights": [1, 2]}, ValueError, "weights"),
        ({"history": ["item-1"], "weights": [-1]}, ValueError, "weight.*-1"),
        ({"user": 3, "k": -1}, ValueError, "k.*-1"),
        ({"user": 3, "k": 1.5}, TypeError, r"k.*1\.5"),
        ({"user": 3, "exclude": ["nothing"]}, UnknownIdError, "exclude.*'nothing'"),
        ({"user": 3, "candidates": "item-1"}, TypeError, "sequence"),
        ({"user": 3, "unknown": "hide"}, ValueError, "unknown.*hide"),
    ],
)
def test_bad_queries_are_errors(query, error, message):
    with pytest.raises(error, match=message):
        model().query(**query)


def test_nothing_asked_is_nothing_answered():
    assert model().answer([]) == []
