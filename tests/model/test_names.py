"""Names in a model: its answers, its files, its updates, its checkpoints, what it exports."""

import re
import zlib
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from support import forged
from support.forged import changed
from support.models import fitted, make_data, same_bits
from support.stores import again, file_of

from ialspp import ImplicitMF, Interactions, export, store
from ialspp.data.utf8 import Utf8
from ialspp.store import StoreError

GOLDEN = Path(__file__).parents[1] / "golden" / "model-v2.ialspp"


def example():
    data = make_data()
    return data.with_names(items={item: f"The {item}" for item in data.items if item != "item-3"})


def named():
    return fitted(example())


def titles(items):
    return [None if item == "item-3" else f"The {item}" for item in items]


# Answers


def test_answers_have_names_and_are_otherwise_the_same():
    model, plain = named(), fitted()
    assert same_bits(model, plain)
    for ask in (
        lambda model: model.recommend(5, k=20),
        lambda model: model.recommend([5, 6], k=20)[1],
        lambda model: model.recommend_for([["item-1"]], k=20)[0],
        lambda model: model.similar_items("item-1", k=29),
    ):
        found = ask(model)
        assert found == ask(plain)
        assert found.names == titles(found)
        assert found[2:4].names == titles(found[2:4])
        assert ask(plain).names == [None] * len(found)
    assert any("item-3" in model.recommend(k=20)[row] for row in range(40))
    why = model.explain(5, "item-1")
    assert why.names == titles(item for item, _ in why)
    assert why[:1].names == why.names[:1]
    assert fitted().explain(5, "item-1").names == [None] * len(why)


def test_a_repr_shows_names_where_there_are_any():
    model = named()
    best = model.similar_items("item-1", k=29)
    assert repr(best[:1]) == f"['{best[0]}': 'The {best[0]}']"
    assert ", 'item-3'," in repr(best) or repr(best).startswith("['item-3',")
    assert repr(list(fitted().recommend(5))) == repr(fitted().recommend(5))
    why = model.explain(5, "item-1")
    assert repr(why[:1]) == f"[('{why[0][0]}': 'The {why[0][0]}', {why[0][1]!r})]"
    assert repr(fitted().explain(5, "item-1")) == repr(list(fitted().explain(5, "item-1")))


def test_frames_have_a_column_of_names():
    model = named()
    frame = model.recommend([5, 6], k=20).to_frame()
    assert frame.columns == ["user", "item", "item_name", "rank", "score", "fallback"]
    assert frame["item_name"].to_list() == titles(frame["item"])
    model.set_names(users={5: "Five"})
    frame = model.recommend([5, 6], k=2).to_frame()
    assert frame["user_name"].to_list() == ["Five", "Five", None, None]
    frame = model.similar_items(["item-1", "item-3"], k=2).to_frame()
    assert frame.columns == ["item", "item_name", "similar_item", "similar_item_name", "rank", "score"]
    assert frame["item_name"].to_list() == ["The item-1"] * 2 + [None] * 2
    assert fitted().recommend([5], k=2).to_frame().columns == ["user", "item", "rank", "score", "fallback"]


# Life


def test_a_model_gets_names_after_it_was_trained(tmp_path):
    model = fitted()
    model.set_names(items={"item-1": "One"})
    assert model.items.labels([0, 1]) == ["item-0", "One"]
    assert model.trained_on.items is model.items
    assert again(model, tmp_path / "model").items.names == model.items.names
    bare = again(fitted(), tmp_path / "bare", interactions=False)
    bare.set_names(users={1: "Ann"})
    assert again(bare, tmp_path / "bare", interactions=False).users.names[1] == "Ann"

    def during(model, _record):
        model.set_names(items={"item-1": "One"})

    with pytest.raises(RuntimeError, match="set_names must wait until fit is done"):
        ImplicitMF(2).fit(make_data(), callbacks=[during], progress=False)


def test_updates_keep_names_and_bring_new_ones():
    model = named()
    model.update(Interactions.from_arrays(user=[5, 77], item=["item-1", "new"]))
    assert model.items.names == [*(title or "" for title in titles(make_data().items)), ""]
    later = Interactions.from_arrays(user=[5, 77], item=["item-1", "newer"])
    model.update(later.with_names(items={"newer": "Newer", "item-1": "First"}, users={77: "Bo"}))
    assert model.items.labels(model.items.rows(["item-0", "item-1", "new", "newer"])) == [
        "The item-0",
        "First",
        "new",
        "Newer",
    ]
    assert model.users.names[-1] == "Bo"
    assert model.trained_on.items is model.items


def test_a_resumed_fit_has_the_names_of_its_data(tmp_path):
    path = tmp_path / "checkpoint"

    def interrupt(_model, record):
        if record.epoch == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ImplicitMF(8, epochs=3).fit(example(), checkpoint=path, callbacks=[interrupt], progress=False)
    resumed = ImplicitMF.resume(path, example().with_names(items={"item-1": "Other"}), progress=False)
    assert resumed.items.names[1] == "Other"
    assert same_bits(resumed, ImplicitMF(8, epochs=3).fit(make_data(), progress=False))


