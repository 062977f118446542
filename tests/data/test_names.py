"""Names of users and items: what is accepted, which parts of the data keep them, and how they are found."""

import pickle
from copy import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.models import make_data, properties

from ialspp import IdMap, Interactions, read_names, split
from ialspp.data.fingerprint import Fingerprint
from ialspp.data.names import Names
from ialspp.data.search import TextSearch
from ialspp.errors import OutOfRangeError

TITLES = {1: "Toy Story (1995)", 3: "Star Wars", 7: "Amélie", 99: "not in the data"}
films = IdMap([7, 3, 1, 5], name="item")
texts = st.text(st.characters(), max_size=8)


def named(ids=films, names=TITLES):
    return ids.with_names(names)


# What is accepted


@pytest.mark.parametrize(
    "names",
    [
        TITLES,
        {np.int64(key): value for key, value in TITLES.items()},
        pd.DataFrame({"id": list(TITLES), "title": list(TITLES.values())}),
        pd.Series(TITLES),
        pl.DataFrame({"id": list(TITLES), "title": list(TITLES.values())}),
        pl.LazyFrame({"id": list(TITLES), "title": list(TITLES.values())}),
        pl.DataFrame({"id": [*TITLES, 5, 1], "title": [*TITLES.values(), None, "a later name"]}),
        pd.DataFrame({"id": [*TITLES, 5], "title": [*TITLES.values(), float("nan")]}),
        ["Amélie", "Star Wars", "Toy Story (1995)", ""],
        ["Amélie", "Star Wars", "Toy Story (1995)", None],
        pl.Series(["Amélie", "Star Wars", "Toy Story (1995)", None]),
        np.array(["Amélie", "Star Wars", "Toy Story (1995)", ""]),
        Names(["Amélie", "Star Wars", "Toy Story (1995)", ""]),
    ],
    ids=lambda names: type(names).__module__.split(".")[0] + " " + type(names).__name__,
)
def test_names_come_in_any_form(names):
    found = named(names=names)
    assert found.names == ["Amélie", "Star Wars", "Toy Story (1995)", ""]
    assert found.names.filled == 3
    assert found.labels([3, 0]) == ["5", "Amélie"]
    assert found.names_of(np.array([3, 0])) == [None, "Amélie"]
    assert films.names is None


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        ("Toy Story", TypeError, "item names must be a mapping from ids, .* got str"),
        (7, TypeError, "item names must be a mapping from ids, .* got int"),
        ({1: 1995}, TypeError, "item names must be strings, but that of 1 is 1995"),
        (["a"], ValueError, "must be one per item, 4 in all, got 1"),
        ({"1": "a"}, LookupError, r"unknown item: '1' \(these are strings, but the items .* are integers\)"),
        (
            {2: "a", 4: "b"},
            ValueError,
            "none of the 2 ids that have a name is the id of one of the 4 items: 2",
        ),
        (pl.DataFrame({"a": [1]}), ValueError, r"two columns, the ids and the names; got \['a'\]"),
        (pd.DataFrame({"a": [1], "b": ["x"], "c": [2]}), ValueError, "must have two columns"),
    ],
)
def test_what_cannot_be_names_is_an_error(names, error, message):
    with pytest.raises(error, match=message):
        named(names=names)


@pytest.mark.parametrize("nothing", [None, {}, {1: ""}, {1: None}, ["", "", "", ""], [None] * 4])
def test_no_names_are_none(nothing):
    assert named(names=nothing).names is None


def test_names_that_are_given_replace_those_there_are():
    again = named().with_names({3: "Star Wars (1977)", 5: "Heat"})
    assert again.names == ["Amélie", "Star Wars (1977)", "Toy Story (1995)", "Heat"]
    assert named().names[1] == "Star Wars"
    assert named().with_names(None).names == named().names


@given(st.lists(texts, min_size=1, max_size=20))
@properties
def test_any_text_can_be_a_name_and_becomes_valid_unicode(names):
    kept = IdMap(range(len(names))).with_names(names).names or [""] * len(names)
    assert "\n".join(kept).encode().decode() == "\n".join(kept)
    for before, after in zip(names, kept, strict=True):
        assert (
            after == before
            or "�" in after
            or after.encode("utf-16", "surrogatepass") == before.encode("utf-16", "surrogatepass")
        )


