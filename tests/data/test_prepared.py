"""Prepared data: what `read` returns, made in bounded memory, in a file that is mapped."""

import mmap
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from copy import copy
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.exports import files_no_larger_than, posix

from ialspp import ImplicitMF, Interactions
from ialspp.data import preparing
from ialspp.data.fingerprint import Fingerprint
from ialspp.errors import IalsppError, InvalidTypeError, InvalidValueError
from ialspp.files.leftovers import leftovers

COLUMNS = {"user": "user", "item": "item"}


@pytest.fixture(autouse=True)
def little_memory(monkeypatch):
    monkeypatch.setattr(preparing, "LEAST_MEMORY", 1)


def arrays_of(data):
    """Every array that data has, by name."""
    parts = {"by_user": data.by_user, "by_item": data.by_item}
    arrays = {
        f"{side}.{name}": getattr(rows, name)
        for side, rows in parts.items()
        for name in ("offsets", "columns", "labels", "weights")
    }
    return {**arrays, "times": data.times}


def assert_same(data, other):
    assert (data.users, data.items) == (other.users, other.items)
    assert (data.weighted, data.decayed) == (other.weighted, other.decayed)
    for name, array in arrays_of(data).items():
        found = arrays_of(other)[name]
        assert (array is None) == (found is None), name
        if array is not None:
            assert array.dtype == found.dtype, name
            assert array.tobytes() == found.tobytes(), name
    assert data.statistics() == other.statistics()
    assert Fingerprint.of(data) == Fingerprint.of(other)


@st.composite
def tables(draw):
    rows = draw(st.integers(0, 40))
    ids = draw(
        st.sampled_from(
            [
                st.integers(0, 6),
                st.sampled_from([-(2**63), -1, 0, 5, 2**63 - 1]),
                st.sampled_from(["a", "b", "ab", "é", "7", "07", ""]),
            ]
        )
    )
    columns = {name: draw(st.lists(ids, min_size=rows, max_size=rows)) for name in ("user", "item")}
    numbers = {
        "label": st.sampled_from([0.5, 1.0, 2.0]),
        "weight": st.sampled_from([0.0, 0.1, 1.0, 3.25]),
        "time": st.integers(1_600_000_000, 1_600_000_400).map(float),
    }
    for name, values in numbers.items():
        columns[name] = draw(st.lists(values, min_size=rows, max_size=rows))
    text = isinstance(next(iter(columns["user"]), 0), str)
    kind = pl.String if text else pl.Int64
    schema = {"user": kind, "item": kind, **dict.fromkeys(numbers, pl.Float64)}
    return pl.DataFrame(columns, schema=schema)


def outcome(make):
    try:
        return make()
    except IalsppError as error:
        return type(error), str(error)


@settings(deadline=None)
@given(
    frame=tables(),
    roles=st.sets(st.sampled_from(["label", "weight", "time"])),
    least=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    half_life=st.none() | st.just("90s"),
    where=st.none() | st.just("weight < 3"),
    memory=st.integers(1, 400),
    suffix=st.sampled_from([".parquet", ".csv"]),
)
def test_prepared_data_is_what_read_returns(frame, roles, least, half_life, where, memory, suffix):
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / f"data{suffix}", Path(folder) / "out.ialsdata"
        frame.write_parquet(source) if suffix == ".parquet" else frame.write_csv(source)
        options = {
            **COLUMNS,
            **{role: role for role in sorted(roles)},
            "half_life": half_life if "time" in roles else None,
            "where": where,
            "min_user": least[0],
            "min_item": least[1],
        }
        data = outcome(lambda: Interactions.read(source, **options))
        if isinstance(data, Interactions) and len(data) == 0:  # nothing would replace what is there
            data = (InvalidValueError, "")
        prepared = outcome(lambda: Interactions.prepare(source, out, memory=memory, **options))
        assert [file.name for file in Path(folder).iterdir() if file != source] == ["out.ialsdata"] * (
            isinstance(data, Interactions)
        )
        if isinstance(data, tuple):  # labels that disagree in one part, times in another: either is found
            assert data[0] == prepared[0]
            return
        assert_same(data, prepared)


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    folder = tmp_path_factory.mktemp("events")
    rng = np.random.default_rng(0)
    for part in range(2):
        user, item = rng.integers(0, 300, 3000), rng.integers(0, 80, 3000)
        frame = pl.DataFrame({"user": user, "item": item, "n": rng.random(3000)})
        frame.write_parquet(folder / f"part-{part}.parquet")
    return folder


