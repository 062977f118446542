"""Weights that are computed from the columns of a file."""

import math

import polars as pl
import pytest

from ialspp import Interactions

PLAYS = {"user": ["ann", "ann", "bob"], "item": ["fado", "jazz", "jazz"], "plays": [1, 100, 10]}
LOGS = [1, 1 + math.log(100), 1 + math.log(10)]
WRITERS = {
    "csv": pl.DataFrame.write_csv,
    "parquet": pl.DataFrame.write_parquet,
    "arrow": pl.DataFrame.write_ipc,
}


def written(folder, columns=PLAYS, suffix="csv"):
    file = folder / f"plays.{suffix}"
    WRITERS[suffix](pl.DataFrame(columns), file)
    return file


def weights(file, weight, **options):
    data = Interactions.read(file, **{"user": "user", "item": "item", **options}, weight=weight)
    return data.by_user.weights.tolist()


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize(
    "weight",
    [
        "1 + log(plays)",
        "1 + LOG (plays)",
        "1 + ln(plays)",
        "1 + log(plays, exp(1))",
        1 + pl.col("plays").log(),
    ],
    ids=str,
)
def test_weights_are_computed_from_columns_of_any_format(tmp_path, suffix, weight):
    assert weights(written(tmp_path, suffix=suffix), weight) == pytest.approx(LOGS)


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        ("plays", [1, 100, 10]),
        (2, [1, 100, 10]),
        ("least(plays, 20)", [1, 20, 10]),
        ("CASE WHEN item = 'jazz' THEN 3 ELSE 0.5 END", [0.5, 3, 3]),
        ("log(plays + least(1, 0)) + 1", LOGS),
        ("CASE WHEN item = 'log(a, b)' THEN 0 ELSE log(plays) END", [value - 1 for value in LOGS]),
        ("plays > 5", [0, 1, 1]),
        (pl.lit(2), [2, 2, 2]),
    ],
    ids=str,
)
def test_a_name_is_its_column_and_anything_else_is_an_expression(tmp_path, weight, expected):
    assert weights(written(tmp_path), weight) == pytest.approx(expected)


def test_a_column_whose_name_reads_like_an_expression_is_the_column(tmp_path):
    file = written(tmp_path, {**PLAYS, "1 + log(plays)": [7, 8, 9]})
    assert weights(file, "1 + log(plays)") == [7, 8, 9]


def test_rows_are_filtered_before_weights_are_computed(tmp_path):
    file = written(tmp_path, {**PLAYS, "plays": [0, 100, 10]})
    assert weights(file, "1 + log(plays)", where="plays > 0") == pytest.approx(LOGS[1:])


def test_ids_keep_their_text_where_weights_are_computed_from_them(tmp_path):
    file = tmp_path / "plays.csv"
    file.write_text("user,item\n007,1\n8,2\n")
    data = Interactions.read(file, user="user", item="item", weight='"user" + item')
    assert (list(data.users), data.by_user.weights.tolist()) == (["007", "8"], [8, 10])


@pytest.mark.parametrize("separator", [",", "::"])
def test_columns_without_a_header_go_by_their_position(tmp_path, separator):
    file = tmp_path / "plays.txt"
    file.write_text("ann,fado,1\nann,jazz,100\nbob,jazz,10\n".replace(",", separator))
    assert weights(file, "1 + log(column_2)", user=0, item=1) == pytest.approx(LOGS)
    assert weights(file, 1 + pl.col("column_2").log(), user=0, item=1) == pytest.approx(LOGS)


def test_the_weights_of_repeated_pairs_add_up_after_they_are_computed(tmp_path):
    file = written(tmp_path, {"user": [1, 1], "item": [2, 2], "plays": [100, 10]})
    assert weights(file, "1 + log(plays)") == pytest.approx([LOGS[1] + LOGS[2]])


@pytest.mark.parametrize(
    ("plays", "message"),
    [
        ("0", r"line 3: weight '1 \+ log\(plays\)' must be a finite number .*, not negative, but is -inf"),
        ("0.1", r"line 3: weight '1 \+ log\(plays\)' must be .*, not negative, but is -1\.30"),
        ("-1", r"line 3: weight '1 \+ log\(plays\)' must be .*, but is nan"),
        ("", r"line 3: weight '1 \+ log\(plays\)' has no value"),
    ],
)
def test_a_weight_that_may_not_be_is_named_with_its_line(tmp_path, plays, message):
    file = tmp_path / "plays.csv"
    file.write_text(f"user,item,plays\nann,fado,1\nann,jazz,{plays}\n")
    with pytest.raises(ValueError, match=message):
        weights(file, "1 + log(plays)")


def test_a_weight_that_may_not_be_is_named_with_the_row_of_its_file(tmp_path):
    written(tmp_path, suffix="parquet").rename(tmp_path / "1.parquet")
    written(tmp_path, {**PLAYS, "plays": [1, 0, 1]}, "parquet").rename(tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2\.parquet, row 1: weight 'log\(plays\)' must be .* -inf"):
        weights(tmp_path, "log(plays)")


def test_text_that_is_not_a_number_is_named_with_its_line(tmp_path):
    file = tmp_path / "plays.csv"
    file.write_text("user,item,plays\n" + "ann,fado,1\n" * 20_000 + "ann,jazz,x\n")
    with pytest.raises(ValueError, match="line 20002: column 'plays' must be a number, but is 'x'"):
        weights(file, "1 + log(plays)")


LOG_OF_TEXT = (  # polars 1 takes it for a missing value
    r"weight 'log\(item\)' cannot be computed: .*'item' \(String\)"
    if int(pl.__version__.split(".")[0]) > 1
    else r"line 2: weight 'log\(item\)' has no value"
)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ("1 + log(count)", r"weight names \['count'\], but the file has \['user', 'item', 'plays'\]"),
        ("count", r"weight column 'count' is not in the file; it has \['user', 'item', 'plays'\]"),
        ("1 + ", r"weight is not an SQL expression: '1 \+ ' .*the file has \['user', 'item', 'plays'\]"),
        ("nope(plays)", "weight is not an SQL expression: .*unsupported function 'nope'"),
        ("item || 'a'", r"weight .* must give numbers, but gives String"),
        ("log(item)", LOG_OF_TEXT),
        (pl.all(), "weight must be one value for each row"),
    ],
    ids=str,
)
def test_an_expression_that_cannot_be_computed_is_an_error(tmp_path, weight, message):
    with pytest.raises(ValueError, match=message):
        weights(written(tmp_path), weight)


def test_every_file_needs_the_columns_of_the_expression(tmp_path):
    written(tmp_path, suffix="parquet").rename(tmp_path / "1.parquet")
    others = {"user": ["ann"], "item": ["fado"], "plays": ["7"]}
    written(tmp_path, others, "parquet").rename(tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2\.parquet: column 'plays' is String, but in .*1\.parquet"):
        weights(tmp_path, "log(plays)")
    del others["plays"]
    written(tmp_path, others, "parquet").rename(tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2\.parquet: weight column 'plays' is not in the file"):
        weights(tmp_path, "log(plays)")
