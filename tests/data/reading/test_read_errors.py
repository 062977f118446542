import csv
import gzip
import itertools
import re
from importlib import import_module

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.drawing import drawn
from support.models import fitted, make_data

from ialspp import Interactions
from ialspp.data.reading.file_set import SAMPLE_ROWS

FILES = {",": "log.csv", "\t": "log.tsv", "::": "log.dat"}
WRITERS = {
    "parquet": pl.DataFrame.write_parquet,
    "arrow": pl.DataFrame.write_ipc,
    "arrow stream": pl.DataFrame.write_ipc_stream,
}
COLUMNS = {"user": "u", "item": "i"}
GOOD = {"u": ["a", "b", "c"], "i": [1, 2, 3], "x": [1.0, 2.0, 3.0]}

properties = drawn(60)


FAR_DOWN = SAMPLE_ROWS + 5000  # beyond the rows that types are guessed from


@pytest.fixture
def small_batches(monkeypatch):
    """So that a row far down is not in the first batch, nor in the second."""
    monkeypatch.setattr(import_module("ialspp.data.reading.read"), "BATCH", 4096)


def read_text(folder, text, name="log.csv", **options):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Interactions.read(path, **{**COLUMNS, **options})


def outcome(folder, text, name, **options):
    """What an error says, if it is one."""
    try:
        read_text(folder, text, name, **options)
    except (OSError, ValueError) as error:
        return str(error)
    return None


def write(path, form, columns):
    WRITERS[form](pl.DataFrame(columns), path)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("errors")


BEFORE = {  # what stands before the broken line, and that line's number
    "a header": ("u,i,w\n", 2),
    "a row": ("u,i,w\na,1,1\n", 3),
    "blank lines": ("u,i,w\n\n\na,1,1\n\n", 6),
    "blank lines before the header": ("\n\nu,i,w\na,1,1\n", 5),
    "quoted newlines": ('u,i,w\n"a\n\nb",1,1\n"c\nd",2,1\n', 7),
    "CRLF": ("u,i,w\r\n\r\na,1,1\r\n", 4),
    "quoted CRLF": ('u,i,w\r\n"a\r\nb",1,1\r\n', 4),
    "a byte order mark": ("\ufeffu,i,w\na,1,1\n", 3),
    "a long field": (f"u,i,w\n{'a' * 200_000},1,1\n", 3),
}
BROKEN = {  # a broken line, and what is said of it
    "b,2,-0.5": r"'w'.*-0\.5",
    "b,2,x": "'w'.*'x'",
    "b,2,1_000": "'w'.*'1_000'",
    "b,2,nan": "'w'.*(?i:nan)",
    "b,2,-inf": "'w'.*-inf",
    "b,2,1e39": r"'w'.*1e\+?39",
    ",2,1": "'u'.*no value",
    "b,,1": "'i'.*no value",
    "b,2,": "'w'.*no value",
    "b,2": "'w'.*no value|3 fields.*2",
    "b": "'i'.*no value|3 fields.*1",
    "b,2,1,5": "3 fields.*4",
    'b,2,"1': "",
    'b,"2,1': "",
    '"b,2,1': "",
    '"b"c,2,1': "",
}


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("before", BEFORE)
def test_a_broken_line_is_named_whatever_stands_before_it(tmp_path, before, broken):
    start, line = BEFORE[before]
    text = f"{start}{broken}\nc,3,1\nd,4,1\n"
    with pytest.raises(ValueError, match=rf"(?s)log\.csv, line {line}\b.*({BROKEN[broken]})"):
        read_text(tmp_path, text, weight="w")


@pytest.mark.parametrize(
    ("broken", "separator"),
    # between "::" quotes are characters like others
    [(line, separator) for line in BROKEN for separator in FILES if separator != "::" or '"' not in line],
)
def test_a_broken_line_is_named_whatever_separates_its_fields(tmp_path, broken, separator):
    name, text = FILES[separator], f"u,i,w\r\na,1,1\r\n\r\n{broken}\r\n"
    with pytest.raises(ValueError, match=rf"(?s){re.escape(name)}, line 4\b.*({BROKEN[broken]})"):
        read_text(tmp_path, text.replace(",", separator), name, weight="w")


