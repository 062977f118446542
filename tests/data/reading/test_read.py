import datetime as dt
import gzip
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.drawing import drawn

from ialspp import Interactions
from ialspp.data.reading.read import BATCH

SEPARATORS = {"csv": ",", "tsv": "\t", "dat": "::", "csv.gz": ",", "csv.zst": ",", "tsv.gz": "\t"}
BINARY = ["parquet", "arrow", "arrow stream"]
NOON = dt.datetime(2026, 7, 1, 12)  # without a zone: UTC
ROWS = {
    "who": ["b", "a", "b", "c"],
    "what": [10, 9, 9, 10],
    "rating": [4.0, 3.5, 5.0, 1.0],
    "kind": ["buy", "see", "buy", "buy"],
    "at": [5, 6, 7, 8],
}

properties = drawn(40)


def parts(data):
    """All that makes up interactions, comparable."""
    side = data.by_user
    arrays = side.offsets, side.columns, side.labels, side.weights, data.times
    return [data.users.ids.tolist(), data.items.ids.tolist()] + [
        None if array is None else array.tolist() for array in arrays
    ]


def pairs(data):
    users = np.repeat(data.users.ids, data.by_user.counts)
    return set(zip(users.tolist(), data.items.ids[data.by_user.columns].tolist(), strict=True))


def field(value):
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else str(value)


def write(folder, form, columns):
    """A file of this form with these columns, strings quoted where it is text."""
    path = folder / f"log.{form.split()[0]}"
    if form == "parquet":
        pl.DataFrame(columns).write_parquet(path)
    elif form == "arrow":
        pl.DataFrame(columns).write_ipc(path)
    elif form == "arrow stream":
        pl.DataFrame(columns).write_ipc_stream(path)
    elif form == "csv.zst":
        pl.DataFrame(columns).write_csv(path, compression="zstd")
    else:
        lines = [columns, *zip(*columns.values(), strict=True)]
        written = str if form == "dat" else field  # there quotes are characters like others
        text = "".join(SEPARATORS[form].join(map(written, line)) + "\n" for line in lines).encode()
        path.write_bytes(gzip.compress(text) if form.endswith("gz") else text)
    return path


def read_text(folder, text, name="log.csv", **options):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Interactions.read(path, **{"user": 0, "item": 1, **options})


def as_in_text(ids):
    """What is written as an integer is one, if all of a column are."""
    plain = all(re.fullmatch("0|-?[1-9][0-9]*", str(value)) for value in ids)
    return [int(value) if plain else str(value) for value in ids]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("read")


@pytest.fixture(scope="module")
def long_log(tmp_path_factory):
    """A file long enough to be read by several threads, its strings not in order."""
    path = tmp_path_factory.mktemp("long") / "log.csv"
    lines = (f"user {k * 7919 % 5003},{k * 104729 % 3001},{k % 9 / 8},{k}\n" for k in range(BATCH + 9_000))
    path.write_text("who,what,weight,at\n" + "".join(lines))
    return path


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x01"), max_size=16)
names = texts | st.sampled_from(["", "7", "-3", "007", '"', ",", "\t", "::", "a\nb", "\ufeff"])
numbers = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)
ids = st.one_of(st.lists(kind, min_size=8, max_size=8) for kind in (names, numbers))
places = st.integers(0, 7)
rows = st.builds(
    lambda users, items, log: [(users[u], items[i], w / 4, t) for u, i, w, t in log],
    *(ids, ids, st.lists(st.tuples(places, places, st.integers(0, 99), st.integers(0, 9)), min_size=1)),
)


def expected(log, form, weighted):
    user, item, weight, time = ([row[k] for row in log] for k in range(4))
    if form not in BINARY:
        user, item = as_in_text(user), as_in_text(item)
    return Interactions.from_arrays(
        user=user, item=item, time=time, **({"weight": weight} if weighted else {})
    )


def can_be_written(log, form):
    """Between "::" nothing is quoted: some strings cannot stand there."""
    strings = [value for row in log for value in row[:2] if isinstance(value, str)]
    unfit = ("\n", "\r", "\0", "::", "\ufeff")
    return form != "dat" or all(
        value and value.strip(":") == value and not any(part in value for part in unfit) for value in strings
    )


