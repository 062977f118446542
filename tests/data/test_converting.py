"""Interactions given back as a sparse matrix and as a data frame, and the errors that name converters."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from ialspp import ImplicitMF, Interactions

EVENTS = {"user": ["b", "a", "b"], "item": [3, 1, 1], "weight": [2.0, 1.0, 4.0], "time": [30, 10, 20]}


def test_a_matrix_goes_through_interactions_and_comes_back():
    matrix = sp.csr_array(np.random.default_rng(0).poisson(0.5, (6, 5)).astype(np.float32))
    back = Interactions.from_scipy(matrix).to_scipy()
    assert isinstance(back, sp.csr_array)
    assert_array_equal(back.toarray(), matrix.toarray())
    back.data[:] = 9  # its own arrays
    assert Interactions.from_scipy(matrix).to_scipy("label").sum() == matrix.nnz


def test_a_matrix_has_the_values_that_were_asked_for():
    data = Interactions.from_arrays(user=[0, 1], item=[0, 1], label=[5, 6], weight=[2, 3])
    assert data.to_scipy().diagonal().tolist() == [2, 3]
    assert data.to_scipy("label").diagonal().tolist() == [5, 6]
    assert data.to_scipy(None).diagonal().tolist() == [1, 1]
    with pytest.raises(ValueError, match='values must be "weight", "label" or None, got \'weights\''):
        data.to_scipy("weights")


def test_a_frame_has_a_row_for_each_pair_and_makes_the_same_data():
    data = Interactions.from_arrays(**EVENTS).with_names(items={1: "tea"})
    frame = data.to_frame()
    assert frame.to_dict(as_series=False) == {
        "user": ["a", "b", "b"],
        "item": [1, 1, 3],
        "item_name": ["tea", "tea", None],
        "weight": [1.0, 4.0, 2.0],
        "time": [10.0, 20.0, 30.0],
    }
    again = Interactions.from_dataframe(frame, user="user", item="item", weight="weight", time="time")
    assert_array_equal(again.by_user.weights, data.by_user.weights)
    assert again.items == data.items


def test_a_frame_of_plain_data_has_two_columns():
    assert Interactions.from_arrays(user=[1], item=["x"]).to_frame().columns == ["user", "item"]


@pytest.mark.parametrize(
    ("data", "converter"),
    [
        (sp.eye(3, format="csr"), r"call Interactions.from_scipy\(matrix\) first"),
        (pd.DataFrame(EVENTS), r"from_dataframe\(frame, user=..., item=...\) first"),
        (pl.DataFrame(EVENTS), r"from_dataframe\(frame, user=..., item=...\) first"),
        ("ratings.csv", r"Interactions.read\(path, user=..., item=...\) first"),
        (np.eye(3), r"from_arrays\(user=..., item=...\) first"),
        (None, "NoneType$"),
    ],
)
def test_fit_and_update_say_which_converter_to_call(data, converter):
    model = ImplicitMF(dim=2, epochs=1)
    with pytest.raises(TypeError, match=f"data must be Interactions, got .*{converter}"):
        model.fit(data)
    model.fit(Interactions.from_arrays(user=[1], item=[1]), progress=False)
    with pytest.raises(TypeError, match=f"data must be Interactions, got .*{converter}"):
        model.update(data)
