"""Files of names: formats, encodings, columns, and errors that say where."""

import gzip
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import drawn

from ialspp import IdMap
from ialspp.data.reading.names import read_names
from ialspp.errors import InvalidValueError

FILMS = {1: "Toy Story (1995)", 2: "Amélie", 5: "Señor, el"}
CSV = 'movieId,title,genres\n1,Toy Story (1995),Comedy\n2,Amélie,Drama\n5,"Señor, el",\n7,,Drama\n'
COLONS = "1::Toy Story (1995)::Comedy\n2::Amélie::Drama\n5::Señor, el::Drama\n"
PIPES = "1|Toy Story (1995)|01-Jan-1995\n2|Amélie|\n5|Señor, el|\n"


def write(folder, name, text, encoding="utf-8"):
    path = folder / name
    data = text if isinstance(text, bytes) else text.encode(encoding)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def as_dict(table):
    return dict(zip(table.ids, table.names, strict=True))


def films(table):
    return as_dict(table) == {str(key): name for key, name in FILMS.items()}


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "UTF_16_LE", "cp037"]
)
@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("movies.csv", CSV, {"id": "movieId", "name": "title"}),
        ("movies.csv.gz", CSV, {"id": "movieId", "name": "title"}),
        ("movies.csv", CSV, {"header": True}),
        ("movies.tsv", CSV.replace(",", "\t").replace('"Señor\t el"', "Señor, el"), {"header": True}),
        ("movies.dat", COLONS, {}),
        ("movies.dat.gz", COLONS, {"id": 0, "name": 1}),
        ("u.item", PIPES, {"separator": "|"}),
        ("u.item", PIPES.replace("\n", "\r\n"), {"separator": "|"}),
    ],
)
def test_text_is_read_in_any_encoding(tmp_path, name, text, columns, encoding):
    path = write(tmp_path, name, text, encoding)
    assert films(read_names(path, encoding=encoding, **columns))


def test_parquet_and_arrow_are_read(tmp_path):
    frame = pl.DataFrame({"title": [*FILMS.values(), None], "movieId": [*FILMS, 9]})
    frame.write_parquet(tmp_path / "films.parquet")
    frame.with_columns(pl.col("title").cast(pl.Categorical)).write_ipc(tmp_path / "films.arrow")
    for file in ("films.parquet", "films.arrow"):
        assert films(read_names(tmp_path / file, id="movieId", name="title"))
        assert films(read_names(tmp_path / file, id=1, name=0))
        with pytest.raises(ValueError, match="encoding='latin-1' is for text, and this is not text"):
            read_names(tmp_path / file, id=1, name=0, encoding="latin-1")
    pl.DataFrame({"id": [1.5], "name": ["a"]}).write_parquet(tmp_path / "films.parquet")
    with pytest.raises(
        ValueError, match=r"films\.parquet: column 'id' must be integers or strings, but is Float64"
    ):
        read_names(tmp_path / "films.parquet", id="id", name="name")


def test_a_folder_is_read_as_one_table(tmp_path):
    for number, line in enumerate(COLONS.splitlines()):
        write(tmp_path, f"part-{number}.dat", line + "\n", "latin-1")
    assert films(read_names(tmp_path, encoding="latin-1"))


def test_a_later_file_with_fewer_columns_is_named(tmp_path):
    """Files with different numbers of blank lines at their beginning are scanned one by one."""
    (tmp_path / "a.csv").write_text("1,tea\n2,milk\n")
    (tmp_path / "b.csv").write_text("\n3\n")
    with pytest.raises(InvalidValueError, match=r"b\.csv, line 2: 2 fields are required, got 1"):
        read_names(tmp_path)


