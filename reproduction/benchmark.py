"""Find a data set by its name or files, split it, and choose its hyperparameters."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ialspp import Interactions
from ialspp.datasets import KNOWN, load
from ialspp.errors import InvalidValueError
from ialspp.split import Split, strong
from ialspp.split.strong import frequent_users_and_items

from .run import Data

SYNTHETIC = "synthetic:"
MOST_HELD_OUT = 10  # at most one in so many users is held out for the test
# The files that identify a known data set; the folder's name tells the versions of MovieLens apart.
FILES = {"train_triplets.txt": "msd", "u.data": "ml-100k", "ratings.dat": "ml-1m", "ratings.csv": "ml-20m"}
FILES |= {"user_artists.dat": "lastfm", "transactions.parquet": "complete-journey"}


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """Those of the objective, the number of epochs, and who chose them."""

    regularization: float
    unobserved_weight: float
    epochs: int
    chosen_by: str


ML20M = Hyperparameters(0.003, 0.1, 16, "the paper's data table, for ML20M")
MSD = Hyperparameters(0.002, 0.02, 16, "the paper's data table, for MSD")
HYPERPARAMETERS = {
    "ml-20m": ML20M,
    "synthetic:ml20m": ML20M,
    "msd": MSD,
    "synthetic:msd": MSD,
    "ncf:ml-1m": Hyperparameters(0.007, 0.3, 12, "Rendle et al. (2022), for MovieLens 1M at d = 192"),
    "ncf:pinterest-20": Hyperparameters(0.02, 0.007, 16, "Rendle et al. (2022), for Pinterest at d = 192"),
    "lightgcn:gowalla": Hyperparameters(
        0.002, 0.01, 16, "a search on training pairs, d = 256 and 512: docs/evaluation.md"
    ),
}


@dataclass(frozen=True, slots=True, eq=False)
class Benchmark:
    """Data and its split; published numbers are looked up by `name`."""

    name: str
    scale: float
    split: Split
    counts: tuple[int, int, int]  # users, items and interactions of all parts

    @property
    def hyperparameters(self) -> Hyperparameters:
        """Those published for the data set, else those of ML20M."""
        unknown = f"the paper's for ML20M; none are published for {self.name}"
        return HYPERPARAMETERS.get(self.name) or replace(ML20M, chosen_by=unknown)

    def data(self) -> Data:
        train, test = self.split.train, self.split.test
        test_users = int(np.count_nonzero(test.wanted.by_user.counts))
        if test_users == 0:
            raise InvalidValueError(f"{self.name} has no test pairs; there is no quality to measure")
        trained_on = train.n_users, train.n_items, len(train)
        fingerprint = _fingerprint(train, test.given, test.wanted)
        about = self.name, self.split.protocol, self.scale
        return Data(*about, *self.counts, *trained_on, test_users, fingerprint)


def _fingerprint(*parts: Interactions) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part.by_user.offsets.tobytes())
        digest.update(part.by_user.columns.tobytes())
    return digest.hexdigest()


def canonical(name: str) -> str:
    """Return the name in `KNOWN`: the paper writes "ml20m" for "ml-20m"."""
    return f"ml-{name[2:]}" if f"ml-{name[2:]}" in KNOWN and name.startswith("ml") else name


def recognised(path: Path) -> tuple[str, dict[str, Any]] | None:
    """Name the known data set whose files are at `path`, with the options of its loader; None: none is."""
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
    """Load a data set of `KNOWN`, split as it was published or for strong generalisation.

    A path of None means downloaded, or generated. `scale` is the share of the users to keep, of generated
    data also of the items. The options are those of the loader.
    """
    if name.startswith(SYNTHETIC):
        return strong_benchmark(name, load(name, path, scale=scale, **options), scale, generated=True)
    loaded = load(name, path, **{**KNOWN[name].strong_load, **options})
    if isinstance(loaded, Interactions):
        return strong_benchmark(name, loaded, scale)
    which = options.get("name", "ml-1m") if name == "ncf" else Path(path or "").resolve().stem
    return published_benchmark(f"{name}:{which}", loaded, scale)


def published_benchmark(name: str, split: Split, scale: float) -> Benchmark:
    if scale != 1:
        raise InvalidValueError(f"{name} is already split; --scale must be 1, got {scale:g}")
    pairs = len(split.train) + len(split.test.wanted)
    return Benchmark(name, scale, split, (split.train.n_users, split.train.n_items, pairs))


def strong_benchmark(
    name: str, data: Interactions | Split, scale: float, *, generated: bool = False
) -> Benchmark:
    """Split for strong generalisation, with `scale` times the published number of held-out users."""
    assert isinstance(data, Interactions)
    if len(data) == 0:
        raise InvalidValueError(f"{name} has no interactions; there is nothing to measure")
    known = KNOWN.get(canonical(name.removeprefix(SYNTHETIC)))
    published = (known.strong if known else None) or {}
    if not generated:  # generated data already has the shape that the filter leaves
        # Filtered before a share is taken, because an item is rare or not by all of the data.
        limits = {name: published[name] for name in ("min_user", "min_item") if name in published}
        data = _scaled(data.cut(*frequent_users_and_items(data, **limits)), scale)
    most = int(published.get("held_out", data.n_users) * scale)
    held_out = max(1, min(most, data.n_users // MOST_HELD_OUT))
    split = strong(data, **{**published, "held_out": held_out, "min_item": 0})
    return Benchmark(name, scale, split, (data.n_users, data.n_items, len(data)))


def _scaled(data: Interactions, scale: float) -> Interactions:
    """Draw a share of the users at random."""
    if scale == 1:
        return data
    chosen = np.random.default_rng(0).random(data.n_users) < scale
    if not chosen.any():
        raise InvalidValueError(f"--scale {scale:g} of {data.n_users} users leaves none")
    return data.select(chosen[data.by_user.row_numbers])