@pytest.mark.parametrize("form", [*SEPARATORS, *BINARY])
@given(log=rows)
@properties
def test_what_is_written_comes_back(folder, form, log):
    assume(can_be_written(log, form))
    first = {}
    log = [(u, i, w, first.setdefault((u, i), t)) for u, i, w, t in log]
    columns = {name: [row[k] for row in log] for k, name in enumerate(["who", "what", "how much", "at"])}
    path = write(folder, form, columns)
    data = Interactions.read(path, user="who", item="what", weight="how much", time="at")
    assert parts(data) == parts(expected(log, form, weighted=True))
    by_place = Interactions.read(path, user=0, item=1, weight=2, time=3, header=True)
    assert parts(by_place) == parts(data)


@pytest.mark.parametrize("form", ["csv", "dat", "parquet", "arrow"])
@given(log=rows, random=st.randoms())
@properties
def test_the_order_of_the_rows_does_not_matter_and_the_first_time_counts(folder, form, log, random):
    assume(can_be_written(log, form))
    shuffled = random.sample(log, len(log))
    columns = {name: [row[k] for row in shuffled] for k, name in ((0, "who"), (1, "what"), (3, "at"))}
    data = Interactions.read(write(folder, form, columns), user="who", item="what", time="at")
    assert parts(data) == parts(expected(log, form, weighted=False))


def test_any_number_of_threads_gives_the_same_data(long_log):
    code = (
        "import hashlib, sys; from ialspp import Interactions\n"
        "data = Interactions.read(sys.argv[1], user='who', item='what', weight='weight', min_user=3)\n"
        "arrays = data.by_user.offsets, data.by_user.columns, data.by_user.weights\n"
        "ids = repr([data.users.ids.tolist(), data.items.ids.tolist()]).encode()\n"
        "print(len(data), hashlib.sha256(b''.join([ids, *arrays])).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code, long_log],
            env={**os.environ, "POLARS_MAX_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "5")
    }
    assert len(found) == 1
    assert found.pop().startswith(f"{BATCH + 9_000} ")


@pytest.mark.parametrize("form", [*SEPARATORS, *BINARY])
def test_labels_are_read_and_columns_not_asked_for_are_not(tmp_path, form):
    path = write(tmp_path, form, ROWS)
    data = Interactions.read(str(path), user="who", item="what", label="rating")
    assert parts(data) == [["a", "b", "c"], [9, 10], [0, 1, 3, 4], [0, 0, 1, 1], [3.5, 5, 4, 1], None, None]
    assert data.by_user.labels.dtype == np.float32


def test_a_column_not_asked_for_may_be_damaged(tmp_path):
    path = tmp_path / "log.parquet"
    pl.DataFrame({"who": [1, 2], "note": ["good text", "more text"], "what": [3, 4]}).write_parquet(
        path, compression="uncompressed", statistics=False
    )
    path.write_bytes(path.read_bytes().replace(b"good", b"\xff\xff\xff\xff"))
    with pytest.raises(pl.exceptions.ComputeError):
        pl.read_parquet(path)
    assert pairs(Interactions.read(path, user="who", item="what")) == {(1, 3), (2, 4)}


def test_values_of_columns_not_asked_for_are_not_looked_at(tmp_path):
    text = "note,who,what\nx,1,2\n,3,4\n2020-13-99,5,6\nnan,7,8\n"
    data = read_text(tmp_path, text, user="who", item="what")
    assert pairs(data) == {(1, 2), (3, 4), (5, 6), (7, 8)}


@pytest.mark.parametrize("form", ["csv", "dat", "csv.gz", *BINARY])
@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"min_rating": 4}, {("b", 10), ("b", 9)}),
        ({"rating": "at", "min_rating": 6}, {("a", 9), ("b", 9), ("c", 10)}),
        (
            {"rating": 4, "min_rating": 6, "user": 0, "item": 1, "header": True},
            {("a", 9), ("b", 9), ("c", 10)},
        ),
        ({"where": "rating >= 3.5 AND kind = 'buy'"}, {("b", 10), ("b", 9)}),
        ({"where": "what = 9"}, {("a", 9), ("b", 9)}),
        ({"where": pl.col("rating").is_between(2, 4)}, {("b", 10), ("a", 9)}),
        ({"where": pl.col("kind") == "buy", "min_rating": 4.5}, {("b", 9)}),
        ({"where": "kind = 'none'"}, set()),
        ({"where": "kind = 'buy'", "min_user": 2}, {("b", 10), ("b", 9)}),
        ({"min_item": 2, "min_user": 2}, set()),
        ({"min_item": 2}, {("b", 10), ("a", 9), ("b", 9), ("c", 10)}),
    ],
)
def test_filters_keep_the_rows_asked_for(tmp_path, form, options, kept):
    path = write(tmp_path, form, ROWS)
    data = Interactions.read(path, **{"user": "who", "item": "what", **options})
    assert pairs(data) == kept
    assert data.users.ids.tolist() == sorted({user for user, _ in kept})
    assert data.items.ids.tolist() == sorted({item for _, item in kept})


