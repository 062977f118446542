"""The attack by load, for a moment, and its judge."""

import pytest

from torture.load import attack
from torture.load.known_states import K, State, first_model, news, number_of
from torture.load.published import Published, Replaced


def test_load_does_no_harm(tmp_path):
    tally = attack(2, 15, tmp_path)
    assert tally.faults == []
    for what in ("queries", "updates", "loads", "replacements"):
        assert tally.counts[what] > 0


@pytest.fixture(scope="module")
def before():
    return first_model(1)


@pytest.fixture(scope="module")
def after():
    model = first_model(1)
    for number in range(1, 6):
        model.update(news(1, number))
    return model


HISTORY = ["i1", "i5", "i7"]
ASKED = {
    "recommend": (lambda m: m.recommend("u1", K), lambda state, answer: state.recommends("u1", answer)),
    "recommend_for": (
        lambda m: m.recommend_for([HISTORY], K)[0],
        lambda state, answer: state.recommends_for(HISTORY, answer),
    ),
    "similar": (lambda m: m.similar_items("i1", K), lambda state, answer: state.is_similar("i1", answer)),
    "explain": (lambda m: m.explain("u1", "i9"), lambda state, answer: state.explains("u1", "i9", answer)),
}


@pytest.mark.parametrize("name", ASKED)
def test_an_answer_is_right_for_its_own_state_alone(before, after, name):
    ask, is_right = ASKED[name]
    assert is_right(State(before), ask(before))
    assert is_right(State(after), ask(after))
    assert not is_right(State(before), ask(after))
    assert not is_right(State(after), ask(before))


def test_a_swapped_or_missing_item_is_wrong(before):
    answer = before.recommend("u1", K)
    state = State(before)
    assert state.recommends("u1", answer)
    assert not state.recommends("u1", answer[:-1])
    answer[0], answer[1] = answer[1], answer[0]
    assert not state.recommends("u1", answer)


def test_an_answer_of_a_state_that_is_gone_is_wrong():
    published = Published(1)
    ask, is_right = ASKED["recommend"]
    old = []
    assert published.ask(lambda model: old.append(ask(model)) or old[0], is_right)
    for _ in range(5):
        assert published.update()
    assert published.ask(ask, is_right)
    assert not published.ask(lambda _: old[0], is_right)


def test_a_file_that_goes_back_or_has_other_bits_is_wrong(tmp_path, before, after):
    path = tmp_path / "model.ialspp"
    after.save(path)
    assert number_of(after) == 5
    replaced = Replaced(path, 1)
    assert replaced.load()
    before.save(path)
    assert not replaced.load()
    other = first_model(1)
    other.update(news(1, 9))  # without those in between
    other.save(path)
    assert not Replaced(path, 1).load()
