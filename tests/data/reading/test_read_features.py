"""Features from files."""

import numpy as np
import polars as pl
import pytest

from ialspp import read_features
from ialspp.errors import InvalidTypeError, InvalidValueError

TABLE = "film,genres,length\n7,Action|Comedy,1.5\n3,,0\n5,Drama,-2\n"


@pytest.fixture(name="path")
def made(tmp_path):
    path = tmp_path / "films.csv"
    path.write_text(TABLE)
    return path


def numbers(features):
    matrix = np.zeros((len(features), len(features.names)))
    matrix[features.rows.row_numbers, features.rows.columns] = (
        1 if features.rows.labels is None else features.rows.labels
    )
    return matrix.tolist()


def test_text_has_numbers_strings_and_lists(path):
    features = read_features(path, lists="|", regularization=3)
    assert features.ids.ids.tolist() == [7, 3, 5]
    assert features.names == ("genres=Action", "genres=Comedy", "genres=Drama", "length")
    assert numbers(features) == [[1, 1, 0, 1.5], [0, 0, 0, 0], [0, 0, 1, -2]]
    assert features.regularization == 3
    assert read_features(path).names == ("genres=Action|Comedy", "genres=Drama", "length")


def test_columns_are_given_by_name_or_position(path):
    assert read_features(path, columns=["film", "length"]).names == ("length",)
    assert read_features(path, columns=["length", "genres"]).ids.ids.tolist() == ["1.5", "0", "-2"]
    bare = path.with_name("bare.dat")
    bare.write_bytes("1::Am\xe9lie::Drama\n2::Heat::Crime\n".encode("latin-1"))
    features = read_features(bare, columns=[0, 2], encoding="latin-1")
    assert features.names == ("column_2=Crime", "column_2=Drama")
    assert features.ids.ids.tolist() == [1, 2]


def test_parquet_has_types_of_its_own(path):
    frame = pl.DataFrame({"id": ["a", "b"], "tags": [["x", "y"], []], "new": [True, False]})
    frame.write_parquet(path.with_name("films.parquet"))
    features = read_features(path.with_name("films.parquet"))
    assert features.names == ("tags=x", "tags=y", "new")
    assert numbers(features) == [[1, 1, 1], [0, 0, 0]]


MISSING = "films.csv: column 'year' has a missing number at row 1"


@pytest.mark.parametrize(
    ("text", "options", "error", "message"),
    [
        ("film,year\n1,2\n1,3\n", {}, InvalidValueError, "films.csv: id 1 is listed more than once"),
        ("film,year\n1,2\n2,\n", {}, InvalidValueError, MISSING),
        ("film,year\n1,2\n,3\n", {}, InvalidValueError, "column 'film' has a missing value at row 1"),
        ("film,year\n1,nan\n", {}, InvalidValueError, "'year' has a missing number at row 0"),
        (TABLE, {"columns": ["film", "year"]}, InvalidValueError, "feature column 'year' is not in the file"),
        (TABLE, {"columns": ["film"]}, InvalidValueError, "at least one more, got"),
        (TABLE, {"columns": ["film", True]}, InvalidTypeError, "the position of a column, got True"),
        (TABLE, {"regularization": 0}, InvalidValueError, "regularization of features must be > 0"),
    ],
)
def test_what_is_wrong_is_said(path, text, options, error, message):
    path.write_text(text)
    with pytest.raises(error, match=message):
        read_features(path, **options)


def test_ids_may_have_more_than_64_bits(tmp_path):
    path = tmp_path / "films.csv"
    path.write_text(f"film,length\n{2**64 - 1},1.5\n7,2\n")
    features = read_features(path)
    assert features.ids.ids.tolist() == [2**64 - 1, 7]
    assert numbers(features) == [[1.5], [2.0]]