@pytest.mark.parametrize("options", [{"where": "rating < 5"}, {"where": pl.col("rating") < 5}])
def test_a_filter_takes_a_fraction_far_behind_whole_numbers(tmp_path, options):
    text = "who,what,rating\n" + "1,1,5\n" * BATCH + "2,3,4.5\n"
    assert pairs(read_text(tmp_path, text, user="who", item="what", **options)) == {(2, 3)}


IDS = [
    (pl.Int64, [5, -(2**63), 2**63 - 1]),
    (pl.UInt64, [2**64 - 1, 0, 2**63]),
    (pl.Int8, [3, -128, 127]),
    (pl.String, ["ß", "", "a" * 40]),
    (pl.String, ["9", "10", "-7"]),
    (pl.String, ["\U0001f600", "\uffff", "more than twelve bytes", "more than twelve bytez"]),
    (pl.Categorical, ["b", "a", "ç"]),
    (pl.Enum(["z", "b", "a"]), ["b", "z", "a"]),
]


@pytest.mark.parametrize("form", BINARY)
@pytest.mark.parametrize(("dtype", "values"), IDS)
def test_ids_of_any_type_come_back_sorted(tmp_path, form, dtype, values):
    column = pl.Series(values, dtype=dtype)
    data = Interactions.read(write(tmp_path, form, {"u": column, "i": column[::-1]}), user="u", item="i")
    assert data.users.ids.tolist() == data.items.ids.tolist() == sorted(values)
    assert pairs(data) == set(zip(values, values[::-1], strict=True))


@pytest.mark.parametrize(
    ("fields", "ids"),
    [
        (["7", "-3", "0"], [-3, 0, 7]),
        (['"7"', "8"], [7, 8]),
        (["007", "8"], ["007", "8"]),
        (["18446744073709551615", "-1"], [-1, 2**64 - 1]),
        (["18446744073709551616", "-9223372036854775809"], [-(2**63) - 1, 2**64]),
        (["+7", "8"], ["+7", "8"]),
        (["-0", "8"], ["-0", "8"]),
        ([" 7", "8"], [" 7", "8"]),
        (["1.0", "2"], ["1.0", "2"]),
        (["1e3", "0x1f", "1_000"], ["0x1f", "1_000", "1e3"]),
        (["null", "NA", "nan", "None", "true"], ["NA", "None", "nan", "null", "true"]),
        (['""', "8"], ["", "8"]),
        (['"a,b"', '"c\nd"', '"e\r\nf"', '"g""h"'], ["a,b", "c\nd", "e\r\nf", 'g"h']),
        (["2020-01-01", "2020-01-02"], ["2020-01-01", "2020-01-02"]),
        (["e\u0301", "\u00e9", "\U0001f600", "\uffff"], ["e\u0301", "\u00e9", "\uffff", "\U0001f600"]),
    ],
)
def test_ids_of_text_are_integers_only_where_all_are_written_so(tmp_path, fields, ids):
    text = "".join(f"{value},x{k}\n" for k, value in enumerate(fields))
    assert read_text(tmp_path, text).users.ids.tolist() == ids


@pytest.mark.parametrize("late", ["x", "007", "18446744073709551616"])
def test_an_id_far_down_decides_for_the_whole_column(tmp_path, late):
    ids = [str(k % 100) for k in range(BATCH + 1)] + [late]
    data = read_text(tmp_path, "".join(f"{value},1\n" for value in ids))
    assert data.users.ids.tolist() == sorted(set(as_in_text([*ids[:100], late])))