def test_a_warm_start_takes_names_from_its_data():
    model = fitted()
    model.fit(example(), warm_start=True, progress=False)
    assert model.items.names == example().items.names


# Files


@pytest.mark.parametrize("options", [{}, {"mapped": False}, {"verify": False}])
def test_files_keep_names(tmp_path, options):
    model, path = named(), tmp_path / "model"
    model.save(path)
    loaded = ImplicitMF.load(path, **options)
    assert loaded.items.names == model.items.names
    assert loaded.users.names is None
    assert loaded.recommend(5).names == model.recommend(5).names
    assert loaded.trained_on.items.names is loaded.items.names
    assert np.shares_memory(loaded.items.names.utf8.data, loaded._fitted().file.arrays["item_names.utf8"])
    info = store.info(path)
    assert (info["format_version"], info["names"]) == (2, {"user": False, "item": True})
    written = path.read_bytes()
    loaded.save(path)
    assert path.read_bytes() == written


def test_a_file_without_names_has_the_format_that_older_versions_read(tmp_path):
    fitted().save(tmp_path / "model")
    info = store.info(tmp_path / "model")
    assert (info["format_version"], info["names"]) == (1, {"user": False, "item": False})


def test_format_2_is_read_as_ever():
    assert zlib.crc32(GOLDEN.read_bytes()) == 3953917162, "the file must never be made again"
    model = ImplicitMF.load(GOLDEN, verify=True)
    assert list(model.items) == [3, 40, 500, 2**40, -7]
    assert model.items.names == ["Amélie", "Toy Story", "", "two\nlines", "New"]
    hebrew = "\u05e9\u05dc\u05d5\u05dd"
    assert model.users.names == ["half \ufffd a pair", "", "Ann Lee", "", "", hebrew, "", ""]
    assert model.item_factors[4].tolist() == [0.15755294263362885, -0.19917654991149902]
    assert model.recommend("ann") == [2**40]
    assert store.info(GOLDEN)["format_version"] == 2


WRONG = [
    ("arrays/item_names.utf8", changed(0, 255), "the item names are wrong: names must be UTF-8, got"),
    ("arrays/item_names.utf8", changed(0, 0x80), "the item names are wrong: names must be UTF-8, but one"),
    ("arrays/item_names.offsets", changed(2, 2**62), "the item names are wrong: offsets must rise from 0"),
    ("arrays/item_names.offsets", changed(2, -1), "the item names are wrong: offsets must rise from 0"),
]
REFUSED = [
    (
        "arrays/item_names.offsets",
        lambda a: a[:-1].copy(),
        "'item_names.offsets' must have 31 entries, got 30",
    ),
    ("arrays/item_names.offsets", lambda a: a.astype(np.int32), "'item_names.offsets' must be int64"),
    ("arrays/item_names.offsets", changed(-1, 5), "the item names are wrong: offsets must rise from 0"),
    ("arrays/item_names.utf8", None, "the array 'item_names.utf8' is missing"),
    ("arrays/user_names.offsets", np.zeros(3, np.int64), "'user_names.offsets' must have 41 entries, got 3"),
]


@pytest.fixture
def rewrite(tmp_path):
    return partial(forged.rewrite, tmp_path / "model", file_of(named))


@pytest.mark.parametrize(("place", "value", "message"), [*WRONG, *REFUSED])
def test_names_of_a_forged_file_are_verified(rewrite, place, value, message):
    path = rewrite(place, value)
    says = rf"^{re.escape(str(path))} does not hold a whole model: .*{message}"
    for ask in (partial(ImplicitMF.load, path), partial(ImplicitMF.load, path, mapped=False)):
        with pytest.raises(StoreError, match=says):
            ask()
    with pytest.raises(StoreError, match=says):
        store.verify(path)


@pytest.mark.parametrize(("place", "value", "_message"), WRONG)
def test_an_unverified_model_says_that_its_names_are_damaged(rewrite, tmp_path, place, value, _message):
    model = ImplicitMF.load(rewrite(place, value), verify=False)
    with pytest.raises(ValueError, match="the file that holds them is damaged"):
        model.items.labels(range(len(model.items)))
    with pytest.raises(StoreError, match="the item names are wrong"):
        model.save(tmp_path / "again")


def test_half_of_a_surrogate_pair_in_a_forged_file_is_replaced(rewrite):
    strings = Utf8.of(["a\ud800", *[""] * 29])
    path = rewrite("arrays/item_names.utf8", lambda _: strings.data)
    forged.rewrite(path, path.read_bytes(), "arrays/item_names.offsets", lambda _: strings.offsets)
    model = ImplicitMF.load(path)
    assert model.items.names[0] == "a\ufffd"
    assert "a\ufffd" in model.similar_items(["item-0"], 2).to_frame()["item_name"].to_list()


def test_exports_have_a_column_of_names(tmp_path):
    export.to_parquet(named(), tmp_path)
    items = pl.read_parquet(tmp_path / "items.parquet")
    assert items.columns == ["id", "name", "vector"]
    assert items["name"].to_list() == titles(items["id"])
    assert pl.read_parquet(tmp_path / "users.parquet").columns == ["id", "vector"]
