"""Parts of mapped data are those of data in memory, and are mapped themselves."""

import mmap
from contextlib import closing

import numpy as np
import pytest

from ialspp import ImplicitMF, Interactions, split
from ialspp.data import row_files
from ialspp.model import updating
from ialspp.split import parts


@pytest.fixture(autouse=True)
def ranges_of_few_pairs(monkeypatch):
    monkeypatch.setattr(row_files, "ROOM", 400)


@pytest.fixture(params=[{}, {"label": 1, "weight": 1, "time": 1}], ids=["plain", "valued"])
def data(request):
    rng = np.random.default_rng(3)
    user, item = (rng.random(900) ** 2 * 80).astype(int), (rng.random(900) ** 2 * 50).astype(int)
    _, first = np.unique(user * 1000 + item, return_index=True)
    values = {name: rng.integers(1, 9, len(first)) for name in request.param}
    return Interactions.from_arrays(
        user=3 * user[first], item=item[first], users=range(0, 300, 3), items=range(60), **values
    )


@pytest.fixture
def mapped(data, tmp_path):
    data.save(tmp_path / "data.ialsdata")
    return Interactions.open(tmp_path / "data.ialsdata")


def arrays_of(data):
    sides = {"by_user": data.by_user, "by_item": data.by_item}
    names = ("offsets", "columns", "labels", "weights")
    arrays = {f"{side}.{name}": getattr(rows, name) for side, rows in sides.items() for name in names}
    return {**arrays, "times": data.times}


def assert_same(found, wanted):
    assert (found.users, found.items) == (wanted.users, wanted.items)
    assert (found.weighted, found.decayed) == (wanted.weighted, wanted.decayed)
    for name, array in arrays_of(wanted).items():
        assert (array is None) == (arrays_of(found)[name] is None), name
        if array is not None:
            np.testing.assert_array_equal(arrays_of(found)[name], array, err_msg=name)
            assert arrays_of(found)[name].dtype == array.dtype, name


def is_mapped(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, memoryview | mmap.mmap)


@pytest.mark.parametrize("least", [(1, 1), (5, 3), (10, 12), (500, 1)])
def test_a_core_of_mapped_data_is_that_of_data_in_memory(data, mapped, least):
    core = mapped.core(*least)
    assert_same(core, data.core(*least))
    assert core.work is not None
    if len(core):
        assert is_mapped(core.by_user.columns)
        assert is_mapped(core.by_item.columns)


def test_cuts_keep_rows_that_an_axis_names_though_they_become_empty(data, mapped):
    rng = np.random.default_rng(0)
    for _ in range(20):
        marks = rng.random(data.n_users) < rng.random(), rng.random(data.n_items) < rng.random()
        part = data.cut(*marks)
        assert_same(mapped.cut(*marks), part)
        keys = {(user, item) for user, item in np.argwhere(np.outer(*marks))}
        rows = data.by_user
        assert len(part) == sum(
            pair in keys for pair in zip(rows.row_numbers.tolist(), rows.columns.tolist(), strict=True)
        )


def test_rows_that_are_not_in_the_order_of_their_ids_are_cut_in_memory(tmp_path):
    data = Interactions.from_arrays(user=[5, 5, 1, 3], item=[2, 1, 2, 1], users=[5, 3, 1], items=[2, 1])
    data.save(tmp_path / "data")
    assert_same(Interactions.open(tmp_path / "data").core(1, 2), data.core(1, 2))


@pytest.mark.parametrize("options", [{}, {"min_user": 1}, {"min_user": 8, "min_item": 9, "held_out": 6}])
def test_a_strong_split_of_mapped_data_is_that_of_data_in_memory(data, mapped, options):
    found, wanted = (split.strong(source, **options) for source in (mapped, data))
    assert found.left_out == wanted.left_out
    assert_same(found.train, wanted.train)
    for part in ("validation", "test"):
        for name in ("given", "wanted"):
            assert_same(getattr(getattr(found, part), name), getattr(getattr(wanted, part), name))
    assert is_mapped(found.train.by_user.columns)