@given(st.lists(texts, min_size=1, max_size=20), st.data())
@properties
def test_names_are_a_sequence(listed, data):
    names = Names(listed)
    plain = list(names)
    rows = data.draw(st.lists(st.integers(0, len(plain) - 1), max_size=10))
    assert [names[row] for row in range(len(names))] == plain
    assert names.take(np.array(rows, dtype=int)) == [plain[row] for row in rows]
    assert names.selected(np.array(rows, dtype=int)) == [plain[row] for row in rows]
    assert names.extended(len(plain) + 2) == [*plain, "", ""]
    assert names[1:3] == plain[1:3]
    assert names.filled == sum(map(bool, plain))
    assert pickle.loads(pickle.dumps(names)) == copy(names) == plain
    names.check(len(names))
    with pytest.raises(ValueError, match="names are required, one per row"):
        names.check(len(names) + 1)


def test_a_repr_says_how_many_have_names():
    assert repr(named()) == "IdMap(4 items: 7, 3, 1, ...; 3 have names)"
    assert repr(named().names) == "Names(4: 'Amélie', 'Star Wars', 'Toy Story (1995)', ...)"
    assert repr(example()).endswith("with labels, weights, user names, item names)")


# What names do not change


def example():
    data = make_data()
    return data.with_names(
        items={item: f"The {item}" for item in data.items}, users={user: f"U{user}" for user in data.users}
    )


def test_names_change_neither_equality_nor_the_fingerprint():
    assert named() == films
    assert hash(Fingerprint.of(example())) == hash(Fingerprint.of(make_data()))
    assert example().by_user is not None
    assert example().statistics() == make_data().statistics()


def test_data_with_names_shares_what_it_is_made_of():
    data = make_data()
    again = data.with_names(items={"item-1": "one"})
    assert again.by_user is data.by_user
    assert again.users.names is None
    assert again.items.ids is data.items.ids
    assert data.items.names is None


# Parts keep names


def names_fit(data):
    assert data.items.names == [f"The {item}" for item in data.items]
    assert data.users.names == [f"U{user}" for user in data.users]


def test_parts_of_data_keep_their_names():
    data = example()
    names_fit(data)
    names_fit(data.core(9, 12))
    names_fit(data.select(np.arange(len(data)) % 3 == 0))
    assert len(data.core(9, 12).items) < len(data.items)


@pytest.mark.parametrize("make", [split.random, lambda data: split.strong(data, held_out=5, min_user=1)])
def test_splits_keep_names(make):
    parts = make(example())
    for data in (parts.train, parts.test.given, parts.test.wanted):
        names_fit(data)


def test_new_ids_have_no_name_until_one_is_given():
    grown = named().extended([8, 2])
    assert (list(grown), grown.names) == ([7, 3, 1, 5, 2, 8], [*named().names, "", ""])
    assert named().extended([7]).names == named().names
    assert named().extended([2**70]).names == [*named().names, ""]
    both = named().extended(IdMap([8, 7]).with_names({8: "Eight", 7: "Amelie"}))
    assert both.names == ["Amelie", "Star Wars", "Toy Story (1995)", "", "Eight"]
    assert films.extended(IdMap([8]).with_names({8: "Eight"})).names == ["", "", "", "", "Eight"]


def test_a_map_that_is_given_as_an_axis_keeps_its_names():
    data = Interactions.from_arrays(user=[1], item=[3], items=named())
    assert data.items.names == named().names
    matrix = pytest.importorskip("scipy.sparse").coo_array(np.ones((2, 4)))
    assert Interactions.from_scipy(matrix, items=named()).items.names == named().names
    assert named().renamed("film").names == named().names


# Search


CATALOGUE = ["Star", "A Star Is Born", "Starman", "Mustard", "The Starling", "STAR", "", "Ça star", "tar"]
catalogue = IdMap(range(10, 19)).with_names(CATALOGUE)


def found(text, **options):
    return [CATALOGUE[row] for row in catalogue.search(text, **options)]