def test_an_id_of_the_second_file_decides_for_the_first(tmp_path):
    (tmp_path / "a.csv").write_text("who,what\n10,1\n9,1\n")
    (tmp_path / "b.csv").write_text("who,what\nx,2\n")
    data = Interactions.read(tmp_path, user="who", item="what")
    assert pairs(data) == {("10", 1), ("9", 1), ("x", 2)}


@pytest.mark.parametrize(
    ("name", "text", "options", "found"),
    [
        ("log.csv", "a,1\n\n\nb,2", {}, {("a", 1), ("b", 2)}),
        ("log.csv", "a,1\r\n\r\nb,2\r\n", {}, {("a", 1), ("b", 2)}),
        ("log.csv", "\ufeffwho,what\na,1\n", {"user": "who", "item": "what"}, {("a", 1)}),
        ("log.csv", '\ufeff"who","what"\na,1\n', {"user": "who", "item": "what"}, {("a", 1)}),
        ("log.csv", 'who,"what, then"\na,1\n', {"user": "who", "item": "what, then"}, {("a", 1)}),
        ("log.csv", "who,what\na,1\n", {"header": True}, {("a", 1)}),
        ("log.csv", "a;1\nb;2\n", {"separator": ";"}, {("a", 1), ("b", 2)}),
        ("log.csv", "'a,b',1\n", {"quote": "'"}, {("a,b", 1)}),
        ("log.csv", '"a,1\nb",2\n', {"quote": None}, {('"a', 1), ('b"', 2)}),
        ("log.txt", "a\t1\nb\t2\n", {}, {("a", 1), ("b", 2)}),
        ("log", "a::1::5\nb::2::5\n", {}, {("a", 1), ("b", 2)}),
        ("log.dat", "a,b::1\nc\td::2\n", {"separator": "::"}, {("a,b", 1), ("c\td", 2)}),
        ("log.dat", '"a"::1\n"c:d"::2\n', {}, {('"a"', 1), ('"c:d"', 2)}),
        ("log.dat", "a\x01b::1\nc::2\n", {}, {("a\x01b", 1), ("c", 2)}),
        ("log.dat", "Star Wars: IV::1\nb::2\n", {}, {("Star Wars: IV", 1), ("b", 2)}),
        ("log.dat", "u::x::i\n1::x::7\n2::a:b:c::8\n", {"header": True, "item": 2}, {(1, 7), (2, 8)}),
        ("log.dat", '"a::1\nb::2\n', {"quote": None}, {('"a', 1), ("b", 2)}),
        ("log.parquet", "a,1\n", {"format": "csv"}, {("a", 1)}),
        ("log[1] ü.csv", "a,1\n", {}, {("a", 1)}),
    ],
)
def test_text_of_many_kinds_is_read(tmp_path, name, text, options, found):
    assert pairs(read_text(tmp_path, text, name, **options)) == found


@pytest.mark.parametrize("text", ["who,what\n", "who,what", "\ufeffwho,what\r\n", "who,what\n\n\n"])
def test_a_header_alone_is_no_interactions(tmp_path, text):
    data = read_text(tmp_path, text, user="who", item="what", min_user=2)
    assert (data.n_users, data.n_items, len(data)) == (0, 0, 0)


def test_gzip_of_several_members_is_read_whole(tmp_path):
    text = gzip.compress(b"who,what\n1,2\n") + gzip.compress(b"3,4\n")
    assert pairs(read_text(tmp_path, text, "log.csv.gz", user="who", item="what")) == {(1, 2), (3, 4)}


@pytest.mark.parametrize("form", [*SEPARATORS, *BINARY])
def test_a_folder_and_a_pattern_are_one_file_in_pieces(tmp_path, form):
    logs = tmp_path / "logs"
    for place in range(4):
        (logs / f"day {place}").mkdir(parents=True)
        piece = write(tmp_path, form, {name: values[place : place + 1] for name, values in ROWS.items()})
        (logs / f"day {place}" / piece.name).write_bytes(piece.read_bytes())
        piece.rename(tmp_path / f"{place}{piece.name}")
    columns = {"user": "who", "item": "what", "label": "rating", "time": "at"}
    whole = parts(Interactions.read(write(logs, form, ROWS), **columns))
    assert parts(Interactions.read(tmp_path / f"?log.{form.split()[0]}", **columns)) == whole
    assert parts(Interactions.read(f"{logs}/day */*.{form.split()[0]}", **columns)) == whole
    (tmp_path / ".hidden").write_text("not a table\n")
    (tmp_path / "_SUCCESS").touch()
    shutil.rmtree(logs)
    assert parts(Interactions.read(tmp_path, **columns)) == whole


