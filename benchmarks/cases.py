"""The data that bench.py trains on: generated, or read from a folder of real data sets; with held-out items.

A case comes with two losses on the same interactions: ours, and implicit's. implicit minimises, over all
pairs, c (<w,h> - p)^2 with p = 1 and c > 1 where something was observed, p = 0 and c = 1 elsewhere, plus
reg (|W|^2 + |H|^2). An interaction of weight a has c = (a + alpha0) / alpha0. Times alpha0, and up to a
constant, that is our loss with nu = 0, lambda = alpha0 reg and labels of 1 + alpha0 / a: whoever is compared
with implicit minimises that.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ialspp import Interactions, Objective, datasets

HELD_OUT_USERS = 1000  # at most
GENERATED = ("ml20m", "msd")
OURS, IMPLICITS = "ours", "implicit's"


@dataclass(frozen=True)
class Task:
    """One loss on one data set."""

    loss_name: str  # OURS or IMPLICITS
    data: Interactions
    objective: Objective

    def loss(self, factors: tuple[np.ndarray, np.ndarray], threads: int) -> float:
        return self.objective.loss(self.data, *factors, threads=threads).total


@dataclass(frozen=True)
class HeldOut:
    """Some users, the items they are trained on, and the items kept from training."""

    users: np.ndarray
    seen: list[np.ndarray]
    wanted: list[np.ndarray]

    def recall(self, user_factors: np.ndarray, item_factors: np.ndarray, k: int = 20) -> float:
        scores = user_factors[self.users] @ item_factors.T
        for row, seen in zip(scores, self.seen, strict=True):
            row[seen] = -np.inf
        best = np.argpartition(-scores, k, axis=1)[:, :k]
        shares = [np.isin(b, w).sum() / min(k, len(w)) for b, w in zip(best, self.wanted, strict=True)]
        return float(np.mean(shares))


@dataclass(frozen=True)
class Case:
    """Training data with both losses, and what was held out."""

    name: str
    data: Interactions
    held_out: HeldOut
    tasks: dict[str, Task]


@dataclass(frozen=True)
class RealData:
    """How a real data set is read, and the settings of both losses on it."""

    read: Callable[[Path], tuple[Interactions, HeldOut]]
    objective: Objective
    implicit_regularization: float  # makes lambda about as large as our lambda of a typical row


def load(name: str, scale: float, folder: Path) -> Case:
    """Generate a shape (`scale` of it), or read the data set of that name in the folder."""
    if name in GENERATED:
        n_users = max(10, round(HELD_OUT_USERS * scale))
        data, held_out = hold_out(datasets.synthetic(name, scale=scale), n_users)
        return Case(f"{name} x {scale:g}", data, held_out, tasks_of(data, Objective(), 100.0))
    known = REAL[name]
    data, held_out = known.read(folder)
    return Case(name, data, held_out, tasks_of(data, known.objective, known.implicit_regularization))


@contextmanager
def prepared(name: str, scale: float) -> Iterator[Interactions]:
    """Generate a shape, and open it from a temporary file, as a cluster needs it."""
    with tempfile.TemporaryDirectory(prefix="ialspp-") as folder:
        path = Path(folder) / "events.ialsdata"
        datasets.synthetic(name, scale=scale).save(path)
        yield Interactions.open(path)


def tasks_of(data: Interactions, objective: Objective, implicit_regularization: float) -> dict[str, Task]:
    alpha0 = objective.unobserved_weight
    implicits = Objective(
        unobserved_weight=alpha0, regularization=alpha0 * implicit_regularization, exponent=0.0
    )
    labelled = with_values(data, 1 + alpha0 / weights_of(data), data.by_user.weights)
    return {OURS: Task(OURS, data, objective), IMPLICITS: Task(IMPLICITS, labelled, implicits)}


def gowalla(folder: Path) -> tuple[Interactions, HeldOut]:
    parts = datasets.lightgcn(folder / "gowalla")
    return parts.train, given_test(parts.train, parts.test.wanted)


def ncf_ml1m(folder: Path) -> tuple[Interactions, HeldOut]:
    parts = datasets.ncf(folder / "ncf-ml1m")
    return parts.train, given_test(parts.train, parts.test.wanted)


def lastfm(folder: Path) -> tuple[Interactions, HeldOut]:
    file = folder / "hetrec2011-lastfm-2k" / "user_artists.dat"
    return hold_out(datasets.lastfm(file, weight="1 + log(weight)"), HELD_OUT_USERS)


REAL = {
    "gowalla": RealData(gowalla, Objective(unobserved_weight=0.01), 100.0),
    "ncf-ml1m": RealData(ncf_ml1m, Objective(unobserved_weight=0.3, regularization=0.007), 40.0),
    "lastfm": RealData(lastfm, Objective(unobserved_weight=1.0), 20.0),
}
NAMES = (*GENERATED, *REAL)


def hold_out(data: Interactions, n_users: int, seed: int = 0) -> tuple[Interactions, HeldOut]:
    """Keep a fifth of some users' items from training."""
    rng = np.random.default_rng(seed)
    rows = data.by_user
    users = np.sort(rng.choice(np.flatnonzero(rows.counts >= 5), n_users, replace=False))
    kept, seen, wanted = np.ones(len(data), bool), [], []
    for user in users:
        own = np.arange(rows.offsets[user], rows.offsets[user + 1])
        out = rng.choice(own, len(own) // 5, replace=False)
        kept[out] = False
        wanted.append(rows.columns[out])
        seen.append(rows.columns[np.setdiff1d(own, out)])
    weights = None if rows.weights is None else rows.weights[kept]
    train = Interactions(data.users, data.items, rows.row_numbers[kept], rows.columns[kept], None, weights)
    return train, HeldOut(users, seen, wanted)


def given_test(train: Interactions, wanted: Interactions, seed: int = 0) -> HeldOut:
    """Draw users of a published split, whose test items are known."""
    users = np.flatnonzero(wanted.by_user.counts)
    rng = np.random.default_rng(seed)
    users = np.sort(rng.choice(users, min(HELD_OUT_USERS, len(users)), replace=False))
    seen, hidden = ([rows.by_user.columns_of(user) for user in users] for rows in (train, wanted))
    return HeldOut(users, seen, hidden)


def weights_of(data: Interactions) -> np.ndarray:
    weights = data.by_user.weights
    return np.ones(len(data), np.float32) if weights is None else weights


def with_values(data: Interactions, labels: np.ndarray | None, weights: np.ndarray | None) -> Interactions:
    """The same pairs with other labels and weights."""
    rows = data.by_user
    labels, weights = (None if x is None else x.astype(np.float32) for x in (labels, weights))
    return Interactions(data.users, data.items, rows.row_numbers, rows.columns, labels, weights)
