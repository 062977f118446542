"""When interactions happened: kept as Unix seconds, the first of each pair."""

from datetime import datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ialspp import Interactions

NOON = 1_782_907_200  # 2026-07-01 12:00 UTC


def times(values, **options):
    users = range(len(values))
    return Interactions.from_arrays(user=users, item=[0] * len(values), time=values, **options).times


@pytest.mark.parametrize(
    "value",
    [
        NOON,
        float(NOON),
        np.datetime64("2026-07-01T12:00"),
        datetime(2026, 7, 1, 12),
        datetime(2026, 7, 1, 14, tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_seconds_and_dates_are_unix_seconds(value):
    assert times([value, value]).tolist() == [NOON, NOON]


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_frames_may_have_dates_with_a_zone(zone):
    moment = pd.Timestamp(NOON, unit="s", tz="UTC").tz_convert(zone)
    frame = pd.DataFrame({"u": [1], "i": [2], "t": [moment]})
    assert Interactions.from_dataframe(frame, user="u", item="i", time="t").times.tolist() == [NOON]


def test_polars_frames_have_times_too():
    frame = pl.DataFrame({"u": [1], "i": [2], "t": [datetime(2026, 7, 1, 12)]})
    assert Interactions.from_dataframe(frame, user="u", item="i", time="t").times.tolist() == [NOON]


def test_a_repeated_pair_has_its_first_time():
    data = Interactions.from_arrays(user=[1, 1, 2], item=[5, 5, 5], time=[30, 10, 20])
    assert data.times.tolist() == [10, 20]


def test_weights_that_add_up_over_several_times_are_refused():
    with pytest.raises(ValueError, match="user 1 and item 5 occur together at several times"):
        Interactions.from_arrays(user=[1, 1], item=[5, 5], time=[30, 10], weight=[1, 2])
    same = Interactions.from_arrays(user=[1, 1], item=[5, 5], time=[30, 30], weight=[1, 2])
    assert same.by_user.weights.tolist() == [3]


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([1, 1_782_907_200_000], ValueError, "is 1782907200000 at position 1; divide milliseconds by 1000"),
        ([1, np.nan], ValueError, "is nan at position 1"),
        (list(np.array(["2026-07-01", "NaT"], "datetime64[D]")), ValueError, "time is missing at position 1"),
        (["a", "b"], TypeError, "time must be Unix seconds or dates"),
        ([None, 1], TypeError, "time must be Unix seconds or dates, got None"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), TypeError, "time must not be masked"),
        (["2026-01-01", "2026-01-02"], TypeError, "got '2026-01-01'; parse texts first"),
        (np.array([2**60, 2**61], "datetime64[s]"), ValueError, "is .* at position 0"),
        (np.array([1, 2]).view("datetime64"), TypeError, "datetime64 without a unit"),
        ([20261231, 20260101], ValueError, "look like dates without hyphens, such as 20261231"),
    ],
)
def test_times_that_cannot_be_used_are_errors(values, error, message):
    with pytest.raises(error, match=message):
        times(values)


def test_as_many_times_as_interactions():
    with pytest.raises(ValueError, match=r"time must have shape \(2,\)"):
        Interactions.from_arrays(user=[1, 2], item=[1, 2], time=[1, 2, 3])


def test_seconds_that_are_no_calendar_dates_are_taken():
    for values in ([20261331, 20260101], [20261231, 5], [19000100, 19000101]):  # no month 13, no day 0
        assert times(values)[0] == values[0]
