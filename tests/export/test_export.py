"""Tables as other programs see them: numpy, polars and pyarrow read the files themselves."""

import errno
import math
import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from support.exports import IDS, ODD, each_id, files_no_larger_than, model_of, names, posix, small
from support.models import DIM, factors

from ialspp import ImplicitMF, NotFittedError
from ialspp.export import tables, to_numpy, to_parquet

each_table = pytest.mark.parametrize("write", [to_parquet, to_numpy])


@each_id
def test_parquet_keeps_ids_and_vectors_bit_by_bit(tmp_path, ids):
    model = model_of(ids)
    paths = to_parquet(model, tmp_path)
    assert paths == [tmp_path / "users.parquet", tmp_path / "items.parquet"]
    for path, vectors in zip(paths, factors(model), strict=True):
        frame = pl.read_parquet(path)
        text = isinstance(ids[0], str) or max(ids) >= 2**64
        kind = pl.String if text else pl.UInt64 if max(ids) >= 2**63 else pl.Int64
        assert frame.schema == {"id": kind, "vector": pl.Array(pl.Float32, 3)}
        assert frame["id"].to_list() == [str(value) if text else value for value in ids]
        assert frame["vector"].to_numpy().tobytes() == vectors.tobytes()


def test_pyarrow_reads_the_same_from_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "FLOATS_AT_ONCE", 7 * DIM)
    users, items = to_parquet(small(), tmp_path)
    for path, ids, vectors in zip(
        (users, items), (small().users, small().items), factors(small()), strict=True
    ):
        file = pq.ParquetFile(path)
        assert file.num_row_groups == math.ceil(len(ids) / 7)
        table = file.read()
        assert table["id"].to_pylist() == list(ids)
        assert table["vector"].type.list_size == DIM
        read = table["vector"].combine_chunks().flatten().to_numpy()
        assert read.tobytes() == vectors.tobytes()


def test_parquet_says_what_it_holds(tmp_path):
    users, items = to_parquet(model_of(IDS["beyond 64 bits"]), tmp_path)
    metadata = pl.read_parquet_metadata(users)
    assert (metadata["axis"], metadata["id_kind"], metadata["dim"]) == ("user", "integer", "3")
    assert metadata["written_by"].startswith("ialspp ")
    assert pl.read_parquet_metadata(items)["axis"] == "item"


@each_id
def test_numpy_files_can_be_mapped_and_need_no_pickle(tmp_path, ids):
    model = model_of(ids)
    paths = to_numpy(model, tmp_path)
    assert [path.name for path in paths] == [
        "user_ids.npy",
        "user_factors.npy",
        "item_ids.npy",
        "item_factors.npy",
    ]
    read = [np.load(path, mmap_mode="r", allow_pickle=False) for path in paths]
    text = isinstance(ids[0], str) or max(ids) >= 2**64
    for found in read[::2]:
        assert found.dtype.kind == ("U" if text else "u" if max(ids) >= 2**63 else "i")
        assert found.tolist() == [str(value) if text else value for value in ids]
    for found, vectors in zip(read[1::2], factors(model), strict=True):
        assert found.dtype == np.float32
        assert found.shape == vectors.shape
        assert found.tobytes() == vectors.tobytes()


@each_table
def test_a_model_from_a_file_gives_the_same_tables(tmp_path, write):
    model = model_of(ODD)
    model.save(tmp_path / "model.ialspp")
    original = write(model, tmp_path / "original")
    loaded = write(ImplicitMF.load(tmp_path / "model.ialspp"), tmp_path / "loaded")
    assert [path.read_bytes() for path in loaded] == [path.read_bytes() for path in original]


@each_table
def test_folders_are_made_and_old_files_replaced(tmp_path, write):
    folder = tmp_path / "a" / "b"
    before = [path.read_bytes() for path in write(model_of([1, 2]), str(folder))]
    paths = write(model_of([3, 4, 5]), folder)
    assert names(folder) == sorted(path.name for path in paths)
    assert all(path.read_bytes() != old for path, old in zip(paths, before, strict=True))


@each_table
def test_tables_need_a_fitted_model(tmp_path, write):
    with pytest.raises(NotFittedError, match="the model is not fitted"):
        write(ImplicitMF(), tmp_path / "new")
    with pytest.raises(TypeError, match="an ImplicitMF is required, got dict"):
        write({}, tmp_path / "new")
    assert names(tmp_path) == []


@posix
@each_table
def test_a_full_disk_leaves_the_old_tables(tmp_path, write):
    old = {path: path.read_bytes() for path in write(model_of([1, 2]), tmp_path)}
    with files_no_larger_than(1000), pytest.raises(OSError, match="too large") as refused:
        write(small(), tmp_path)
    assert refused.value.errno == errno.EFBIG
    assert refused.value.filename in map(str, old)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == old


@each_table
def test_a_file_that_cannot_be_replaced_leaves_the_others(tmp_path, write):
    old = write(model_of([1, 2]), tmp_path)[0]
    kept = old.read_bytes()
    last = write(model_of([1, 2]), tmp_path)[-1]
    last.unlink()
    last.mkdir()
    with pytest.raises(IsADirectoryError, match=last.name):
        write(small(), tmp_path)
    assert old.read_bytes() == kept


def test_numpy_refuses_ids_it_would_cut(tmp_path):
    model = model_of(["a", "b\0"])
    with pytest.raises(ValueError, match=r"the user id 'b\\x00' ends with a NUL character"):
        to_numpy(model, tmp_path / "new")
    assert names(tmp_path) == []
    assert pl.read_parquet(to_parquet(model, tmp_path)[0])["id"].to_list() == ["a", "b\0"]


def test_numpy_refuses_one_long_id_among_many(tmp_path):
    ids = [*map(str, range(200)), "x" * 100_000]
    with pytest.raises(
        ValueError, match=r"longest user id has 100,000 characters.* 80,400,000 bytes .*Parquet"
    ):
        to_numpy(model_of(ids), tmp_path)
    ids = [*map(str, range(20)), "x" * 100_000]
    assert np.load(to_numpy(model_of(ids), tmp_path)[0]).tolist() == ids


def test_parquet_names_an_id_that_is_no_text(tmp_path):
    model = model_of(["a", "half \ud83d"])
    with pytest.raises(ValueError, match=r"the user id 'half \\ud83d' has half of a surrogate pair"):
        to_parquet(model, tmp_path / "new")
    assert names(tmp_path) == []
    assert np.load(to_numpy(model, tmp_path)[0]).tolist() == ["a", "half \ud83d"]


def test_nothing_heavy_is_imported_before_it_is_used():
    heavy = {"polars", "usearch", "faiss", "pyarrow", "rich"}
    code = f"import sys, ialspp.export; print({heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