def test_files_of_a_folder_may_order_their_columns_differently_and_have_more(tmp_path):
    pl.DataFrame({"who": [1], "what": [2]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"note": ["x"], "what": [4], "who": [3]}).write_parquet(tmp_path / "b.parquet")
    assert pairs(Interactions.read(tmp_path, user="who", item="what")) == {(1, 2), (3, 4)}


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        (pl.Series([0, 7], dtype=pl.Int8), [0, 7]),
        (pl.Series([2**31, 1], dtype=pl.UInt64), [2**31, 1]),
        ([-0.5, 1.25], [-0.5, 1.25]),
        ([dt.date(1970, 1, 2), dt.date(1969, 12, 31)], [86400, -86400]),
        (pl.Series([NOON, NOON], dtype=pl.Datetime("ms")), [1782907200] * 2),
        (pl.Series([1_500_000_000, 0]).cast(pl.Datetime("ns")), [1.5, 0]),
        (pl.Series([1_500_000, 0]).cast(pl.Datetime("us", "UTC")), [1.5, 0]),
        (pl.Series([NOON, NOON]).dt.replace_time_zone("Europe/Berlin"), [1782900000] * 2),
    ],
)
@pytest.mark.parametrize("form", BINARY)
def test_times_of_any_type_are_unix_seconds(tmp_path, form, times, seconds):
    path = write(tmp_path, form, {"u": [1, 2], "i": [1, 2], "t": times})
    assert Interactions.read(path, user="u", item="i", time="t").times.tolist() == seconds


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        (["7", "-3"], [7, -3]),
        (["7", "2.5"], [7, 2.5]),
        (["1e9", "1"], [1e9, 1]),
        (["1970-01-02", "1970-01-01"], [86400, 0]),
        (["2026-07-01 12:00:00", "2026-07-01 12:00:00.5"], [1782907200, 1782907200.5]),
        (["2026-07-01T12:00:00", "2026-07-01T12:00:01"], [1782907200, 1782907201]),
        (["2026-07-01T12:00:00Z", "2026-07-01T12:00:01Z"], [1782907200, 1782907201]),
        (["2026-07-01T12:00:00+02:00", "2026-07-01T12:00:00-01:00"], [1782900000, 1782910800]),
    ],
)
@pytest.mark.parametrize("separator", [",", "\t"])
def test_times_of_text_are_unix_seconds(tmp_path, times, seconds, separator):
    text = "".join(f"{k}{separator}1{separator}{time}\n" for k, time in enumerate(times))
    assert read_text(tmp_path, text, "log", time=2).times.tolist() == seconds


@pytest.mark.parametrize("written", ["1.5", " 1.5", '"1.5"', "15e-1", "1.50000000000000000001"])
def test_weights_of_text_are_numbers_however_written(tmp_path, written):
    assert read_text(tmp_path, f"a,b,{written}\n", weight=2).by_user.weights.tolist() == [1.5]


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=40),
    st.integers(1, 4),
    st.integers(1, 4),
)
@properties
def test_the_core_is_what_taking_away_one_by_one_leaves(log, min_user, min_item):
    left = set(log)
    while True:
        few = {
            (u, i)
            for u, i in left
            if sum(v == u for v, _ in left) < min_user or sum(j == i for _, j in left) < min_item
        }
        if not few:
            break
        left -= {min(few)}
    weight, time = [u + 0.5 for u, _ in log], [u * i for u, i in log]
    data = Interactions.from_arrays(user=[u for u, _ in log], item=[i for _, i in log], time=time)
    core = data.core(min_user, min_item)
    want = sorted(left)
    assert parts(core) == parts(
        Interactions.from_arrays(
            user=[u for u, _ in want], item=[i for _, i in want], time=[u * i for u, i in want]
        )
    )
    weighted = Interactions.from_arrays(user=[u for u, _ in log], item=[i for _, i in log], weight=weight)
    assert pairs(weighted.core(min_user, min_item)) == left


def test_the_core_counts_different_items_not_rows(tmp_path):
    text = "a,1,1\na,1,1\nb,1,1\nb,2,1\n"
    assert pairs(read_text(tmp_path, text, weight=2, min_user=2)) == {("b", 1), ("b", 2)}