@pytest.mark.parametrize(
    ("broken", "separator"),
    [*((line, ",") for line in ("b,2,-1", "b,2,x", "b,2", "b,2,1,5", 'b,"2,1')), ("b,2,1,5", "::")],
)
@pytest.mark.usefixtures("small_batches")
def test_a_broken_line_far_down_is_named(tmp_path, broken, separator):
    text = ("u,i,w\n" + "a,1,1\n" * FAR_DOWN + broken + "\nc,3,1\n").replace(",", separator)
    with pytest.raises(ValueError, match=rf"{re.escape(FILES[separator])}, line {FAR_DOWN + 2}\b"):
        read_text(tmp_path, text, FILES[separator], weight="w")


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        *itertools.product(["a,1\nb\n", "a,1\nb,2,3\n", "a,1\nb,\n", "a,1\n,2\n"], FILES),
        ('a,1\nb,"2\n', ","),
        ('a,1\nb,"2\n', "\t"),
    ],
)
def test_a_broken_line_is_named_without_a_header_too(tmp_path, text, separator):
    name = FILES[separator]
    with pytest.raises(ValueError, match=rf"{re.escape(name)}, line 2\b"):
        read_text(tmp_path, text.replace(",", separator), name, user=0, item=1)


@pytest.mark.parametrize("separator", FILES)
def test_a_column_without_a_name_is_named_by_its_place(tmp_path, separator):
    name = FILES[separator]
    with pytest.raises(ValueError, match=rf"{re.escape(name)}, line 1: column 2 .*'x'"):
        read_text(tmp_path, "a,1,x\n".replace(",", separator), name, user=0, item=1, weight=2)


@pytest.mark.parametrize("broken", ["b,2,1,1,5", "b,2,1", "b,2", "b", 'b,2,"1,1'])
@pytest.mark.parametrize("columns", [{}, {"weight": "w"}, {"weight": "x"}, {"user": "w", "item": "x"}])
def test_a_broken_line_is_named_whichever_columns_are_read(tmp_path, broken, columns):
    with pytest.raises(ValueError, match=r"log\.csv, line 3\b"):
        read_text(tmp_path, f"u,i,w,x\na,1,1,1\n{broken}\nc,3,1,1\n", **columns)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "csv.zst"])
@pytest.mark.parametrize("broken", ["b,2,-1", "b,2,x", "b,,1", "b,2", "b,2,1,5", 'b,"2,1'])
def test_a_broken_line_of_the_second_file_is_named(tmp_path, broken, suffix):
    for name, text in ("a", "u,i,w\na,1,1\nb,1,1\n"), ("b", f"u,i,w\n\n{broken}\n"), ("c", "u,i,w\n"):
        path = tmp_path / f"{name}.{suffix}"
        path.write_bytes(gzip.compress(text.encode()) if suffix == "csv.gz" else text.encode())
    with pytest.raises(ValueError, match=rf"b\.{re.escape(suffix)}, line 3\b"):
        Interactions.read(tmp_path, **COLUMNS, weight="w")


@pytest.mark.parametrize("cut", [10, 8, 3])
def test_a_file_cut_short_in_a_line_is_an_error_at_that_line(tmp_path, cut):
    text = 'u,i,w\n"an id",1,1\n"and more",2,1'
    with pytest.raises(ValueError, match=r"log\.csv, line 3\b"):
        read_text(tmp_path, text[:-cut], weight="w")


@pytest.mark.parametrize("bad", ["x", "nan", "-inf", "", "1700000000000", "2020-02-30", "2020-01-01"])
def test_a_bad_time_among_seconds_is_named(tmp_path, bad):
    said = f"'?{re.escape(bad)}" if bad else "no value"
    with pytest.raises(ValueError, match=rf"log\.csv, line 4: column 't'.*{said}"):
        read_text(tmp_path, f"u,i,t\na,1,5\nb,2,6\nc,3,{bad}\n", time="t")


@pytest.mark.parametrize("bad", ["x", "5", "", "2020-02-30", "2020-13-01", "2020-01-01T10:00:00"])
def test_a_bad_time_among_dates_is_named(tmp_path, bad):
    said = f"'?{re.escape(bad)}" if bad else "no value"
    with pytest.raises(ValueError, match=rf"log\.csv, line 4: column 't'.*{said}"):
        read_text(tmp_path, f"u,i,t\na,1,2020-01-01\nb,2,2020-01-02\nc,3,{bad}\n", time="t")


