"""What a page holds: numbers that fit Python's, names as they are, and no more than a browser can take."""

import base64
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.explorable import HOSTILE, make_data, make_model, old_file

from ialspp import ImplicitMF
from ialspp.errors import InvalidTypeError, InvalidValueError, NotFittedError
from ialspp.explorer import content, served_page, write_page
from ialspp.explorer.content import as_json, content_of, rounded

EMBEDDED = re.compile(r'<script id="content" type="application/json">(.*?)</script>', re.DOTALL)


def written(model, folder, **options):
    """The page of a model, and the content that it holds."""
    path = folder / "page.html"
    write_page(model, path, **options)
    text = path.read_text(encoding="ascii")
    return text, json.loads(EMBEDDED.search(text)[1])


def numbers(text, kind):
    return np.frombuffer(base64.b64decode(text), kind)


def test_the_numbers_of_a_page_are_those_of_the_model(model, tmp_path):
    _, found = written(model, tmp_path)
    vectors = (
        numbers(found["vectors"], "<i2").reshape(-1, model.dim) * numbers(found["scales"], "<f4")[:, None]
    )
    largest = np.abs(model.item_factors).max(axis=1, keepdims=True)
    assert (np.abs(vectors - model.item_factors) <= largest / 65_000).all()
    exact = model.item_factors.astype(float).T @ model.item_factors.astype(float)
    np.testing.assert_allclose(numbers(found["gramian"], "<f8"), exact[np.tril_indices(model.dim)], atol=1e-5)
    assert found["ids"] == [str(item) for item in model.items]
    assert found["names"] == model.items.labels(range(len(model.items)))
    assert found["users"] == model.trained_on.by_user.column_counts.tolist()
    assert found["counts"] == {"users": 150, "items": len(model.items), "interactions": 1800}


def test_the_most_popular_items_are_kept_with_the_gramian_of_all(model, tmp_path):
    _, whole = written(model, tmp_path)
    _, found = written(model, tmp_path, top=30)
    assert len(found["ids"]) == len(found["map"]["items"]) == 30
    assert sorted(found["users"]) == sorted(whole["users"])[-30:]
    assert found["gramian"] == whole["gramian"]
    assert found["counts"] == whole["counts"]
    assert all(len(person["items"]) + person["elsewhere"] == 12 for person in found["people"])


def test_histories_are_spread_over_users_of_all_sizes(model, tmp_path):
    _, found = written(model, tmp_path, users=7)
    assert len(found["people"]) == 7
    for person in found["people"]:
        past = model.trained_on.by_user.columns_of(int(model.users.rows([person["id"]])[0]))
        assert person["items"] == past.tolist()
    assert written(model, tmp_path, users=0)[1]["people"] == []
    assert len(written(model, tmp_path, users=9999)[1]["people"]) == 150


def test_weights_and_labels_of_a_history_are_kept(tmp_path):
    model = make_model(make_data(weighted=True))
    _, found = written(model, tmp_path, users=3)
    rows = model.trained_on.by_user
    for person in found["people"]:
        row = rows.take(model.users.rows([person["id"]]))
        assert person["weights"] == row.weights.tolist()
    assert found["weight"] == np.median(rows.weights)


def test_an_old_file_without_interactions_and_names(tmp_path):
    model = ImplicitMF.load(old_file(make_model(make_data()), tmp_path / "model.ialspp"))
    _, found = written(model, tmp_path)
    assert found["names"] is found["users"] is found["counts"]["interactions"] is None
    assert found["people"] == []


def test_hostile_names_stay_data(model, tmp_path):
    named = make_model(make_data().with_names(items={1000 + k: name for k, name in enumerate(HOSTILE)}))
    text, found = written(named, tmp_path, title=HOSTILE[0])
    kept = dict(zip(found["ids"], found["names"], strict=True))
    assert [kept[str(1000 + k)] for k in range(len(HOSTILE))] == HOSTILE
    plain, _ = written(model, tmp_path)
    assert text.count("<") == plain.count("<")


@given(st.text() | st.dictionaries(st.text(), st.text()))
def test_any_text_is_safe_inside_of_a_script_element(value):
    text = as_json({"value": value})
    assert "<" not in text
    assert text.isascii()
    assert json.loads(text)["value"] == value


@given(st.lists(st.floats(-(2.0**127), 2.0**127, width=32), min_size=1, max_size=8))
def test_rounding_is_off_by_less_than_a_65000th_of_the_largest_number(vector):
    vectors = np.array([vector, np.zeros(len(vector))], dtype=np.float32)
    whole, scales = rounded(vectors)
    restored = whole.astype(np.float64) * scales[:, None]
    largest = np.abs(vectors.astype(np.float64)).max(axis=1, keepdims=True)
    assert (np.abs(restored - vectors) <= largest / 65_000 + 2.0**-134).all()


def test_too_many_items_are_an_error_that_names_the_remedy(model, monkeypatch):
    monkeypatch.setattr(content, "MOST_ITEMS", 100)
    with pytest.raises(InvalidValueError, match="top must be at most 100 for vectors of 12 numbers"):
        content_of(model, "", None, 0)
    assert len(content_of(model, "", 100, 0)["ids"]) == 100


def test_too_many_bytes_are_an_error_that_names_the_remedy(model, monkeypatch):
    monkeypatch.setattr(content, "MOST_BYTES", 2000)
    with pytest.raises(InvalidValueError, match="top must be at most 38 "):
        content_of(model, "", None, 0)
    content_of(model, "", 38, 0)
    monkeypatch.setattr(content, "MOST_BYTES", 500)
    with pytest.raises(InvalidValueError, match="vectors of a page must be shorter"):
        content_of(model, "", 1, 0)


def test_bad_arguments_are_refused(model, tmp_path):
    path = tmp_path / "page.html"
    with pytest.raises(InvalidTypeError, match="an ImplicitMF is required, got str"):
        write_page("model", path)
    with pytest.raises(NotFittedError):
        write_page(ImplicitMF(), path)
    with pytest.raises(InvalidValueError, match="top must be at least 1, got 0"):
        write_page(model, path, top=0)
    with pytest.raises(InvalidValueError, match="users must be at least 0, got -1"):
        write_page(model, path, users=-1)
    assert not path.exists()


def test_the_served_page_has_no_model():
    assert EMBEDDED.search(served_page())[1] == "null"
