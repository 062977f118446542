"""Scores of given pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.models import make_data, make_model

import ialspp.model.scoring
from ialspp import UnknownIdError


@pytest.fixture(scope="module")
def model():
    return make_model().fit(make_data(), progress=False)


def test_pairs_are_scored_in_their_order(model, monkeypatch):
    monkeypatch.setattr(ialspp.model.scoring, "PAIRS_AT_ONCE", 3)  # several pieces
    users, items = [3, 0, 3, 7, 7, 1, 2], [5, 5, 1, 0, 0, 29, 3]
    expected = np.einsum("pd,pd->p", model.user_factors[users], model.item_factors[items])
    scores = model.score(users, [f"item-{item}" for item in items])
    assert scores.dtype == np.float32
    assert_allclose(scores, expected, rtol=1e-5, atol=1e-6)


def test_one_id_goes_with_every_other(model):
    ranking = model.recommend(3, k=6)
    assert_allclose(model.score(3, ranking), ranking.scores, rtol=1e-5)
    assert_allclose(model.score([3, 4], "item-1"), [model.score(3, "item-1"), model.score(4, "item-1")])
    assert isinstance(model.score(3, "item-1"), float)
    assert model.score(3, []).shape == (0,)


def test_unknown_ids_are_an_error_or_nan(model):
    with pytest.raises(UnknownIdError, match="unknown item: 'nothing'"):
        model.score([1, 2], ["item-1", "nothing"])
    with pytest.raises(UnknownIdError, match="unknown user: 99"):
        model.score(99, "item-1")
    scores = model.score([1, 99, 2], ["item-1", "item-2", "nothing"], unknown="skip")
    assert np.isnan(scores).tolist() == [False, True, True]
    assert np.isnan(model.score(99, "item-1", unknown="skip"))


def test_lengths_must_agree(model):
    with pytest.raises(ValueError, match="the same length, or one of them be one id, got 2 and 3"):
        model.score([1, 2], ["item-1"] * 3)