def test_a_search_ranks_exact_then_start_then_word_then_anywhere():
    assert found("star") == [
        "Star",
        "STAR",
        "Starman",
        "A Star Is Born",
        "The Starling",
        "Ça star",
        "Mustard",
    ]
    assert found("sTaR", limit=3) == ["Star", "STAR", "Starman"]
    assert found("ça") == ["Ça star"] == found("c\u0327a") == found("CA S")
    assert found("is born") == ["A Star Is Born"]
    assert found("nothing") == found("") == found("  ") == found("star", limit=0) == []


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("sigur rós", "SIGUR ROS"),
        ("Sigur Ros", "rós"),
        ("Amélie", "amelie"),
        ("İstanbul", "istanbul"),
        ("Straße", "STRASSE"),
        ("\uff26\uff55\uff4c\uff4c", "full"),  # in full width
        ("Αθήνα", "αθηνα"),
        ("각시탈", "각시"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_accents_make_no_difference(name, typed):
    names = IdMap(range(3)).with_names(["other", name, "another"])
    assert names.search(typed).tolist() == [1]


def test_words_may_come_in_any_order():
    names = IdMap(range(4)).with_names(["Toy Story 350", "Häagen\u2013Dazs 79", "Story of a Toyota", "Toy"])
    assert names.search("toy 350").tolist() == [0]
    assert names.search("haagen dazs").tolist() == [1]
    assert names.search("toy dazs").tolist() == []
    assert names.search("toyota story").tolist() == [2]
    assert names.search("story toy").tolist() == [0, 2]
    assert names.search("toy story").tolist() == [0]  # which has the text itself


def test_marks_that_are_letters_do():
    names = IdMap(range(2)).with_names(["कि", "が"])
    assert names.search("का").tolist() == names.search("か").tolist() == []


def test_popularity_breaks_ties_only():
    popularity = np.arange(len(CATALOGUE))
    assert found("star", popularity=popularity)[:3] == ["STAR", "Star", "Starman"]
    assert found("star", popularity=popularity, limit=1) == ["STAR"]
    with pytest.raises(
        ValueError, match=r"popularity must have shape \(9,\), one number per row, got \(2,\)"
    ):
        catalogue.search("star", popularity=[1, 2])
    with pytest.raises(TypeError, match="the text to search for must be a string, got 5"):
        catalogue.search(5)


def test_a_search_looks_at_ids_too():
    assert catalogue.search("16").tolist() == [6]
    assert films.search("7").tolist() == [0]
    assert IdMap(["Beta", "alpha", "alphabet"]).search("ALPHA").tolist() == [1, 2]
    assert catalogue.with_names({16: "Now"}).search("now").tolist() == [6]


def tier(text, wanted):
    text, wanted = text.lower(), wanted.lower()
    if wanted not in text:
        return None
    if text == wanted:
        return 0
    if text.startswith(wanted):
        return 1
    starts = [at for at in range(len(text)) if text.startswith(wanted, at)]
    return 2 if any(not text[at - 1].isalnum() for at in starts) else 3


words = st.text("ab C-", max_size=6)


@given(st.lists(words, min_size=1, max_size=12), st.text("abc", min_size=1, max_size=2), st.integers(1, 5))
@properties
def test_a_search_agrees_with_looking_at_every_text(names, wanted, limit):
    tiers = [tier(name, wanted) for name in names]
    rows = sorted((row for row, t in enumerate(tiers) if t is not None), key=lambda row: (tiers[row], row))
    assert TextSearch(names).rows(wanted, limit, None).tolist() == rows[:limit]


@given(st.lists(texts, min_size=1, max_size=10), texts)
@properties
def test_a_search_takes_any_text(names, wanted):
    ids = IdMap(range(len(names)), name="item").with_names(names)
    for row in ids.search(wanted).tolist():
        assert 0 <= row < len(names)
    if wanted.strip() and ids.names is not None:
        assert set(ids.search(names[0], limit=99).tolist()) >= ({0} if names[0].strip().isalnum() else set())


def test_no_ids_have_no_names(tmp_path):
    empty = IdMap([], name="item")
    assert empty.with_names(TITLES).names is None
    (tmp_path / "titles.csv").write_text("item,title\nx,Tea\n")
    (tmp_path / "events.csv").write_text("user,item,stars\n1,2,3\n")
    data = Interactions.read(tmp_path / "events.csv", user="user", item="item", where="stars > 9")
    titles = read_names(tmp_path / "titles.csv", id="item", name="title")
    assert len(data.with_names(items=titles)) == 0


@pytest.mark.parametrize("row", [-1, 4])
@pytest.mark.parametrize("ids", [films, named(), IdMap(list("abcd"), name="item")])
def test_a_row_that_is_not_there_is_an_error(ids, row):
    for question in (ids.named, ids.labels):
        with pytest.raises(OutOfRangeError, match=f"rows must be from 0 to 3, got {row}"):
            question(np.array([0, row]))
    if ids.names is not None:
        with pytest.raises(OutOfRangeError, match=f"got {row}"):
            ids.names_of(np.array([row]))
