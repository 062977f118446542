"""Forged files that once ended the process, panicked, or lost rows without a word."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from ialspp import Interactions
from ialspp.data.reading.arrow_layout import check_arrow

FORGED = Path(__file__).parent / "forged"
COLUMNS = {"user": "u", "item": "i"}
WRITERS = (pl.DataFrame.write_ipc, pl.DataFrame.write_ipc_stream)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("huge_buffer.arrow", "a buffer of 18 bytes that expands to 576,460"),  # polars ended the process
        ("body_beyond_the_end.arrow", "the index does not fit the parts"),  # polars returned no rows
        ("missing_validity.arrow", "3 rows with 65,280 missing"),  # polars panicked
        ("negative_count.parquet", "a count or length must be .* but one is -21"),  # polars ended the process
        ("rows_of_a_page.parquet", "it cannot be read to its end"),  # polars returned no rows
    ],
)
def test_a_forged_file_is_refused(name, said):
    with pytest.raises(ValueError, match=rf"{name}: .*damaged: {said}"):
        Interactions.read(FORGED / name, **COLUMNS)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_time_beyond_all_dates_is_named(tmp_path, unit, suffix):
    times = pl.Series([1, 2**62, 3], dtype=pl.Int64).cast(pl.Datetime(unit))
    path = tmp_path / f"log.{suffix}"
    write = pl.DataFrame.write_parquet if suffix == "parquet" else pl.DataFrame.write_ipc
    write(pl.DataFrame({"u": [1, 2, 3], "i": [1, 2, 3], "t": times}), path)
    if unit == "ns":  # 2**62 ns are in the year 2116
        assert len(Interactions.read(path, **COLUMNS, time="t")) == 3
        return
    with pytest.raises(ValueError, match=rf"log\.{suffix}, row 1: column 't' must be Unix seconds"):
        Interactions.read(path, **COLUMNS, time="t")


def table(rows):
    """Columns of every kind that the layout of an Arrow file tells apart."""
    numbers = pl.Series(range(rows), dtype=pl.Int64)
    some = pl.Series([None if k % 3 else k for k in range(rows)], dtype=pl.Int64)
    return pl.DataFrame(
        {
            "u": numbers,
            "i": numbers.cast(pl.String),
            "long": numbers.cast(pl.String) + "a text that is longer than twelve bytes",
            "some": some,
            "float": some.cast(pl.Float32),
            "bool": some > 3,
            "bytes": numbers.cast(pl.String).cast(pl.Binary),
            "date": some.cast(pl.Date),
            "time": some.cast(pl.Time),
            "when": some.cast(pl.Datetime("ns", "UTC")),
            "lasts": some.cast(pl.Duration("ms")),
            "exact": some.cast(pl.Decimal(20, 2)),
            "null": pl.Series([None] * rows, dtype=pl.Null),
            "kind": numbers.cast(pl.String).cast(pl.Categorical),
            "list": pl.Series([[k, None] for k in range(rows)], dtype=pl.List(pl.Int16)),
            "pair": pl.Series([[k, 1] for k in range(rows)], dtype=pl.Array(pl.Int32, 2)),
            "fields": pl.Series(
                [{"a": k, "b": "x"} for k in range(rows)], dtype=pl.Struct({"a": pl.Int8, "b": pl.String})
            ),
        }
    )


@pytest.mark.parametrize("rows", [0, 1, 100])
@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("old", [False, True])
def test_sound_arrow_files_pass_the_check(tmp_path, rows, compression, write, old):
    path = tmp_path / "log.arrow"
    options = {"compat_level": pl.CompatLevel.oldest()} if old else {}
    write(table(rows), path, compression=compression, **options)
    check_arrow(path)
    assert len(Interactions.read(path, **COLUMNS)) == rows


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("is_file", [True, False])
def test_arrow_files_of_others_pass_the_check(tmp_path, compression, is_file):
    pa = pytest.importorskip("pyarrow")
    columns = pa.table(table(100).drop("null", "kind", "exact").to_arrow())
    columns = columns.append_column("dictionary", pa.array(["a", "b"] * 50).dictionary_encode())
    make = pa.ipc.new_file if is_file else pa.ipc.new_stream
    path = tmp_path / "log.feather"
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with path.open("wb") as file, make(file, columns.schema, options=options) as writer:
        writer.write_table(columns, max_chunksize=30)
    check_arrow(path)
    assert len(Interactions.read(path, **COLUMNS)) == 100


def test_an_arrow_file_cut_anywhere_is_refused(tmp_path):
    path = tmp_path / "log.arrow"
    table(3).select("u", "kind", "list").write_ipc(path)
    whole = path.read_bytes()
    for length in range(8, len(whole), 5):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"log\.arrow: the Arrow file is damaged"):
            check_arrow(path)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_more_rows_than_a_file_can_hold_are_refused(tmp_path, suffix):
    path = tmp_path / f"log.{suffix}"
    frame = pl.select(u=pl.repeat(1, 2**25, dtype=pl.Int8), i=pl.repeat(2, 2**25, dtype=pl.Int8))
    if suffix == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_ipc(path, compression="zstd")
    assert path.stat().st_size < 150_000
    with pytest.raises(ValueError, match=rf"log\.{suffix}: 33,554,432 rows cannot be in [0-9,]+ bytes"):
        Interactions.read(path, **COLUMNS)


def test_too_little_memory_for_polars_is_said():
    code = """
import resource
from ialspp import Interactions
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 20 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    Interactions.read(__import__("sys").argv[1], user=0, item=1)
except MemoryError as error:
    print("no memory:", error)
"""
    file = FORGED / "huge_buffer.arrow"
    run = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("no memory")
    assert run.stderr == ""
