"""Weights that halve with every half-life."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ialspp import Interactions

DAY = 86_400
NOW = 1_700_000_000
LOG = {
    "user": ["ann", "ann", "ann", "bob"],
    "item": ["fado", "fado", "jazz", "jazz"],
    "weight": [1.0, 4.0, 2.0, 8.0],
    "time": [NOW - 60 * DAY, NOW - 30 * DAY, NOW - 30 * DAY, NOW],
}
EXPECTED = [1 / 4 + 4 / 2, 2 / 2, 8]  # of ann's fado and jazz, and bob's jazz
ROLES = {"user": "user", "item": "item", "weight": "weight", "time": "time"}


@pytest.mark.parametrize("half_life", ["30d", "30 d", "720h", "43200m", "2592000s", 30 * DAY])
def test_weights_halve_with_each_half_life_and_repeated_pairs_add_up(half_life):
    data = Interactions.from_arrays(**LOG, half_life=half_life)
    assert data.by_user.weights.tolist() == EXPECTED
    assert data.times.tolist() == [NOW - 60 * DAY, NOW - 30 * DAY, NOW]  # the first of each pair


def test_an_event_without_a_weight_has_weight_one_before_it_decays():
    events = {role: values for role, values in LOG.items() if role != "weight"}
    data = Interactions.from_arrays(**events, half_life="2w")
    factor = 2 ** (-30 / 14)
    assert data.by_user.weights.tolist() == pytest.approx([factor**2 + factor, factor, 1])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_events_of_frames_decay(frame):
    data = Interactions.from_dataframe(frame(LOG), **ROLES, half_life="30d")
    assert data.by_user.weights.tolist() == EXPECTED


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_events_of_files_decay(tmp_path, suffix):
    write = {"csv": "write_csv", "parquet": "write_parquet", "arrow": "write_ipc"}[suffix]
    file = tmp_path / f"log.{suffix}"
    getattr(pl.DataFrame(LOG), write)(file)
    data = Interactions.read(file, **ROLES, half_life="30d")
    assert data.by_user.weights.tolist() == EXPECTED
    assert data.times.tolist() == [NOW - 60 * DAY, NOW - 30 * DAY, NOW]


def test_weights_are_computed_before_they_decay_and_age_counts_from_the_newest_row_that_is_read(tmp_path):
    file = tmp_path / "log.csv"
    pl.DataFrame(LOG).write_csv(file)
    roles = {**ROLES, "weight": "2 * weight"}
    data = Interactions.read(file, **roles, where="item = 'fado'", half_life="30d")
    assert data.by_user.weights.tolist() == [2 * 1 / 2 + 2 * 4]


def test_decay_does_not_depend_on_the_order_of_events():
    back = {role: values[::-1] for role, values in LOG.items()}
    data = Interactions.from_arrays(**back, half_life="30d")
    assert data.by_user.weights.tolist() == EXPECTED


def test_the_oldest_events_weigh_nothing_and_are_still_seen():
    data = Interactions.from_arrays(user=[1, 1], item=[1, 2], time=[0, NOW], half_life="1h")
    assert data.by_user.weights.tolist() == [0, 1]
    assert len(data) == 2


def test_data_without_events_can_decay():
    nothing = np.array([], dtype=np.int64)
    data = Interactions.from_arrays(user=nothing, item=nothing, time=nothing, half_life="30d")
    assert len(data) == 0


@pytest.mark.parametrize("half_life", ["30 days", "", "d", "-1d", "0d", 0, -5, np.nan, np.inf, "1e3"])
def test_a_half_life_is_a_positive_time(half_life):
    with pytest.raises(ValueError, match=r'half_life must be a number of seconds, or a time such as "30d"'):
        Interactions.from_arrays(**LOG, half_life=half_life)


def test_a_half_life_in_text_has_a_unit():
    for half_life in ("30", " 30 ", "1.5"):
        with pytest.raises(ValueError, match=r'half_life must have a unit, such as "30d"'):
            Interactions.from_arrays(**LOG, half_life=half_life)
    seconds = Interactions.from_arrays(**LOG, half_life="2592000s").by_user.weights
    assert seconds.tolist() == Interactions.from_arrays(**LOG, half_life=30 * 86_400).by_user.weights.tolist()


@pytest.mark.parametrize("half_life", [True, [30], b"30d"])
def test_a_half_life_of_another_type_is_an_error(half_life):
    with pytest.raises(TypeError, match="half_life must be a number of seconds"):
        Interactions.from_arrays(**LOG, half_life=half_life)


def test_a_half_life_needs_times(tmp_path):
    with pytest.raises(ValueError, match="half_life='30d' needs time, which is not given"):
        Interactions.from_arrays(user=[1], item=[1], half_life="30d")
    with pytest.raises(ValueError, match="half_life='30d' needs time, which is not given"):
        Interactions.read(tmp_path / "log.csv", user="user", item="item", half_life="30d")


def test_weights_at_several_times_need_a_half_life():
    with pytest.raises(ValueError, match=r"occur together at several times.*or let weights decay"):
        Interactions.from_arrays(**LOG)
