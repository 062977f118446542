"""What is reproduced: a data set by its name or files, its split, and the hyperparameters that go with it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..data.interactions import Interactions
from ..datasets import KNOWN, load
from ..split import Split, strong
from .run import Data

SYNTHETIC = "synthetic:"
MOST_HELD_OUT = 10  # at most one in so many users is asked about, where nothing is published
# What tells a known data set by its files; a folder's name tells its versions apart.
FILES = {"train_triplets.txt": "msd", "u.data": "ml-100k", "ratings.dat": "ml-1m", "ratings.csv": "ml-20m"}
FILES |= {"user_artists.dat": "lastfm", "transactions.parquet": "complete-journey"}


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """Of the objective, and how long is trained."""

    regularization: float
    unobserved_weight: float
    epochs: int
    chosen_by: str


ML20M = Hyperparameters(0.003, 0.1, 16, "the paper's data table, for ML20M")
MSD = Hyperparameters(0.002, 0.02, 16, "the paper's data table, for MSD")
NCF = Hyperparameters(0.007, 0.3, 12, "Rendle et al. (2022), for MovieLens 1M at d = 192")
PINTEREST = Hyperparameters(0.02, 0.007, 16, "Rendle et al. (2022), for Pinterest at d = 192")
GOWALLA = Hyperparameters(0.002, 0.01, 16, "a search on training pairs, d = 256 and 512: docs/evaluation.md")
HYPERPARAMETERS = {
    "ml-20m": ML20M,
    "synthetic:ml20m": ML20M,
    "msd": MSD,
    "synthetic:msd": MSD,
    "ncf:ml-1m": NCF,
    "ncf:pinterest-20": PINTEREST,
    "lightgcn:gowalla": GOWALLA,
}


@dataclass(frozen=True, slots=True, eq=False)
class Benchmark:
    """Data and its split. `name` is what published numbers are looked up by."""

    name: str
    scale: float
    split: Split
    counts: tuple[int, int, int]  # users, items and interactions of all parts

    @property
    def hyperparameters(self) -> Hyperparameters:
        """Those that were published for it; else those of ML20M, and it says so."""
        return HYPERPARAMETERS.get(self.name) or Hyperparameters(
            ML20M.regularization,
            ML20M.unobserved_weight,
            ML20M.epochs,
            f"the paper's for ML20M; none are published for {self.name}",
        )

    def data(self) -> Data:
        """Its counts, and what its bits are known by."""
        train, test = self.split.train, self.split.test
        asked = int(np.count_nonzero(test.wanted.by_user.counts))
        if asked == 0:
            raise ValueError(f"{self.name} has no test pairs; there is no quality to measure")
        return Data(
            self.name,
            self.split.protocol,
            self.scale,
            *self.counts,
            train.n_users,
            train.n_items,
            len(train),
            asked,
            _fingerprint(train, test.given, test.wanted),
        )


def _fingerprint(*parts: Interactions) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part.by_user.offsets.tobytes())
        digest.update(part.by_user.columns.tobytes())
    return digest.hexdigest()


def canonical(name: str) -> str:
    """The name in `KNOWN`: "ml20m" is "ml-20m", as the paper writes it without the dash."""
    return f"ml-{name[2:]}" if f"ml-{name[2:]}" in KNOWN and name.startswith("ml") else name


def recognised(path: Path) -> tuple[str, dict[str, Any]] | None:
    """The known data set whose files are at `path`, and the options of its loader; None: none of them."""
    if path.is_dir():
        names = {entry.name for entry in path.iterdir()}
        rated = sorted(name.removesuffix(".train.rating") for name in names if name.endswith(".train.rating"))
        if len(rated) == 1:
            return "ncf", {"name": rated[0]}
        if {"train.txt", "test.txt"} <= names:
            return "lightgcn", {}
    else:
        names = {path.name.removesuffix(".zip")}
        if path.suffix == ".zip" and path.stem in KNOWN:
            return path.stem, {}
    found = sorted(FILES[name] for name in names & FILES.keys())
    if len(found) != 1:
        return None
    folder = (path if path.is_dir() else path.parent).resolve().name
    is_version = folder.startswith("ml-") and folder in KNOWN and KNOWN[folder].files in names
    return folder if is_version else found[0], {}


def known_benchmark(name: str, path: Path | None, scale: float, /, **options: Any) -> Benchmark:
    """A data set of `KNOWN`, split as it was published, or for strong generalisation.

    Parameters
    ----------
    name
        Of `KNOWN`.
    path
        Where its files are; None: downloaded, or generated.
    scale
        The share of its users to keep; of generated data also of its items.
    options
        Of the loader.
    """
    known = KNOWN[name]
    if name.startswith(SYNTHETIC):
        return strong_benchmark(name, load(name, path, scale=scale, **options), scale, generated=True)
    loaded = load(name, path, **{**known.strong_load, **options})
    if isinstance(loaded, Split):
        return given_benchmark(_full_name(name, path, options), loaded, scale)
    return strong_benchmark(name, loaded, scale)


def given_benchmark(name: str, split: Split, scale: float) -> Benchmark:
    """A published split, as it is."""
    if scale != 1:
        raise ValueError(f"{name} is split already and cannot be scaled; --scale must be 1, got {scale:g}")
    pairs = len(split.train) + len(split.test.wanted)
    return Benchmark(name, scale, split, (split.train.n_users, split.train.n_items, pairs))


def strong_benchmark(
    name: str, data: Interactions | Split, scale: float, *, generated: bool = False
) -> Benchmark:
    """Strong generalisation, with the published number of held-out users times `scale` where there is one."""
    assert isinstance(data, Interactions)
    if len(data) == 0:
        raise ValueError(f"{name} has no interactions; there is nothing to measure")
    known = KNOWN.get(canonical(name.removeprefix(SYNTHETIC)))
    options = {"min_user": 5, "min_item": 0, **((known.strong if known else None) or {})}
    if not generated:  # what is generated has the shape that filtering leaves
        data = _scaled(_filtered(data, options["min_user"], options["min_item"]), scale)
    published = int(options.get("held_out", data.n_users) * scale)
    held_out = max(1, min(published, data.n_users // MOST_HELD_OUT))
    split = strong(data, held_out=held_out, min_user=options["min_user"])
    return Benchmark(name, scale, split, (data.n_users, data.n_items, len(data)))


def _filtered(data: Interactions, min_user: int, min_item: int) -> Interactions:
    """As `strong` does it, but before a share is taken: what is rare is rare by all of the data."""
    user, item = data.by_user.row_numbers, data.by_user.columns
    popular = (data.by_item.counts >= min_item)[item]
    return data.select(popular & (np.bincount(user[popular], minlength=data.n_users) >= min_user)[user])


def _scaled(data: Interactions, scale: float) -> Interactions:
    """A share of the users, drawn at random."""
    if scale == 1:
        return data
    chosen = np.random.default_rng(0).random(data.n_users) < scale
    if not chosen.any():
        raise ValueError(f"--scale {scale:g} of {data.n_users} users leaves none")
    return data.select(chosen[data.by_user.row_numbers])


def _full_name(name: str, path: Path | None, options: dict[str, Any]) -> str:
    """With which of several data sets in that layout it is: "ncf:ml-1m", "lightgcn:gowalla"."""
    which = options.get("name", "ml-1m") if name == "ncf" else Path(path or "").resolve().stem
    return f"{name}:{which}"
