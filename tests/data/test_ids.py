import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import drawn

from ialspp import IdMap, UnknownIdError

INTEGERS = st.integers(-(2**70), 2**70)
STRINGS = st.text(st.characters())  # surrogates and NUL included
ODD_STRINGS = ["", "a", "a\0", "\0", " a", "é", "e\u0301", "😀", "\ud800", "\udfff", "\uffff", "1"]
WIDE_INTEGERS = [0, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64, 10**30]

properties = drawn(40)


def ids_of(*, unique):
    return st.one_of(st.lists(INTEGERS, unique=unique), st.lists(STRINGS, unique=unique))


@given(ids_of(unique=True))
@properties
def test_a_map_keeps_ids_in_the_order_given(ids):
    id_map = IdMap(ids)
    assert id_map.ids.tolist() == ids
    assert len(id_map) == len(ids)
    assert id_map.rows(ids).tolist() == list(range(len(ids)))


@given(ids_of(unique=False))
@properties
def test_factorize_sorts_the_ids_and_gives_every_value_its_row(values):
    id_map, rows = IdMap.factorize(values)
    assert id_map.ids.tolist() == sorted(set(values))
    assert [id_map.ids[row] for row in rows] == values


@given(ids_of(unique=True), st.randoms())
@properties
def test_rows_follow_the_order_of_the_question(ids, random):
    asked = ids + ids
    random.shuffle(asked)
    assert IdMap(ids).rows(asked).tolist() == [ids.index(i) for i in asked]


@pytest.mark.parametrize("ids", [ODD_STRINGS, WIDE_INTEGERS, [2**63 - 1, -(2**63)]])
def test_ids_that_look_alike_stay_apart(ids):
    id_map, rows = IdMap.factorize(ids)
    assert len(id_map) == len(ids)
    assert [id_map.ids[row] for row in rows] == ids
    assert all(i in id_map for i in ids)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_integers_are_found_whatever_their_width(dtype):
    ids = [100, 3, 27]
    for id_map in IdMap(ids), IdMap(np.array(ids, dtype)), IdMap([*ids, 2**80]):
        assert id_map.rows(np.array([27, 100], dtype)).tolist() == [2, 0]
        assert id_map.rows([27, 100]).tolist() == [2, 0]
        assert dtype(27) in id_map


@pytest.mark.parametrize(
    ("known", "asked"), [(-1, 2**64 - 1), (2**64 - 1, -1), (2**53, 2**53 + 1), (0, 2**64)]
)
def test_wide_integers_do_not_wrap_or_round(known, asked):
    id_map = IdMap([known])
    assert asked not in id_map
    with pytest.raises(UnknownIdError, match=str(asked)):
        id_map.rows([asked])


@pytest.mark.parametrize(
    "container",
    [tuple, iter, lambda x: np.array(x, object), np.array, pd.Series, pd.Index, pd.Categorical, pl.Series],
)
@pytest.mark.parametrize("ids", [["b", "a", "c"], [30, 10, 20]])
def test_ids_come_in_any_container(container, ids):
    assert IdMap(container(ids)) == IdMap(ids)
    assert IdMap(ids).rows(container(ids[::-1])).tolist() == [2, 1, 0]


def test_maps_are_equal_when_ids_and_order_are():
    assert IdMap(["b", "a"]) == IdMap(["b", "a"])
    assert IdMap([1, 2]) == IdMap(np.array([1, 2], np.uint64))
    assert IdMap(["b", "a"]) != IdMap(["a", "b"])
    assert IdMap(["a"]) != IdMap(["a", "b"])
    assert IdMap([1]) != IdMap(["1"])
    assert IdMap([1]) != [1]


@pytest.mark.parametrize("stranger", [3, -1, 2**80, "1", "", None, float("nan"), b"1", [1], (1, 2)])
def test_strangers_are_not_in_the_map(stranger):
    assert stranger not in IdMap([1, 2])
    assert stranger not in IdMap(["one", "two"])


def test_an_empty_map_knows_nothing():
    id_map = IdMap([], name="user")
    assert len(id_map) == 0
    assert id_map.rows([]).tolist() == []
    assert "a" not in id_map
    with pytest.raises(UnknownIdError, match=r"user.*'a'"):
        id_map.rows(["a"])


