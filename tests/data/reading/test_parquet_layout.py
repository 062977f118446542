"""The layout of Parquet files: sound ones pass, forged ones are refused before polars sees them."""

import io
from contextlib import suppress

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ialspp import Interactions
from ialspp.data.reading.parquet_layout import check_parquet
from ialspp.data.reading.thrift import Reader
from ialspp.errors import InvalidValueError

COLUMNS = {"user": "u", "item": "i"}


def table(rows):
    numbers = pl.Series(range(rows), dtype=pl.Int64)
    texts = pl.Series(["text " * 300, None, "b"] * rows, dtype=pl.String)[:rows]  # long ones, in statistics
    lists = pl.Series([[k, None] * 9 for k in range(rows)], dtype=pl.List(pl.Int16))
    return pl.DataFrame({"u": numbers, "i": numbers.cast(pl.String), "x": texts, "list": lists})


@pytest.fixture(scope="module")
def sound():
    file = io.BytesIO()
    table(20).write_parquet(file, row_group_size=7, data_page_size=64)
    return file.getvalue()


@pytest.mark.parametrize("rows", [0, 1, 3000])
@pytest.mark.parametrize("compression", ["uncompressed", "snappy", "gzip", "lz4", "zstd", "brotli"])
@pytest.mark.parametrize("page", [None, 100])
def test_sound_files_pass(tmp_path, rows, compression, page):
    path = tmp_path / "log.parquet"
    table(rows).write_parquet(path, compression=compression, data_page_size=page, row_group_size=1000)
    check_parquet(path)
    assert len(Interactions.read(path, **COLUMNS)) == rows


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("more", [{}, {"use_dictionary": False}, {"write_page_checksum": True}])
def test_files_of_others_pass(tmp_path, version, more):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "log.parquet"
    parquet.write_table(table(3000).to_arrow(), path, data_page_version=version, data_page_size=100, **more)
    check_parquet(path)
    assert len(Interactions.read(path, **COLUMNS)) == 3000


@given(place=st.floats(0, 1, exclude_max=True), change=st.integers(1, 255))
def test_a_changed_byte_passes_or_is_refused(tmp_path_factory, sound, place, change):
    content = bytearray(sound)
    content[int(place * len(content))] ^= change
    path = tmp_path_factory.mktemp("changed") / "log.parquet"
    path.write_bytes(content)
    with suppress(InvalidValueError):
        check_parquet(path)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_struct_or_an_error(data):
    reader = Reader(data)
    try:
        reader.struct()
    except InvalidValueError:
        return
    assert reader.place <= len(data)


def test_structs_in_structs_end():
    with pytest.raises(InvalidValueError, match="nested too deeply"):
        Reader(b"\x1c" * 5000).struct()
