"""`ialspp data show FILE` without columns lists those that there are."""

import polars as pl
import pytest
from support.commands import answer, ialspp, refuses

WIDE = {"COLUMNS": "200"}


def columns(*arguments, cwd):
    """Name, type and first values of each column."""
    found = answer("data", "show", *arguments, cwd=cwd)["columns"]
    return [(column["name"], column["type"], column["first"]) for column in found]


def test_a_text_file_with_a_header(tmp_path):
    (tmp_path / "log.csv").write_text(
        "who,what,stars,day\nu1,3,4.5,2026-11-01\nu2,,5,2026-11-02\n" + "u3,7,1,2026-11-03\n" * 9
    )
    assert columns("log.csv", cwd=tmp_path) == [
        ("who", "text", ["u1", "u2", "u3"]),
        ("what", "integers", [3, None, 7]),
        ("stars", "numbers", [4.5, 5, 1]),
        ("day", "dates", ["2026-11-01", "2026-11-02", "2026-11-03"]),
    ]
    done = ialspp("data", "show", "log.csv", cwd=tmp_path, **WIDE)
    assert done.returncode == 0
    assert "3, (missing), 7" in done.stdout
    assert "the first line is taken for a header; --no-header if it is not" in done.stderr
    assert "--user COLUMN --item COLUMN" in done.stderr


def test_text_without_a_header_has_positions(tmp_path):
    (tmp_path / "ratings.dat").write_text("1::10::5\n1::11::3\n")
    assert columns("ratings.dat", cwd=tmp_path) == [
        ("column_0", "integers", [1, 1]),
        ("column_1", "integers", [10, 11]),
        ("column_2", "integers", [5, 3]),
    ]
    (tmp_path / "names.csv").write_text("u1,i1\nu2,i2\n")
    assert [name for name, *_ in columns("names.csv", cwd=tmp_path)] == ["u1", "i1"]
    assert columns("*.csv", cwd=tmp_path) == columns("names.csv", cwd=tmp_path)
    found = columns("names.csv", "--no-header", cwd=tmp_path)
    assert found == [("column_0", "text", ["u1", "u2"]), ("column_1", "text", ["i1", "i2"])]


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_other_formats(tmp_path, suffix):
    frame = pl.DataFrame({"user": [1, 2], "liked": [True, False], "odd": [[1], [2]]})
    getattr(frame, "write_parquet" if suffix == "parquet" else "write_ipc")(tmp_path / f"log.{suffix}")
    found = columns(f"log.{suffix}", cwd=tmp_path)
    assert found[:2] == [("user", "integers", [1, 2]), ("liked", "true or false", [True, False])]
    assert found[2][1:] == ("List(Int64)", [[1], [2]])


def test_control_characters_and_long_values_stay_on_the_line(tmp_path):
    pl.DataFrame({"user": ["\x1b[31m" + "x" * 100]}).write_parquet(tmp_path / "log.parquet")
    done = ialspp("data", "show", "log.parquet", cwd=tmp_path, **WIDE)
    assert "\x1b" not in done.stdout
    assert "x..." in done.stdout


def test_mistakes(tmp_path):
    (tmp_path / "empty.csv").touch()
    (tmp_path / "log.csv").write_text("a,b\n1,2\n")
    (tmp_path / "bad.parquet").write_text("no")
    refuses("empty.csv", "empty")(ialspp("data", "show", "empty.csv", cwd=tmp_path))
    refuses("bad.parquet")(ialspp("data", "show", "bad.parquet", cwd=tmp_path))
    refuses("none.csv: no such file")(ialspp("data", "show", "none.csv", cwd=tmp_path))
    refuses("--user and --item must name")(ialspp("data", "show", "log.csv", "--time", "a", cwd=tmp_path))