def test_ids_belong_together_if_they_are_written_alike(tmp_path):
    table = read_names(write(tmp_path, "a.csv", "id,name\n1,one\n007,bond\nx,letter\n1,again\n"))
    assert IdMap([1, 7]).with_names(table).names == ["one", ""]
    assert IdMap(["1", "007", "x"]).with_names(table).names == ["one", "bond", "letter"]
    assert IdMap([10**30, 1]).with_names(table).names == ["", "one"]
    with pytest.raises(
        ValueError, match="none of the 5 ids that have a name is the id of one of the 1 items"
    ):
        IdMap(["y"], name="item").with_names(table)
    words = read_names(write(tmp_path, "b.csv", "id,name\nx,letter\n"))
    with pytest.raises(ValueError, match=r"none of the 2 ids .* the 1 items: 'id' is not, for example"):
        IdMap([1], name="item").with_names(words)


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        (
            "a.csv",
            "1,caf\xe9\n".encode("latin-1"),
            {},
            r"a.csv, line 1: text must be utf-8, but b'\xe9' is not",
        ),
        ("a.dat", "1::a\n2::caf\xe9\n".encode("latin-1"), {}, "a.dat, line 2: text must be utf-8"),
        ("a.csv", "1,é\n".encode(), {"encoding": "ascii"}, "a.csv, line 1: text must be ascii"),
        ("a.csv", "1,a\n", {"encoding": "klingon"}, "encoding must be one that Python knows, such as utf-8"),
        ("a.csv", "1,a\n", {"encoding": "utf-16"}, "a.csv, line 1: text must be utf-16"),
        ("a.csv", b"1,+2AA-\n", {"encoding": "utf-7"}, "a.csv: text must be valid Unicode, but"),
        ("a.csv", "1,a\n", {"encoding": "base64"}, "encoding must be one that Python knows"),
        ("a.csv", "id,title\n1,a\n", {"id": "movieId"}, "a.csv: id column 'movieId' is not in the file"),
        ("a.csv", "1,a\n", {"name": 2}, "a.csv: name is column 2, but there are 2"),
        ("a.csv", "1,a\n", {"name": 2, "encoding": "latin-1"}, "a.csv: name is column 2, but there are 2"),
        ("a.csv", "", {}, "a.csv: the file is empty"),
        ("a.csv", "1,a\n2,b,c,d\n", {"encoding": "latin-1"}, "a.csv, line 2: 2 fields are required, got 4"),
        ("a.txt", "title\n", {}, "a.txt: the first line has none of the usual separators"),
    ],
)
def test_errors_say_what_and_where(tmp_path, name, text, options, message):
    path = write(tmp_path, name, text)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        read_names(path, **options)
    assert "ialspp-" not in str(caught.value).replace(str(path), "")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"films\.csv: no such file"):
        read_names(tmp_path / "films.csv")


def test_quotes_have_no_meaning_between_tabs(tmp_path):
    path = write(tmp_path, "artists.dat", 'id\tname\turl\n3\t"Weird Al" Yankovic\thttp\n4\tJohn "X\thttp\n')
    assert as_dict(read_names(path, id="id", name="name")) == {"3": '"Weird Al" Yankovic', "4": 'John "X'}


@given(st.dictionaries(st.integers(0, 99), st.text(st.characters(codec="utf-8"), max_size=9), max_size=9))
@drawn(40, fixtures=True)
def test_any_name_survives_parquet(tmp_path, names):
    path = tmp_path / "names.parquet"
    frame = pl.DataFrame(
        {"id": list(names), "name": list(names.values())}, {"id": pl.Int64, "name": pl.String}
    )
    frame.write_parquet(path)
    found = as_dict(read_names(path, id="id", name="name"))
    assert found == {str(key): name for key, name in names.items() if name}


REAL = Path(__file__).parents[4] / "shared" / "data"


@pytest.mark.skipif(not REAL.exists(), reason="needs ../shared/data")
def test_real_catalogues_are_read():
    films = as_dict(read_names(REAL / "ml-1m" / "movies.dat", encoding="latin-1"))
    assert len(films) == 3883
    assert films["73"] == "Misérables, Les (1995)"
    artists = as_dict(read_names(REAL / "hetrec2011-lastfm-2k" / "artists.dat", id="id", name="name"))
    assert len(artists) == 17632
    assert artists["89"] == "Lady Gaga"
