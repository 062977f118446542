"""Data to try things on: known data sets by name, published splits, and generated data."""

from .dataset import DataSet
from .download import DownloadError
from .known import KNOWN, complete_journey, lastfm, load, million_song, movielens, strong_split
from .published import lightgcn, ncf
from .remote import Remote
from .synthetic import SHAPES, Shape, synthetic

__all__ = [
    "KNOWN",
    "SHAPES",
    "DataSet",
    "DownloadError",
    "Remote",
    "Shape",
    "complete_journey",
    "lastfm",
    "lightgcn",
    "load",
    "million_song",
    "movielens",
    "ncf",
    "strong_split",
    "synthetic",
]