WEAK = {
    "random": lambda data: split.random(data, test_share=0.3, seed=4),
    "leave one out": lambda data: split.leave_one_out(data, pick="random", negatives=7),
    "latest": lambda data: split.leave_one_out(data, negatives=100),
    "last item": split.last_item,
    "last share": lambda data: split.last_share(data, test_share=0.3),
    "last days": lambda data: split.last_days(data, 3 / 86_400),
}


@pytest.mark.parametrize("name", WEAK)
def test_a_weak_split_of_mapped_data_is_that_of_data_in_memory(data, mapped, monkeypatch, name):
    if data.times is None and name not in ("random", "leave one out"):
        pytest.skip("needs times")
    monkeypatch.setattr(row_files, "MARKED", 50)
    monkeypatch.setattr(parts, "AT_A_TIME", 30)
    found, wanted = (WEAK[name](source) for source in (mapped, data))
    assert found.left_out == wanted.left_out
    assert_same(found.train, wanted.train)
    assert_same(found.test.wanted, wanted.test.wanted)
    assert is_mapped(found.train.by_user.columns)
    assert is_mapped(found.test.wanted.by_user.columns)
    if wanted.test.candidates is not None:
        np.testing.assert_array_equal(found.test.candidates.keys, wanted.test.candidates.keys)


def test_every_range_of_pairs_gives_its_share(data, monkeypatch):
    monkeypatch.setattr(row_files, "MARKED", 60)
    for share in (0.1, 0.5):
        parts_of = split.random(data, test_share=share)
        assert len(parts_of.test.wanted) + parts_of.left_out == round(share * len(data))


@pytest.mark.parametrize("new_values", [{}, {"label": 1}, {"weight": 1}])
def test_an_update_in_temporary_files_is_that_in_memory(data, tmp_path, monkeypatch, new_values):
    rng = np.random.default_rng(5)
    pairs = {"user": rng.integers(0, 330, 40), "item": rng.integers(40, 70, 40)}
    _, first = np.unique(pairs["user"] * 1000 + pairs["item"], return_index=True)
    pairs = {name: values[first] for name, values in pairs.items()}
    new = Interactions.from_arrays(**pairs, **{name: rng.integers(1, 9, len(first)) for name in new_values})
    ImplicitMF(4, epochs=2).fit(data, progress=False).save(tmp_path / "model")
    models = []
    for many in (10**9, 0):
        monkeypatch.setattr(updating, "MANY_PAIRS", many)
        models.append(ImplicitMF.load(tmp_path / "model"))
        counts = models[-1].update(new, progress=False)
    wanted, found = models
    assert_same(found.trained_on, wanted.trained_on)
    assert is_mapped(found.trained_on.by_user.columns)
    assert counts.new_pairs == len(found.trained_on) - len(data)
    assert found.user_factors.tobytes() == wanted.user_factors.tobytes()
    assert found.item_factors.tobytes() == wanted.item_factors.tobytes()
    found.save(tmp_path / "again")
    assert_same(ImplicitMF.load(tmp_path / "again").trained_on, wanted.trained_on)


def test_a_model_of_mapped_data_is_updated_in_the_folder_of_the_data(mapped, monkeypatch):
    monkeypatch.setattr(updating, "MANY_PAIRS", 0)
    model = ImplicitMF(4, epochs=1).fit(mapped, progress=False)
    model.update(Interactions.from_arrays(user=[0, 1], item=[0, 59]), progress=False)
    assert model.trained_on.work is mapped.work


def test_temporary_files_go_elsewhere_if_the_folder_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    work = row_files.Workplace.beside(tmp_path / "data.ialsdata")
    with closing(work.spool(np.int32)) as spool:
        assert spool._folder == elsewhere
