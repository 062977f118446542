"""Prepared data in files that are damaged or forged: refused when they are opened, or when they are used."""

import pickle

import numpy as np
import pytest

from ialspp import ICD, ImplicitMF, Interactions, split
from ialspp.errors import InvalidValueError
from ialspp.files.container import Container, StoreError, write


def rewritten(path, change):
    """Write the file again with right checksums, and other contents."""
    opened = Container.open(path, mapped=False)
    arrays, metadata = dict(opened.arrays), dict(opened.metadata)
    change(arrays, metadata)
    write(path, arrays, metadata)


def set_array(name, value):
    return lambda arrays, _: arrays.__setitem__(name, value(arrays[name].copy()))


FAULTS = [
    (set_array("by_user.items", lambda a: a * 0), "strictly ascend"),
    (set_array("by_user.items", lambda a: a + 99), "the interactions are wrong"),
    (set_array("by_item.users", lambda a: np.roll(a, 1)), "the rows by item must have the pairs of those by"),
    (set_array("by_item.users", lambda a: a[:-1]), "must begin at 0 and end at"),
    (set_array("by_user.offsets", lambda a: a[:-1]), "must have 4 entries, got 3"),
    (set_array("by_user.times", lambda a: a * np.nan), "times must be Unix seconds"),
    (set_array("user_ids", lambda a: a * 0), "user 0 is listed more than once"),
    (lambda arrays, _: arrays.pop("item_ids"), "the array 'item_ids' is missing"),
    (
        lambda _, metadata: metadata.update(
            description=metadata["description"].replace('"pairs": 4', '"pairs": 5')
        ),
        "statistics are those of other data",
    ),
    (lambda _, metadata: metadata.update(format="other"), "not prepared data of ialspp"),
    (lambda _, metadata: metadata.update(format_version="2"), "a newer ialspp is required"),
    (lambda _, metadata: metadata.update(description="{}"), "its description has no 'ids'"),
]


@pytest.mark.parametrize(("change", "message"), FAULTS)
def test_files_with_wrong_contents_are_refused(tmp_path, change, message):
    data = Interactions.from_arrays(user=[1, 1, 2, 3], item=[1, 2, 2, 1], time=[1, 2, 3, 4])
    data.save(tmp_path / "data")
    rewritten(tmp_path / "data", change)
    with pytest.raises(StoreError, match=message):
        Interactions.open(tmp_path / "data")


def test_damage_that_opening_did_not_see_is_not_passed_on(tmp_path):
    data = Interactions.from_arrays(user=[1, 1, 2, 3], item=[1, 2, 2, 1])
    data.save(tmp_path / "data")
    content = bytearray((tmp_path / "data").read_bytes())
    place = content.rindex(np.array([1, 2, 3]).tobytes())
    content[place] = 9
    (tmp_path / "data").write_bytes(content)
    opened = Interactions.open(tmp_path / "data", verify=False)
    model = ImplicitMF(dim=2, epochs=1).fit(opened, progress=False)
    for passes_on in (
        opened.require_sound,
        lambda: opened.save(tmp_path / "b"),
        lambda: pickle.dumps(opened),
    ):
        with pytest.raises(StoreError, match="the checksum is wrong for 'user_ids'"):
            passes_on()
    with pytest.raises(StoreError, match="the checksum is wrong for 'user_ids'"):
        model.save(tmp_path / "model")


OTHER_ROWS = [
    set_array("by_user.offsets", lambda a: a[[0, 2, 1, 3]]),
    set_array("by_user.offsets", lambda a: a - [0, 9, 0, 0]),
    set_array("by_user.items", lambda a: a - 2),
    set_array("by_user.items", lambda a: a + 2),
]
USES = {
    "fit": lambda data, _: ImplicitMF(2, epochs=1).fit(data, progress=False),
    "update": lambda data, model: model.update(data, progress=False),
    "last item": lambda data, _: split.last_item(data),
    "last days": lambda data, _: split.last_days(data, 1e-5),
    "strong": lambda data, _: split.strong(data, min_user=1, held_out=1),
    "core": lambda data, _: data.core(2, 2),
}


def damaged_and_opened(data, path, change):
    """Change what a file of the data holds, and open it as a large one is opened, without reading it."""
    data.save(path)
    rewritten(path, change)
    return Interactions.open(path, verify=False)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("change", OTHER_ROWS)
def test_unverified_data_with_impossible_rows_is_refused_when_it_is_used(tmp_path, change, use):
    data = Interactions.from_arrays(user=[1, 1, 2, 3], item=[1, 2, 2, 1], time=[1, 2, 3, 4])
    model = ImplicitMF(2, epochs=1).fit(data, progress=False)
    opened = damaged_and_opened(data, tmp_path / "data", change)
    with pytest.raises(InvalidValueError, match="the file that holds them is damaged"):
        USES[use](opened, model)


def test_unverified_rows_by_item_that_are_those_of_other_data_are_refused(tmp_path):
    data = Interactions.from_arrays(user=[1, 1, 2, 3], item=[1, 2, 2, 1])
    change = set_array("by_item.users", lambda a: np.maximum(a, 1))
    opened = damaged_and_opened(data, tmp_path / "data", change)
    with pytest.raises(InvalidValueError, match=r"ranks must stay inside .* is damaged"):
        ImplicitMF(2, epochs=1, solver=ICD()).fit(opened, progress=False)


def test_a_model_is_no_prepared_data(tmp_path):
    data = Interactions.from_arrays(user=[1, 1, 2, 3], item=[1, 2, 2, 1])
    ImplicitMF(dim=2, epochs=1).fit(data, progress=False).save(tmp_path / "model")
    with pytest.raises(StoreError, match="model is a model of ialspp, not prepared data of ialspp"):
        Interactions.open(tmp_path / "model")
    data.save(tmp_path / "data")
    with pytest.raises(StoreError, match="data is prepared data of ialspp, not a model of ialspp"):
        ImplicitMF.load(tmp_path / "data")