BAD = [
    ("user", ["a", None, "b"], "no value"),
    ("item", [1, None, 3], "no value"),
    ("item", pl.Series(["a", None, "b"], dtype=pl.Categorical), "no value"),
    ("weight", [1.0, None, 2.0], "no value"),
    ("weight", [1.0, float("nan"), 2.0], "(?i:nan)"),
    ("weight", [1.0, float("inf"), 2.0], "inf"),
    ("weight", [1.0, -0.5, 2.0], r"-0\.5"),
    ("weight", [1.0, 1e39, 2.0], r"1e\+39"),
    ("weight", [1, -2, 3], "-2"),
    ("label", [1.0, float("nan"), 2.0], "(?i:nan)"),
    ("label", [1, None, 3], "no value"),
    ("time", [1, 1_700_000_000_000, 3], "milliseconds.*1700000000000"),
    ("time", [1.0, float("nan"), 3.0], "(?i:nan)"),
    ("time", [1, None, 3], "no value"),
    ("rating", [4.0, float("nan"), 4.0], "(?i:nan)"),
    ("rating", [4.0, None, 4.0], "no value"),
]


def asked(role):
    return {**COLUMNS, role: "x", **({"min_rating": 4} if role == "rating" else {})}


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize(("role", "values", "said"), BAD)
def test_a_bad_value_is_named_with_file_column_and_row(tmp_path, form, role, values, said):
    path = write(tmp_path / f"log.{form.split()[0]}", form, {**GOOD, "x": values})
    with pytest.raises(ValueError, match=rf"{path.name}, row 1: column 'x'.*{said}"):
        Interactions.read(path, **asked(role))


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize(("role", "values", "said"), BAD[::3])
def test_a_bad_value_of_the_second_file_is_named_with_its_row_there(tmp_path, form, role, values, said):
    suffix, column = form.split()[0], pl.Series(values)
    write(tmp_path / f"a.{suffix}", form, {**GOOD, "x": column[[0, 2, 0]]})
    write(tmp_path / f"b.{suffix}", form, {**GOOD, "x": column})
    with pytest.raises(ValueError, match=rf"b\.{suffix}, row 1: column 'x'.*{said}"):
        Interactions.read(tmp_path, **asked(role))


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.usefixtures("small_batches")
def test_a_bad_value_far_down_is_named(tmp_path, form):
    columns = {"u": range(FAR_DOWN + 1), "i": range(FAR_DOWN + 1), "x": [1.0] * FAR_DOWN + [-1.0]}
    path = write(tmp_path / f"log.{form.split()[0]}", form, columns)
    with pytest.raises(ValueError, match=rf"{path.name}, row {FAR_DOWN}: column 'x'.*-1"):
        Interactions.read(path, **COLUMNS, weight="x")


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize(
    ("role", "values"),
    [
        ("user", [1.0, 2.0, 3.0]),
        ("item", [True, False, True]),
        ("item", [b"a", b"b", b"c"]),
        ("user", [[1], [2], [3]]),
        ("weight", ["x", "y", "z"]),
        ("label", [[1.0], [2.0], [3.0]]),
        ("time", ["x", "y", "z"]),
        ("time", [True, False, True]),
        ("rating", ["x", "y", "z"]),
    ],
)
def test_a_column_of_the_wrong_type_is_named(tmp_path, form, role, values):
    path = write(tmp_path / f"log.{form.split()[0]}", form, {**GOOD, "x": values})
    with pytest.raises(ValueError, match=rf"{path.name}.*'x'"):
        Interactions.read(path, **asked(role))


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("role", ["user", "item", "weight", "time"])
def test_files_whose_types_differ_are_named(tmp_path, form, role):
    suffix = form.split()[0]
    write(tmp_path / f"a.{suffix}", form, {**GOOD, "x": [1, 2, 3]})
    write(tmp_path / f"b.{suffix}", form, {**GOOD, "x": ["1", "2", "3"]})
    with pytest.raises(ValueError, match=rf"b\.{suffix}.*'x'"):
        Interactions.read(tmp_path, **{**COLUMNS, role: "x"})


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_a_file_that_lacks_a_column_the_first_has_is_named(tmp_path, suffix):
    for name, columns in ("a", GOOD), ("b", {"u": ["a"], "other": [1], "x": [1.0]}):
        if suffix == "csv":
            pl.DataFrame(columns).write_csv(tmp_path / f"{name}.csv")
        else:
            write(tmp_path / f"{name}.{suffix}", suffix, columns)
    with pytest.raises(ValueError, match=rf"b\.{suffix}.*'i'"):
        Interactions.read(tmp_path, **COLUMNS)


