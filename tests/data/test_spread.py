"""Weights that are far apart give a warning that says what to do; weights that are meant to be do not."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ialspp import ImplicitMF, Interactions, WeightWarning, datasets, evaluate, split
from ialspp.data import spread
from ialspp.data.spread import spread_advice

PAIRS = 1000
POSITIVE = st.floats(2.0**-100, 2.0**100, width=32)


def weighted(weights, **more):
    """One pair for each weight, of some users with some items each."""
    n = len(weights)
    return Interactions.from_arrays(user=np.arange(n) // 20, item=np.arange(n), weight=weights, **more)


def counts(most, n=PAIRS):
    """Counts from 1 to `most`, spread evenly over the orders of magnitude."""
    return np.geomspace(1, most, n).round()


def caught(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return found


def test_fit_warns_of_raw_counts_at_the_line_of_the_caller():
    [warning] = caught(lambda: ImplicitMF(dim=2, epochs=1).fit(weighted(counts(10_000)), progress=False))
    assert warning.category is WeightWarning
    assert warning.filename == __file__
    assert 'weight="(1 + log(plays)) / 5.6"' in str(warning.message)


def test_evaluate_warns_once_although_it_also_fits_baselines():
    user, item = np.divmod(np.arange(PAIRS), 50)
    data = Interactions.from_arrays(user=user, item=item, weight=counts(10_000))
    [warning] = caught(lambda: evaluate(ImplicitMF(dim=2, epochs=1), split.random(data), progress=False))
    assert warning.filename == __file__


def test_fit_warns_of_counts_that_are_given_as_labels():
    n = np.arange(PAIRS)
    data = Interactions.from_arrays(user=n // 20, item=n, label=counts(10_000))
    [warning] = caught(lambda: ImplicitMF(dim=2, epochs=1).fit(data, progress=False))
    said = str(warning.message)
    assert said.startswith("98 % of the labels are between 1 and 9,119, so a few pairs decide what the model")
    assert 'Give counts as weights instead, dampened to about 1 each: weight="(1 + log(plays)) / 5.6"' in said
    ratings = Interactions.from_arrays(user=n // 20, item=n, label=1 + n % 5)
    assert caught(lambda: ImplicitMF(dim=2, epochs=1).fit(ratings, progress=False)) == []


@pytest.mark.parametrize(("most", "warns"), [(100, False), (101, True)])
def test_the_limit_is_a_factor_of_a_hundred(most, warns):
    weights = np.repeat([1, most], PAIRS // 2)
    assert (spread_advice(weighted(weights)) is not None) == warns
    assert (spread_advice(weighted(weights * 0.25)) is not None) == warns  # the scale does not matter


@given(st.lists(POSITIVE, min_size=1, max_size=300))
@example([1.0] * 99 + [1e30])
@example([3e38, 1e-38])
def test_the_warning_is_of_the_weights_between_the_lowest_and_the_highest_hundredth(weights):
    ordered = np.sort(np.array(weights, dtype=np.float32))
    place = (len(ordered) - 1) * np.array([0.01, 0.99])
    near = [{int(np.floor(p)), int(np.ceil(p))} for p in place]
    ratios = [float(ordered[high]) / float(ordered[low]) for low in near[0] for high in near[1]]
    found = spread_advice(weighted(weights))
    if min(ratios) > 100:
        assert found is not None
    if max(ratios) <= 100:
        assert found is None


def test_a_few_odd_weights_do_not_warn():
    weights = np.ones(PAIRS)
    weights[:5], weights[5:10] = 1e6, 1e-6
    assert spread_advice(weighted(weights)) is None


def test_weights_of_zero_are_left_out():
    assert spread_advice(weighted(np.repeat([0, 1, 2], PAIRS))) is None
    assert spread_advice(weighted(np.zeros(PAIRS))) is None
    assert "log(1 + plays / 1)" in spread_advice(weighted(np.append(counts(10_000), 0)))


def test_data_without_weights_does_not_warn():
    assert spread_advice(Interactions.from_arrays(user=[1, 2], item=[1, 1])) is None


def test_weights_that_decay_do_not_warn_also_after_a_selection():
    times = np.arange(PAIRS) * 86_400.0
    data = weighted(counts(10), time=times, half_life="30d")
    assert data.by_user.weights.max() > 1e6 * data.by_user.weights.min() > 0
    assert spread_advice(data) is None
    assert spread_advice(data.select(np.arange(PAIRS) % 3 > 0)) is None


@pytest.mark.parametrize("plays", [counts(50_000), counts(50_000) / 1000, np.append(counts(50_000), 0)])
def test_weights_as_advised_are_one_on_average_and_do_not_warn(tmp_path, plays):
    file = tmp_path / "plays.csv"
    lines = [f"{n // 20},{n},{value}" for n, value in enumerate(plays)]
    file.write_text("\n".join(["who,what,plays", *lines]))
    columns = {"user": "who", "item": "what"}
    advice = spread_advice(Interactions.read(file, **columns, weight="plays"))
    expression = re.search('weight="(.*)"', advice)[1]
    dampened = Interactions.read(file, **columns, weight=expression)
    assert dampened.by_user.weights.mean() == pytest.approx(1, rel=0.05)
    assert spread_advice(dampened) is None


def test_known_data_with_its_own_weights_does_not_warn(shared_data):
    assert spread_advice(datasets.complete_journey(counts=True)) is None
    folder = shared_data("hetrec2011-lastfm-2k")
    assert spread_advice(datasets.lastfm(folder)) is None
    assert spread_advice(datasets.lastfm(folder, weight="weight")) is not None


@given(st.integers(0, 50), st.integers(1, 7), st.integers(1, 9))
def test_a_sample_taken_block_by_block_is_that_of_all_weights(n, block, size):
    weights = np.random.default_rng(n).integers(0, 3, n).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spread, "BLOCK", block)
        patch.setattr(spread, "SAMPLE", size)
        found = spread._sample_of_positive(np.append(weights, np.float32(5)))
    positive = np.append(weights[weights > 0], np.float32(5))
    assert np.array_equal(found, positive[:: 1 + len(positive) // size])


@pytest.mark.parametrize(("factor", "warns"), [(0.09, True), (0.2, False), (9, False), (11, True)])
def test_an_update_on_another_scale_warns_at_the_line_of_the_caller(factor, warns):
    model = ImplicitMF(dim=2, epochs=1).fit(weighted(np.full(PAIRS, 3.0)), progress=False)
    more = Interactions.from_arrays(user=[1, 2], item=[3, 4], weight=[3 * factor] * 2)
    found = caught(lambda: model.update(more, progress=False))
    assert [(each.category, each.filename) for each in found] == [(WeightWarning, __file__)] * warns
    assert all("was trained with 3. Compute" in str(each.message) for each in found)


def test_an_update_with_weights_of_a_model_without_warns():
    plain = Interactions.from_arrays(user=[1, 1, 2], item=[1, 2, 1])
    model = ImplicitMF(dim=2, epochs=1).fit(plain, progress=False)
    assert caught(lambda: model.update(plain, progress=False)) == []
    counted = Interactions.from_arrays(user=[1], item=[2], weight=[500])
    [warning] = caught(lambda: model.update(counted, progress=False))
    assert "500 on average" in str(warning.message)