def test_the_core_has_no_users_or_items_without_interactions():
    data = Interactions.from_arrays(user=["b"], item=[2], users=["z", "b"], items=[2, 3])
    assert parts(data.core()) == parts(data.core(1, 1)) == [["b"], [2], [0, 1], [0], None, None, None]


@pytest.mark.parametrize("bad", [-1, 1.5, "2"])
@pytest.mark.parametrize("name", ["min_user", "min_item"])
def test_the_least_counts_are_whole_numbers(tmp_path, name, bad):
    with pytest.raises((TypeError, ValueError), match=name):
        read_text(tmp_path, "a,1\n", **{name: bad})
    with pytest.raises((TypeError, ValueError), match=name):
        Interactions.from_arrays(user=[1], item=[1]).core(**{name: bad})


def test_a_selection_keeps_labels_weights_and_times():
    data = Interactions.from_arrays(
        user=["a", "b", "b", "c"],
        item=[1, 1, 2, 3],
        label=[2, 3, 4, 5],
        weight=[6, 7, 8, 9],
        time=[1, 2, 3, 4],
        users=["c", "b", "a"],
    )
    chosen = data.select(np.array([True, False, True, False]))
    assert parts(chosen) == [["b", "c"], [2, 3], [0, 1, 2], [0, 1], [4, 5], [8, 9], [3, 4]]
    assert chosen.by_item.columns.tolist() == [0, 1]
    assert pairs(data.select(np.ones(4, dtype=bool))) == pairs(data)
    assert len(data.select(np.zeros(4, dtype=bool))) == 0


def test_progress_is_drawn_on_request_and_on_a_terminal_only(tmp_path, capfd):
    for progress in (None, False):
        read_text(tmp_path, "1,2\n", progress=progress)
        assert capfd.readouterr() == ("", "")
    read_text(tmp_path, "1,2\n", progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.strip()


def test_each_file_may_start_with_blank_lines_of_its_own(tmp_path):
    for start in ("", "\n", "\n\n"):
        for name, text in (("a.csv", "1,2\n"), ("b.csv", f"{start}3,4\n5,6\n"), ("c.csv", "\n7,8\n")):
            (tmp_path / name).write_text(text)
            (tmp_path / name).with_suffix(".dat").write_text(text.replace(",", "::"))
        for pattern in ("*.csv", "*.dat"):
            data = Interactions.read(tmp_path / pattern, user=0, item=1)
            assert pairs(data) == {(1, 2), (3, 4), (5, 6), (7, 8)}


def test_a_filter_on_ids_leaves_them_as_they_are_written(tmp_path):
    text = "u,i,n\n7,1,1\n007,1,1\n8,2,3\n"
    data = read_text(tmp_path, text, user="u", item="i", where="u > 7 OR n = 1")
    assert data.users.ids.tolist() == ["007", "7", "8"]


def test_what_programs_hide_in_a_folder_is_not_read(tmp_path):
    for name in ("a.csv", ".hidden/a.csv", "_temporary/0/a.csv", "more/b.csv", "more/.c.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{name},1\n")
    assert Interactions.read(tmp_path, user=0, item=1).users.ids.tolist() == ["a.csv", "more/b.csv"]


def test_columns_without_names_are_numbered_for_filters(tmp_path):
    for name, text in (("log.csv", "a,1,5\nb,2,6\n"), ("log.dat", "a::1::5\nb::2::6\n")):
        assert pairs(read_text(tmp_path, text, name, where="column_2 > 5")) == {("b", 2)}


def test_one_column_by_name_means_there_is_a_header(tmp_path):
    assert pairs(read_text(tmp_path, "u,i\na,1\n", user="u", item=1)) == {("a", 1)}


def test_ratings_may_be_negative(tmp_path):
    text = "u,i,rating\na,1,-3\nb,2,-1\n"
    assert pairs(read_text(tmp_path, text, user="u", item="i", min_rating=-2)) == {("b", 2)}


def test_a_row_of_a_wide_file_is_blank_only_if_all_that_is_asked_for_is(tmp_path):
    empty = "," * 20
    assert pairs(read_text(tmp_path, f"{empty}a,1,\n\n{empty}b,2,\n", user=20, item=21)) == {
        ("a", 1),
        ("b", 2),
    }