def test_a_model_of_prepared_data_has_the_same_bits(events, tmp_path):
    data = Interactions.read(events, **COLUMNS, weight="n")
    prepared = Interactions.prepare(events, tmp_path / "data", **COLUMNS, weight="n", memory=5000)
    models = [ImplicitMF(dim=8, epochs=3).fit(one, progress=False) for one in (data, prepared)]
    for number, model in enumerate(models):
        model.save(tmp_path / f"model-{number}")
    loaded = [ImplicitMF.load(tmp_path / f"model-{number}") for number in (0, 1)]
    assert loaded[0].user_factors.tobytes() == loaded[1].user_factors.tobytes()
    assert_same(*(model.trained_on for model in loaded))
    assert [models[0].recommend(5), models[1].recommend(5)] == [models[0].recommend(5)] * 2


def test_recommendations_in_parts_are_those_for_everyone(events):
    model = ImplicitMF(dim=8, epochs=1).fit(Interactions.read(events, **COLUMNS), progress=False)
    options = {"k": 4, "candidates": list(range(30))}
    parts = list(model.recommend_in_parts(size=70, **options, progress=False))
    assert [len(part) for part in parts] == [70, 70, 70, 70, 20]
    frame = pl.concat(part.to_frame() for part in parts)
    assert frame.equals(model.recommend(**options).to_frame())
    with pytest.raises(InvalidValueError, match="size must be"):
        next(model.recommend_in_parts(size=0))


def test_arrays_of_prepared_data_are_mapped_and_used_without_a_copy(events, tmp_path):
    data = Interactions.prepare(events, tmp_path / "data", **COLUMNS)
    for array in (data.by_user.columns, data.by_item.columns, data.by_item.offsets):
        base = array
        while isinstance(base, np.ndarray):
            base = base.base
        assert isinstance(base, mmap.mmap)
        assert not array.flags.writeable
    before = sys.getrefcount(data.by_user.columns)
    rows = data.by_user.native()
    assert sys.getrefcount(data.by_user.columns) > before
    assert len(rows) == data.n_users


def test_several_paths_are_read_one_after_the_other(events, tmp_path):
    parts = [events / "part-1.parquet", str(events / "part-0.*")]
    whole = Interactions.read(events, **COLUMNS)
    assert_same(Interactions.read(parts, **COLUMNS), whole)
    assert_same(Interactions.prepare(parts, tmp_path / "data", **COLUMNS), whole)
    with pytest.raises(InvalidValueError, match="at least one file is required"):
        Interactions.read([], **COLUMNS)


def test_any_data_can_be_saved_and_opened(tmp_path):
    data = Interactions.from_arrays(
        user=["b", "a", "b"], item=[2**70, 5, 5], time=[3, 4, 5], users=["z", "b", "a"]
    ).with_names(items={5: "five"})
    data.save(tmp_path / "data")
    opened = Interactions.open(tmp_path / "data")
    assert_same(opened, data)
    assert list(opened.items.names) == list(data.items.names) == ["five", ""]
    opened.save(tmp_path / "data")  # onto the file that is mapped
    assert_same(Interactions.open(tmp_path / "data", mapped=False), data)


def test_copies_and_pickles_of_opened_data_stand_alone(events, tmp_path):
    data = Interactions.prepare(events, tmp_path / "data", **COLUMNS)
    assert_same(pickle.loads(pickle.dumps(data)), data)
    assert copy(data).by_user.columns is data.by_user.columns
    assert_same(data.with_names(items={0: "zero"}), data)


def test_progress_of_all_stages_is_one_bar(events, tmp_path):
    seen = []
    Interactions.prepare(events, tmp_path / "data", **COLUMNS, memory=9000, progress=seen.append)
    done = [event.done for event in seen]
    assert done == sorted(done)
    assert done[-1] == pytest.approx(1)
    assert {event.task for event in seen} == {"preparing"}
    assert list(dict.fromkeys(event.note for event in seen)) == ["reading", "by user", "by item", "saving"]


@pytest.mark.parametrize(("memory", "size"), [("4G", 2**32), ("1.5 MiB", 1572864), ("80k", 81920), (7, 7)])
def test_memory_is_a_size(memory, size):
    assert preparing.memory_of(memory) == size


@pytest.mark.parametrize(
    ("memory", "error"),
    [("4X", InvalidValueError), ("", InvalidValueError), (0, InvalidValueError), (True, InvalidTypeError)],
)
def test_memory_that_is_no_size_is_an_error(memory, error, tmp_path):
    with pytest.raises(error, match='memory must be a number of bytes or a size such as "4G"'):
        Interactions.prepare(tmp_path / "none", tmp_path / "data", **COLUMNS, memory=memory)


def saved_before(path):
    """Other prepared data, and its bytes."""
    Interactions.from_arrays(user=[1], item=[2]).save(path)
    return path.read_bytes()


def test_wrong_data_leaves_the_target_as_it_was(tmp_path):
    (tmp_path / "bad.csv").write_text("user,item,n\na,x,1\nb,y,z\n")
    before = saved_before(tmp_path / "data")
    with pytest.raises(InvalidValueError, match=r"bad.csv, line 3: column 'n' must be a number, but is 'z'"):
        Interactions.prepare(tmp_path / "bad.csv", tmp_path / "data", **COLUMNS, weight="n")
    assert (tmp_path / "data").read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["bad.csv", "data"]
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        Interactions.prepare(tmp_path / "bad.csv", tmp_path / "no" / "data", **COLUMNS)