@pytest.mark.parametrize("role", ["user", "item", "label", "weight", "time", "rating"])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow"])
def test_a_column_that_is_not_there_is_named(tmp_path, role, suffix):
    path = tmp_path / f"log.{suffix}"
    if suffix in WRITERS:
        write(path, suffix, GOOD)
    else:
        pl.DataFrame(GOOD).write_csv(path, separator="," if suffix == "csv" else "\t")
    with pytest.raises(ValueError, match=rf"{path.name}: {role} column 'absent'.*'u', 'i', 'x'"):
        Interactions.read(path, **{**COLUMNS, role: "absent"}, min_rating=0)
    with pytest.raises(ValueError, match=rf"{path.name}: {role}.*column 3.*3"):
        Interactions.read(path, **{**COLUMNS, role: 3}, min_rating=0, header=True)


@pytest.mark.parametrize(
    ("where", "error", "said"),
    [
        ("absent > 3", ValueError, r"log\.csv: where.*'absent'.*'u', 'i'"),
        (pl.col("absent") > 3, ValueError, r"log\.csv: where.*'absent'.*'u', 'i'"),
        ("i > > 3", ValueError, "where.*'i > > 3'"),
        ("", ValueError, "where"),
        ("i + 1", ValueError, r"log\.csv"),
        ("i = 'x'", ValueError, r"log\.csv"),
        (7, TypeError, "where.*7"),
    ],
)
def test_a_bad_condition_is_named(tmp_path, where, error, said):
    with pytest.raises(error, match=said):
        read_text(tmp_path, "u,i\na,1\n", where=where)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"separator": "ab"}, "separator.*'ab'"),
        ({"separator": ""}, "separator.*''"),
        ({"separator": "\n"}, "separator"),
        ({"separator": '"'}, "separator.*quote|quote.*separator"),
        ({"quote": "ab"}, "quote.*ab"),
        ({"format": "json"}, "format.*'json'"),
        ({"user": None}, "user"),
        ({"user": -1}, "user.*-1"),
        ({"user": "i"}, "user must be a column of its own, but 'i' is also item"),
        ({"min_rating": "x", "rating": "i"}, "min_rating.*'x'"),
        ({"min_rating": float("nan"), "rating": "i"}, "min_rating.*nan"),
    ],
)
def test_bad_arguments_are_named(tmp_path, options, said):
    with pytest.raises((TypeError, ValueError), match=said):
        read_text(tmp_path, "u,i\na,1\n", **options)


@pytest.mark.parametrize("name", ["log.csv", "log.parquet", "log.arrow", "*.csv", "logs"])
def test_a_file_that_is_not_there_is_named(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=re.escape(name)):
        Interactions.read(tmp_path / name, **COLUMNS)


def test_an_empty_folder_is_named(tmp_path):
    with pytest.raises((OSError, ValueError), match=re.escape(tmp_path.name)):
        Interactions.read(tmp_path, **COLUMNS)


@pytest.mark.parametrize(
    "name", ["log.csv", "log.dat", "log.csv.gz", "log.csv.zst", "log.parquet", "log.arrow"]
)
@pytest.mark.parametrize(
    "text", [b"", b"\n\n", b"\xef\xbb\xbf", b"nothing of the kind", b"\0" * 100, b"\xff" * 9]
)
def test_a_file_that_is_empty_or_something_else_is_named(tmp_path, name, text):
    with pytest.raises((OSError, ValueError), match=re.escape(name)):
        read_text(tmp_path, text, name)


