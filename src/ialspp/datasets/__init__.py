"""Data to experiment with: known data sets by name, published splits, and generated data."""

from .dataset import DataSet, Remote
from .fetch import DownloadError
from .known import KNOWN, complete_journey, lastfm, load, million_song, movielens, strong_split
from .published import lightgcn, ncf
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