def test_the_map_does_not_share_memory_with_its_source():
    source = np.array([5, 6, 7])
    id_map = IdMap(source)
    source[:] = 0
    assert id_map.ids.tolist() == [5, 6, 7]
    with pytest.raises(ValueError, match="read-only"):
        id_map.ids[0] = 1


def test_unknown_ids_are_named():
    with pytest.raises(UnknownIdError) as caught:
        IdMap(["ann", "bob"], name="user").rows(["bob", "eve", "mal"])
    assert isinstance(caught.value, KeyError)
    message = str(caught.value)
    assert "user" in message
    assert "'eve'" in message
    assert "'mal'" in message
    assert "bob" not in message


@pytest.mark.parametrize(("ids", "asked"), [([1, 2], ["1"]), (["1", "2"], [1])])
def test_an_id_of_the_other_kind_gets_a_hint(ids, asked):
    with pytest.raises(UnknownIdError, match=r"(?s)item.*1.*(strings.*integers|integers.*strings)"):
        IdMap(ids, name="item").rows(asked)


@pytest.mark.parametrize(
    ("ids", "named"), [([7, 8, 7], "user 7 "), (["a", "b", "b"], "user 'b'"), ([2**80] * 2, str(2**80))]
)
def test_an_id_listed_twice_is_an_error_that_names_it(ids, named):
    with pytest.raises(ValueError, match=named):
        IdMap(ids, name="user")


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (["a", None], TypeError, "user.*position 1.*missing"),
        ([1, float("nan")], TypeError, "user.*position 1.*missing"),
        (["a", pd.NA], TypeError, "user.*position 1.*missing"),
        (pd.Series(["a", None], dtype="string"), TypeError, "user.*position 1.*missing"),
        (pd.Series([1, None], dtype="Int64"), TypeError, "user.*position 1.*missing"),
        (pl.Series([1, None]), TypeError, "user.*position 1.*missing"),
        ([1, 2, "a"], TypeError, "user.*1.*'a' at position 2"),
        (["a", 2], TypeError, "user.*'a'.*2 at position 1"),
        ([1, 2.5], TypeError, "user.*position 1.*float.*2.5"),
        (np.array([1.0]), TypeError, "user.*float64"),
        ([1, True], TypeError, "user.*position 1.*bool"),
        (np.array([True]), TypeError, "user.*bool"),
        ([b"a"], TypeError, "user.*position 0.*bytes"),
        ([(1, 2)], TypeError, "user.*position 0.*tuple"),
        (np.array(["2020-01-01"], "datetime64[D]"), TypeError, "user.*datetime64"),
        (np.array([[1, 2]]), ValueError, r"user.*one-dimensional.*\(1, 2\)"),
        ("abc", TypeError, "user.*'abc'"),
        (5, TypeError, "user.*5"),
        (None, TypeError, "user.*None"),
    ],
)
@pytest.mark.parametrize("make", [IdMap, IdMap.factorize])
def test_what_cannot_be_an_id_is_an_error_that_says_where(make, values, error, message):
    with pytest.raises(error, match=message):
        make(values, name="user")


@pytest.mark.parametrize("large", [2**62, 2**63])
def test_large_integers_are_told_apart_exactly_whatever_their_type(large):
    values = [large + n for n in range(5)]
    for source in (values, np.array(values, dtype=np.uint64)):
        ids = IdMap(source)
        for asked in (values, np.array(values, dtype=np.uint64)):
            assert ids.rows(asked).tolist() == [0, 1, 2, 3, 4]
        assert large + 77 not in ids
        assert -1 not in ids
        assert ids == IdMap(values)
    mixed = IdMap([-1, 5, large])
    assert mixed.rows(np.array([large, 5], dtype=np.uint64)).tolist() == [2, 1]


def test_masked_ids_are_an_error_that_says_where():
    with pytest.raises(TypeError, match=r"user.*position 1"):
        IdMap(np.ma.array([1, 2], mask=[False, True]), name="user")
    assert len(IdMap(np.ma.array([1, 2]))) == 2