@pytest.mark.parametrize("suffix", ["csv", "txt", "arrows", "tsv"])
@pytest.mark.parametrize("form", WRITERS)
def test_a_binary_file_taken_for_text_is_named(tmp_path, form, suffix):
    path = write(tmp_path / f"log.{suffix}", form, GOOD)
    with pytest.raises(ValueError, match=path.name):
        Interactions.read(path, **COLUMNS)


@pytest.mark.parametrize("line", [b"\xff,2\n", b"b\xc3,2\n", b'"\xed\xa0\x80",2\n'])
def test_text_that_is_not_utf_8_is_named_by_line(tmp_path, line):
    with pytest.raises(ValueError, match=r"log\.csv, line 3\b"):
        read_text(tmp_path, b"u,i\na,1\n" + line + b"c,3\n")


@pytest.mark.parametrize("left", [0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("form", ["csv.gz", "csv.zst", "parquet", "arrow"])
def test_a_compressed_or_binary_file_cut_short_is_named(tmp_path, form, left):
    path = tmp_path / f"log.{form}"
    columns = pl.DataFrame({"u": range(5000), "i": range(5000)})
    if form in WRITERS:
        write(path, form, columns)
    else:
        columns.write_csv(path, compression="gzip" if form == "csv.gz" else "zstd")
    whole = path.read_bytes()
    with pytest.raises((OSError, ValueError), match=re.escape(path.name)):
        read_text(tmp_path, whole[: int(len(whole) * left)], path.name)


def test_a_stream_cut_short_in_a_batch_is_named(tmp_path):
    path = write(tmp_path / "log.arrow", "arrow stream", {"u": range(5000), "i": range(5000)})
    with pytest.raises((OSError, ValueError), match=r"log\.arrow"):
        read_text(tmp_path, path.read_bytes()[:-2000], "log.arrow")


def test_a_damaged_gzip_file_is_named(tmp_path):
    whole = bytearray(gzip.compress("".join(f"{k},{k}\n" for k in range(5000)).encode()))
    whole[-8] ^= 255
    with pytest.raises((OSError, ValueError), match=r"log\.csv\.gz"):
        read_text(tmp_path, bytes(whole), "log.csv.gz", user=0, item=1)


pieces = st.lists(
    st.sampled_from(["a", "1", ",", "\t", ":", "::", '"', "\n", "\r\n", "\r", " ", "\ufeff", "é", "\0"])
)
scraps = st.binary(max_size=80) | pieces.map("".join).map(str.encode)


@pytest.mark.parametrize(
    "name", ["log.csv", "log.tsv", "log.dat", "log.csv.gz", "log.csv.zst", "log.parquet"]
)
@pytest.mark.parametrize("columns", [{"user": 0, "item": 1}, {"user": "a", "item": "1", "weight": 2}])
@given(text=scraps)
@example(text=b"\r,")
@example(text=b"\x01\t")
@properties
def test_any_bytes_are_data_or_an_error_naming_the_file(folder, name, columns, text):
    said = outcome(folder, text, name, **columns)
    assert said is None or name in said


@pytest.mark.parametrize(
    "text", ["u,i\na,1\n", f"u,i\n{'a' * 200_000},1\nb\n", "u,i\na,x\n", "", 'u,i\n"a,1\n']
)
def test_settings_of_the_process_are_left_alone(tmp_path, text):
    before = csv.field_size_limit(), csv.list_dialects(), pl.Config.state()
    for name in FILES.values():
        outcome(tmp_path, text, name)
    assert (csv.field_size_limit(), csv.list_dialects(), pl.Config.state()) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": "u"}, "user must be a column of its own, but 'u' is also weight"),
        ({"time": "i"}, "item must be a column of its own, but 'i' is also time"),
        ({"rating": "w"}, "rating='w' needs min_rating, which is not given"),
    ],
)
def test_columns_that_make_no_sense_are_named(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        read_text(tmp_path, "u,i,w\n1,2,3\n", **options)


def test_a_date_that_means_two_things_is_an_error(tmp_path):
    with pytest.raises(
        ValueError, match=r"line 2: column 't' must be Unix seconds or an ISO date.*'01/02/2024'"
    ):
        read_text(tmp_path, "u,i,t\na,1,01/02/2024\nb,2,03/02/2024\n", time="t")


def test_a_file_of_a_header_alone_has_no_bad_times(tmp_path):
    assert len(read_text(tmp_path, "u,i,t\n", time="t")) == 0


# Headers that nobody mentioned


HEADER = "who,what,stars\nu1,7,5\nu2,8,4\n"


def test_a_header_is_not_read_as_data_without_a_word(folder):
    by_position = {"user": 0, "item": 1}
    for text in (HEADER, HEADER.replace(",", ";"), "\n" + HEADER):
        line = 1 + text.startswith("\n")
        assert (
            f"line {line}: these look like names of columns: ['who', 'what', 'stars']; give header=True"
            in (outcome(folder, text, "log.txt", **by_position))
        )
    assert read_text(folder, HEADER, **by_position, header=True).items.ids.tolist() == [7, 8]
    assert read_text(folder, HEADER, **by_position, header=False).items.ids.tolist() == ["7", "8", "what"]


@pytest.mark.parametrize(
    "text",
    [
        "ann,tea\nbob,milk\n",  # texts alone: nobody can tell
        "ann,tea,5\nbob,milk,4\n",  # a number in the first line
        "ann,tea,\nbob,milk,4\n",  # a field without a value
        "ann,tea\n",
        "stars,ann,tea\n5,bob,milk\n",  # a name over numbers in a column that is not in use
        "guest,17\n2,17\n3,18\n",  # a number in the other column in use
        "1,080442957X\n2,12\n3,13\n",
    ],
)
def test_a_first_line_that_may_be_data_is_data(folder, text):
    user, item = (1, 2) if text.startswith("stars") else (0, 1)
    assert len(read_text(folder, text, user=user, item=item)) == text.count("\n")


@pytest.mark.parametrize(
    ("text", "user", "item"),
    [
        (",user,item\n0,5,6\n1,7,6\n", 1, 2),  # pandas writes the index without a name
        ("user,item,\n5,6,\n7,6,\n", 0, 1),
        ("id,id\n1,2\n", 0, 1),
        ("user,item,2024,2025\nann,6,1,2\n", 0, 1),
    ],
)
def test_a_header_is_known_by_the_columns_in_use(folder, text, user, item):
    assert "line 1: these look like names of columns" in outcome(
        folder, text, "log.csv", user=user, item=item
    )


def test_a_header_is_looked_for_in_each_file(folder):
    (folder / "several").mkdir()
    (folder / "several/a.csv").write_text("1,2\n3,4\n")
    (folder / "several/b.csv").write_text("user,item\n5,6\n")
    with pytest.raises(ValueError, match=r"b\.csv, line 1: these look like names of columns"):
        Interactions.read(folder / "several", user=0, item=1)


# Files in folders


@pytest.mark.parametrize("damaged", [b"", b"PAR1 and not much more, but PAR1"])
def test_a_damaged_file_of_a_folder_is_named(folder, damaged):
    there = folder / f"parquet {len(damaged)}"
    there.mkdir()
    for name in "ac":
        pl.DataFrame({"user": [1], "item": [2]}).write_parquet(there / f"{name}.parquet")
    (there / "b.parquet").write_bytes(damaged)
    with pytest.raises((ValueError, OSError), match=r"b\.parquet"):
        Interactions.read(there, user="user", item="item")


def test_files_of_several_formats_are_named(folder):
    there = folder / "formats"
    there.mkdir()
    pl.DataFrame({"user": [1], "item": [2]}).write_parquet(there / "a.parquet")
    (there / "a.parquet.tmp").write_text("user,item\n")
    with pytest.raises(ValueError, match=r"got csv \(a\.parquet\.tmp\), parquet \(a\.parquet\)"):
        Interactions.read(there, user="user", item="item")


def test_calendar_dates_without_hyphens_are_not_seconds(folder):
    text = "user,item,day\n1,2,20260101\n1,3,20261231\n"
    found = outcome(folder, text, "log.csv", user="user", item="item", time="day")
    assert "line 2: column 'day' must be Unix seconds, or a date such as 2026-12-31, but is 20260101" in found


def test_ids_that_are_not_utf8_do_not_become_the_same(folder, tmp_path):
    text = "Jos\xe9::x\nJos\xe8::y\nann::x\n".encode("latin-1")
    for user, item in ((0, 1), (1, 0)):
        found = outcome(folder, text, "log.dat", user=user, item=item)
        assert "log.dat, line 1: text must be UTF-8, got 'Jos\ufffd'; convert it" in found
    (folder / "log.dat").write_bytes(text)
    with pytest.raises(ValueError, match="text must be UTF-8"):
        Interactions.prepare(folder / "log.dat", tmp_path / "log.ialsdata", user=0, item=1)
    titles = "1::2::Am\xe9lie\n".encode("latin-1")  # in no column that is read
    assert len(read_text(folder, titles, "log.dat", user=0, item=1)) == 1


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("log.csv", b"PK\x03\x04\x14", "this is a zip archive"),
        ("log.csv", b"PAR1\x15", 'this is Parquet; give format="parquet"'),
        ("log.csv", b"ARROW1\0\0", 'this is Arrow; give format="arrow"'),
        ("log.ndjson", b'{"user": 1, "item": 2}\n', "this is JSON; .*from_dataframe"),
        ("log.json", b' [{"user": 1, "item": 2}]', "this is JSON; .*from_dataframe"),
    ],
)
def test_a_file_of_another_kind_is_named(folder, name, content, what):
    (folder / name).write_bytes(content)
    with pytest.raises(ValueError, match=f"{name}: a table is required, but {what}"):
        Interactions.read(folder / name, user="user", item="item")


