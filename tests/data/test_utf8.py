"""Strings as bytes, and the maps of ids that a file's strings and integers make."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.models import properties

from ialspp import IdMap, UnknownIdError
from ialspp.data.ids import FEW
from ialspp.data.utf8 import Utf8

ODD = ["", "a", "a\0", "\0", "\n", " ", "é", "e\u0301", "\u05e9\u05dc\u05d5\u05dd", "\ud800", "\udfff"]
ODD += ["\uffff", "😀", "\U0010ffff", "\ud83d\ude00", "a\ud800b", "x" * 300]
strings_of = st.lists(st.text(st.characters(), max_size=6), unique=True, max_size=30)
integers_of = st.lists(st.integers(-(2**70), 2**70), unique=True, max_size=30)


def order_of(values):
    return np.array(sorted(range(len(values)), key=values.__getitem__), dtype=np.int64)


def stored(values, name="id"):
    """The map of a file in which these ids stand, in an order of their own if they are not sorted."""
    order = None if values == sorted(values) else order_of(values)
    return IdMap.stored(Utf8.of(values), order, name=name)


def frozen(array):
    array.flags.writeable = False
    return array


# Strings


@given(strings_of)
@example(ODD)
@properties
def test_strings_come_back(strings):
    kept = Utf8.of(iter(strings))
    kept.check()
    assert len(kept) == len(strings)
    assert kept.all().tolist() == strings
    assert kept.all().dtype == object
    assert kept.take(np.arange(len(strings))) == strings
    assert (kept.offsets.dtype, kept.data.dtype) == (np.int64, np.uint8)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint64])
def test_some_strings_come_back_in_the_order_asked_for(dtype):
    rows = [len(ODD) - 1, 0, 3, 3]
    assert Utf8.of(ODD).take(np.array(rows, dtype)) == [ODD[row] for row in rows]
    assert Utf8.of(ODD).take(np.array([], dtype)) == []


def test_strings_that_unicode_allows_are_kept_as_utf8():
    kept = Utf8.of(["aé", "", "😀"])
    assert kept.data.tobytes() == "aé😀".encode()
    assert kept.offsets.tolist() == [0, 3, 3, 7]
    assert kept.encoded(np.arange(3)) == ["aé".encode(), b"", "😀".encode()]


@given(strings_of, strings_of)
@example(ODD[::-1], ["aa", "e", "\ud83d", "\ude00"])
@properties
def test_a_string_is_found_where_it_is_and_nowhere_else(strings, others):
    unsorted, ascending = Utf8.of(strings), Utf8.of(sorted(strings))
    for string in strings + others:
        row = strings.index(string) if string in strings else -1
        assert unsorted.find(string, order_of(strings)) == row
        assert ascending.find(string, None) == (-1 if row < 0 else sorted(strings).index(string))


def test_nothing_is_found_among_no_strings():
    assert Utf8.of([]).find("", None) == -1
    assert Utf8.of([]).all().tolist() == []


@pytest.mark.parametrize("offsets", [[], [0], [1, 3], [0, 2], [0, 4], [0, 2, 1, 3], [0, -1, 3], [0, 9, 3]])
def test_offsets_that_do_not_cut_the_bytes_are_an_error(offsets):
    with pytest.raises(ValueError, match="offsets must rise from 0 to 3"):
        Utf8(np.array(offsets, dtype=np.int64), np.zeros(3, dtype=np.uint8)).check()


# Maps of what a file holds


@given(strings_of, strings_of)
@properties
def test_a_map_of_stored_strings_is_that_of_the_strings(strings, others):
    known, asked = stored(strings), [*others, *strings, *strings]
    inside = [value in known for value in asked]
    assert inside == [value in strings for value in asked]
    assert known.rows(strings).tolist() == list(range(len(strings)))
    assert known._ids is None  # so far no string but those looked at was decoded
    assert len(known) == len(strings)
    if strings:
        assert (known[0], known[-1]) == (strings[0], strings[-1])
        assert known == IdMap(strings)
    assert list(known) == known.ids.tolist() == strings


@given(integers_of)
@properties
def test_a_map_of_stored_integers_is_that_of_the_integers(values):
    made = IdMap(values)
    known = IdMap.stored(frozen(made.ids.copy()), name="user")
    assert known == made
    assert list(known) == values
    assert known.rows(values).tolist() == list(range(len(values)))
    assert known.order.tolist() == order_of(values).tolist()
    assert [value in known for value in (2**71, -(2**71), "7")] == [False] * 3


def test_stored_integers_are_not_copied():
    ids = frozen(np.array([7, -3, 2**40]))
    assert np.shares_memory(IdMap.stored(ids).ids, ids)


def test_few_and_many_questions_have_the_same_answers():
    strings = [f"{n * 7919 % 3001}" for n in range(3001)]
    many = [*strings[::-1], "nobody"]
    assert len(many) > FEW
    one_by_one, at_once = stored(strings), stored(strings)
    rows = [one_by_one.rows([value]).item() for value in strings[::-1]]
    assert one_by_one._ids is None
    assert at_once.rows(strings[::-1]).tolist() == rows == list(range(3001))[::-1]
    for known in (one_by_one, at_once):
        with pytest.raises(UnknownIdError, match=r"unknown id: 'nobody'$"):
            known.rows(many)


def test_strangers_are_named_as_in_any_map():
    known, others = stored(["b", "a"], "user"), stored(["tea"], "item")
    with pytest.raises(UnknownIdError, match=r"unknown user: 'eve'$"):
        known.rows(["a", "eve"])
    with pytest.raises(UnknownIdError, match=r"unknown user: 1 \(these are integers, .* are strings\)"):
        known.rows([1])
    with pytest.raises(UnknownIdError, match=r"'tea' \(is the id of an item: are users and items swapped"):
        known.rows(["tea"], others)
    assert [value in known for value in (None, 1, b"a", ["a"])] == [False] * 4
    assert repr(known) == "IdMap(2 users: 'b', 'a')"


@pytest.mark.parametrize("again", [copy.deepcopy, lambda known: pickle.loads(pickle.dumps(known))])
def test_a_copy_of_a_stored_map_is_a_map(again):
    for known in (stored(ODD[::-1]), IdMap.stored(np.array([5, 1]))):
        assert again(known) == known
        assert again(known).rows([known[1]]).tolist() == [1]


# Names, order and growth


@pytest.mark.parametrize("ids", [ODD[::-1], [3, -1, 2**62], [2**64 - 1, 0], [10**30, -1]])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_rows_are_named_by_plain_values(ids, dtype):
    maps = [IdMap(ids), stored(ids) if isinstance(ids[0], str) else IdMap.stored(IdMap(ids).ids)]
    for known in maps:
        named = known.named(np.array([1, 0, 1], dtype))
        assert named == [ids[1], ids[0], ids[1]]
        assert {type(value) for value in named} == {type(ids[0])}
        assert known.named(np.array([], dtype)) == []


@given(st.one_of(strings_of, integers_of))
@properties
def test_the_order_is_that_of_the_ids(ids):
    assert IdMap(ids).order.tolist() == order_of(ids).tolist()
    if ids and isinstance(ids[0], str):
        assert stored(ids).order.tolist() == order_of(ids).tolist()


@given(st.one_of(st.tuples(strings_of, strings_of), st.tuples(integers_of, integers_of)))
@properties
def test_a_map_grows_at_its_end_in_the_order_of_the_new_ids(both):
    old, new = both
    expected = old + sorted(set(new) - set(old))
    maps = [IdMap(old, name="user")] + ([stored(old, "user")] if old and isinstance(old[0], str) else [])
    for known in maps:
        grown = known.extended(iter(new + new))
        assert list(grown) == expected
        assert grown == IdMap(expected)
        assert grown.name == "user"
        assert list(known) == old
        assert (grown is known) == (len(expected) == len(old))


@pytest.mark.parametrize(("old", "new"), [([1, 2], ["a"]), (["a"], [1, 2]), ([2**70], ["a"])])
def test_a_map_does_not_grow_by_ids_of_another_kind(old, new):
    maps = [IdMap(old, name="user")] + ([stored(old, "user")] if isinstance(old[0], str) else [])
    for known in maps:
        with pytest.raises(TypeError, match="users must be all integers or all strings"):
            known.extended(new)
