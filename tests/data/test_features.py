"""Features: from data frames and matrices, with errors that say what is wrong."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from ialspp import Features, IdMap, UnknownIdError
from ialspp.data.feature_rows import MOST_FEATURES
from ialspp.data.features import features_of
from ialspp.data.fingerprint import fingerprint_of
from ialspp.errors import InvalidTypeError, InvalidValueError

COLUMNS = {
    "film": [7, 3, 5],
    "genre": [["Comedy", "Action", "Comedy"], [], ["Action"]],
    "country": ["fr", None, "us"],
    "length": [0.0, 1.5, -2.0],
    "colour": [True, False, True],
}
NAMES = ("genre=Action", "genre=Comedy", "country=fr", "country=us", "length", "colour")
NUMBERS = [[1, 1, 1, 0, 0, 1], [0, 0, 0, 0, 1.5, 0], [1, 0, 0, 1, -2, 1]]


def dense(rows):
    matrix = np.zeros((len(rows), rows.n_columns))
    matrix[rows.row_numbers, rows.columns] = 1 if rows.labels is None else rows.labels
    return matrix.tolist()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_frame_gives_a_feature_for_each_string_and_each_column_of_numbers(frame):
    features = Features.from_frame(frame(COLUMNS), id="film")
    assert features.ids.ids.tolist() == [7, 3, 5]
    assert features.names == NAMES
    assert dense(features.rows) == NUMBERS
    features.rows.check()
    assert repr(features) == "Features(3 ids x 6 features: genre=Action, genre=Comedy, country=fr, ...)"


def test_columns_are_chosen_and_strings_split():
    frame = pl.DataFrame({"id": ["a", "b"], "genres": ["Action|Comedy", "Drama|"], "other": ["x", "y"]})
    features = Features.from_frame(frame, id="id", columns=["genres"], separator="|")
    assert features.names == ("genres=Action", "genres=Comedy", "genres=Drama")
    assert dense(features.rows) == [[1, 1, 0], [0, 0, 1]]
    assert features.rows.labels is None  # ones need no memory


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.coo_array, sparse.csc_array])
def test_a_matrix_gives_a_feature_for_each_column(make):
    features = Features.from_matrix(make(np.array(NUMBERS)), ids=["x", "y", "z"], names=NAMES)
    assert dense(features.rows) == NUMBERS
    assert Features.from_matrix(make(np.array(NUMBERS))).names == ("0", "1", "2", "3", "4", "5")


def test_entries_of_a_sparse_matrix_that_are_given_twice_add_up():
    twice = sparse.coo_array(([1.0, 2.0, 5.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert dense(Features.from_matrix(twice).rows) == [[0, 3], [5, 0]]
    assert twice.nnz == 3  # the caller's matrix is as it was


def test_rows_are_aligned_by_id_and_missing_ones_are_empty():
    features = Features.from_frame(pl.DataFrame(COLUMNS), id="film")
    assert dense(features.rows_of(IdMap([5, 9, 7]))) == [NUMBERS[2], [0] * 6, NUMBERS[0]]
    left = features.unknown_to(IdMap([5, 9, 7]))
    assert (left.ids.ids.tolist(), dense(left.rows)) == ([3], [NUMBERS[1]])


def test_features_of_nobody_in_the_data_are_refused():
    features = Features.from_matrix(np.ones((2, 1)), ids=[1, 2])
    with pytest.raises(InvalidValueError, match=r"none of the 2 ids that have features .* 1 items: 1 is not"):
        features.rows_of(IdMap([3], name="item"))
    with pytest.raises(UnknownIdError, match="these are integers, but the items of the data are strings"):
        features.rows_of(IdMap(["1"], name="item"))


def test_what_fit_is_given_says_what_is_wrong():
    ids = IdMap([1, 2, 3], name="item")
    assert features_of(None, ids) is None
    assert features_of(np.eye(3), ids).ids is ids
    with pytest.raises(InvalidTypeError, match=r"Features.from_frame\(frame, id=...\)"):
        features_of(pd.DataFrame({"a": [1, 2, 3]}), ids)
    with pytest.raises(InvalidValueError, match="a row for each of the 3 items, got 2 rows"):
        features_of(np.eye(2), ids)
    with pytest.raises(InvalidTypeError, match=r"a scipy\.sparse or numpy matrix, got list"):
        features_of([[1]], ids)
    with pytest.raises(InvalidTypeError, match="got an array of shape"):
        features_of(np.ones(3), ids)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"length": [0.0, None, 1.0]}, InvalidValueError, "'length' has a missing number at row 1"),
        ({"length": [0.0, float("nan"), 1.0]}, InvalidValueError, "'length' has a missing number at row 1"),
        ({"length": [0.0, float("inf"), 1.0]}, InvalidValueError, "finite .* 'length' of 3 is inf"),
        ({"length": [0.0, 1e39, 1.0]}, InvalidValueError, "finite .* 'length' of 3 is inf"),
        ({"film": [7, 7, 5]}, InvalidValueError, "7 is listed more than once"),
        ({"film": [7, None, 5]}, InvalidValueError, "'film' has a missing value at row 1"),
        ({"genre": [[1], [2], [3]]}, InvalidTypeError, "numbers, strings or lists of strings, got .*row 0"),
    ],
)
def test_wrong_values_of_a_frame_are_refused(change, error, message):
    with pytest.raises(error, match=message):
        Features.from_frame(pl.DataFrame({**COLUMNS, **change}, strict=False), id="film")


def test_wrong_columns_of_a_frame_are_refused():
    with pytest.raises(InvalidValueError, match="id column 'movie' is not in the frame; it has"):
        Features.from_frame(pl.DataFrame(COLUMNS), id="movie")
    with pytest.raises(InvalidValueError, match="column 'year' is not in the frame; it has"):
        Features.from_frame(pl.DataFrame(COLUMNS), id="film", columns=["year"])
    with pytest.raises(InvalidTypeError, match="numbers only, got 'x' at row 1"):
        Features.from_frame(pd.DataFrame({"id": [1, 2], "mixed": [1.0, "x"]}), id="id")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"names": ["a", "a"]}, "'a' is named more than once"),
        ({"names": ["a"]}, "one name each: 2 are required, got 1"),
        ({"ids": [1]}, "one row per id, 1, got 2"),
        ({"regularization": 0}, "must be > 0, got 0"),
        ({"regularization": -1}, ">= 0, got -1"),
        ({"regularization": float("nan")}, "got nan"),
    ],
)
def test_wrong_settings_are_refused(arguments, message):
    with pytest.raises(InvalidValueError, match=message):
        Features.from_matrix(np.eye(2), **arguments)


def test_more_features_than_the_regression_can_solve_are_refused():
    with pytest.raises(InvalidValueError, match="at most 10,000 features are possible, got 10,001"):
        Features.from_matrix(sparse.csr_array((3, MOST_FEATURES + 1)))
    with pytest.raises(InvalidTypeError, match="features must be numbers, got complex128"):
        Features.from_matrix(np.eye(2, dtype=complex))


def test_equal_features_have_the_same_fingerprint_and_others_do_not():
    def made(numbers=NUMBERS, **options):
        return fingerprint_of(Features.from_matrix(np.array(numbers), **options))

    others = [
        made(np.array(NUMBERS) * 2),
        made(ids=["a", "b", "c"]),
        made(names=NAMES),
        made(regularization=2),
    ]
    assert made() == made()
    assert len({made(), *others}) == 5