@posix
@pytest.mark.parametrize("size", [100, 1000, 5000])
def test_a_full_disk_is_an_error_that_names_the_place_once(tmp_path, size):
    """Several columns are in files without names. Those that are closed fail, too, and say nothing."""
    rng = np.random.default_rng(0)
    lines = (f"user-{user},item-{item}" for user, item in rng.integers(500, size=(2000, 2)))
    (tmp_path / "e.csv").write_text("u,i\n" + "\n".join(lines))
    (tmp_path / "out").mkdir()
    out = tmp_path / "out" / "e.ialsdata"
    with files_no_larger_than(size), pytest.raises(OSError, match="too large") as refused:
        Interactions.prepare(tmp_path / "e.csv", user="u", item="i", out=out)
    assert str(refused.value).count(str(tmp_path)) == 1
    assert str(refused.value.filename).startswith(str(out.parent))
    assert list(out.parent.iterdir()) == []


KILLED = """
import os, signal, sys
from ialspp import Interactions

def die(event):
    if event.note == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)

Interactions.prepare(sys.argv[1], sys.argv[2], user="user", item="item", progress=die)
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL here")
@pytest.mark.parametrize("stage", ["reading", "by user", "by item", "saving"])
def test_a_kill_leaves_nothing_that_the_next_run_does_not_remove(events, tmp_path, stage):
    target = tmp_path / "data.ialsdata"
    before = saved_before(target)
    command = [sys.executable, "-c", KILLED, str(events), str(target), stage]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert target.read_bytes() == before
    assert set(tmp_path.iterdir()) == {target, *leftovers(tmp_path)}
    Interactions.prepare(events, target, **COLUMNS)
    assert list(tmp_path.iterdir()) == [target]


# The file of format 1, which golden/make_data.py made once; whatever changes, it can be read


def test_the_file_of_format_1_is_read():
    data = Interactions.open(Path(__file__).parents[1] / "golden" / "data-v1.ialsdata", verify=True)
    assert list(data.users) == ["Zoë", "ann", "nobody", "😀"]
    assert (list(data.items), list(data.items.names)) == ([-7, 3, 2**40], ["", "Amélie", ""])
    assert data.users.names is None
    assert data.by_user.offsets.tolist() == [0, 1, 3, 3, 4]
    assert data.by_user.columns.tolist() == [1, 1, 2, 0]
    assert data.by_user.labels.tolist() == [0.5, 1, 2, 1]
    assert data.by_user.weights.tolist() == pytest.approx([0.25, 1 + 2**-3.995, 0.125, 0.5])
    assert data.times.tolist() == [1_700_000_200, 1_700_000_000.5, 1_700_000_100, 1_700_000_300]
    assert data.by_item.columns.tolist() == [3, 0, 1, 1]
    assert (data.weighted, data.decayed) == (True, True)
    assert data.statistics()["time"] == {"first": "2023-11-14T22:13:20Z", "last": "2023-11-14T22:18:20Z"}


def test_names_are_prepared_as_with_names_attaches_them(tmp_path):
    pl.DataFrame({"user": [1, 2, 2], "item": ["a", "a", "b"]}).write_parquet(tmp_path / "rows.parquet")
    names = {"user_names": {2: "two"}, "item_names": ["A", "B"]}
    prepared = Interactions.prepare(tmp_path / "rows.parquet", tmp_path / "data", **COLUMNS, **names)
    read = Interactions.read(tmp_path / "rows.parquet", **COLUMNS)
    assert_same(prepared, read.with_names(users={2: "two"}, items=["A", "B"]))
    assert (list(prepared.users.names), list(prepared.items.names)) == (["", "two"], ["A", "B"])


def flags_of_mapping(path):
    """The flags of each part of this process's memory that maps a file."""
    flags, is_of_file = [], False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split(" ")[0]:
            is_of_file = line.endswith(str(path))
        elif is_of_file and line.startswith("VmFlags:"):
            flags.append(line.split()[1:])
    return flags


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs Linux, which says how it maps files")
def test_a_fit_says_that_it_reads_mapped_rows_in_order(tmp_path):
    path = tmp_path / "data"
    rng = np.random.default_rng(0)
    Interactions.from_arrays(user=rng.integers(90, size=4000), item=rng.integers(80, size=4000)).save(path)
    data, seen = Interactions.open(path), []
    look = lambda *_: seen.append(any("sr" in flags for flags in flags_of_mapping(path)))  # noqa: E731
    look()
    ImplicitMF(4, epochs=1).fit(data, callbacks=[look], progress=False)
    look()
    assert seen == [False, True, False]
    with Interactions.open(path, mapped=False).read_in_order():
        assert not any("sr" in flags for flags in flags_of_mapping(path))