def test_files_of_ours_are_no_tables(folder):
    model = fitted(make_data(), epochs=2)
    model.save(folder / "model.ialspp")
    model.trained_on.save(folder / "log.ialsdata")
    model.fit(make_data(), checkpoint=folder / "model.checkpoint", progress=False)
    for name, way_out in (
        ("model.ialspp", "a model of ialspp, which ImplicitMF.load reads"),
        ("log.ialsdata", "prepared data of ialspp, which Interactions.open reads"),
        ("model.checkpoint", "a checkpoint of ialspp, which ImplicitMF.resume reads"),
    ):
        with pytest.raises(ValueError, match=f"{name}: a table is required, but this is {way_out}"):
            Interactions.read(folder / name, user="user", item="item")


def test_what_is_no_path_is_an_error():
    for path, what in ((None, "NoneType"), (5, "int"), (pl.DataFrame({"user": [1]}), "DataFrame; from_")):
        with pytest.raises(TypeError, match=f"a path or a list of paths is required, got {what}"):
            Interactions.read(path, user="user", item="item")
    with pytest.raises(ValueError, match="only files are read; download it first"):
        Interactions.read("https://example.org/log.csv", user="user", item="item")


def test_a_value_that_is_not_there_is_no_missing_column(folder):
    text, columns = "user,item,rating\n1,2,3\n1,3,\n", {"user": "user", "item": "item"}
    found = outcome(folder, text, "log.csv", **columns, min_rating=3)
    assert found.endswith("line 3: column 'rating' has no value")


def test_seconds_that_end_with_a_calendar_date_are_taken(folder, monkeypatch):
    monkeypatch.setattr(import_module("ialspp.data.reading.read"), "BATCH", 2)  # `read` is a function, too
    text = "user,item,second\n1,2,5\n1,3,6\n1,4,20000101\n"
    assert read_text(folder, text, user="user", item="item", time="second").times.max() == 20000101


def test_a_position_from_the_end_is_no_column(folder):
    assert "column -1" in outcome(folder, "5,6\n1,2\n", "log.csv", user=-1, item=0)


def test_a_way_out_is_named_where_names_are_not_there(folder):
    numbers = outcome(folder, "1,1193,5\n2,7,3\n", "log.csv")
    assert numbers.endswith("if the first line is data, give positions, counted from 0, such as user=0")
    assert outcome(folder, "u;i\n1;2\n", "log.csv").endswith("give separator=';', for instance")
    assert outcome(folder, "who,what\n1,2\n", "log.csv").endswith("it has ['who', 'what']")
    wanted = "rating must be the position of the column that min_rating looks at"
    assert wanted in outcome(folder, "1,1193,5\n2,7,3\n", "log.csv", user=0, item=1, min_rating=4)
