"""How well features rank items that nobody has rated: MovieLens 1M, a tenth of the films unseen in training.

Every user of the training data ranks the unseen films alone. The films that the user rated with 4 or 5 stars
are wanted. Features are the genres and the years in steps of five. The table has means over several splits.

    python benchmarks/cold_items.py ../shared/data/ml-1m

If irspack is installed, its iALS with features is trained with the same loss, in its own terms. A small
problem then shows that the loss is the same, and that both find one minimum.
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ialspp import Features, IdMap, ImplicitMF, Interactions, Objective
from ialspp.data.csr import Csr, SortedPairs

K = 20
LEAST_STARS = 4
Scores = tuple[NDArray[np.float32], NDArray[np.float32]]  # vectors of users and of unseen films


@dataclass(frozen=True)
class Problem:
    """Films of the training, films that are unseen, and who likes these."""

    train: Interactions
    catalogue: pl.DataFrame  # of all films: film, genres, period
    unseen: list[int]
    wanted: Csr  # unseen films of each user of the training data

    @property
    def features(self) -> Features:
        return Features.from_frame(self.catalogue, id="film")

    @property
    def features_of_unseen(self) -> Features:
        order = pl.DataFrame({"film": self.unseen})
        return Features.from_frame(order.join(self.catalogue, on="film", how="left"), id="film")


def films(folder: Path) -> pl.DataFrame:
    """Read the catalogue: a film, its genres and the five years in which it came out."""
    rows = []
    for line in (folder / "movies.dat").read_text(encoding="latin-1").splitlines():
        number, title, genres = line.split("::")
        year = int(title.rstrip()[-5:-1])
        rows.append({"film": int(number), "genres": genres.split("|"), "period": f"{year // 5 * 5}"})
    return pl.DataFrame(rows)


def divided(folder: Path, seed: int) -> Problem:
    """Draw a tenth of the films that are liked at all, and leave all their ratings out of the training."""
    path = folder / "ratings.dat"
    data = Interactions.read(
        path, user=0, item=1, rating=2, min_rating=LEAST_STARS, separator="::", quote=None
    )
    drawn = np.random.default_rng(seed).permutation(data.n_items)[: data.n_items // 10]
    is_unseen = np.isin(data.by_user.columns, drawn)
    train, test = data.select(~is_unseen), data.select(is_unseen)
    found = train.users.find(test.users.ids)  # a user of unseen films alone is left out
    liked = test.by_user.take(np.flatnonzero(found.known))
    wanted = SortedPairs.of(
        train.users, test.items, found.rows.astype(np.int32)[liked.row_numbers], liked.columns, None, None
    ).rows
    return Problem(train, films(folder), test.items.ids.tolist(), wanted)


def by_features(problem: Problem, dim: int, epochs: int, objective: Objective, empty: bool) -> Scores:
    """Rank by a model that was trained with features.

    empty: whether the unseen films are folded in with an empty history, as if everybody had seen them and
    nobody had liked them.
    """
    model = ImplicitMF(dim, epochs=epochs, objective=objective)
    model.fit(problem.train, item_features=problem.features, progress=False)
    if empty:
        nobody: list[list[int]] = [[] for _ in problem.unseen]
        return model.user_factors, model.fold_in_items(nobody, features=problem.features_of_unseen)
    return model.user_factors, model.item_factors[model.items.rows(problem.unseen)]


def by_irspack(problem: Problem, dim: int, epochs: int, objective: Objective, empty: bool) -> Scores:
    """Rank by irspack's iALS with the same loss: its ridge on the map is absolute, ours relative."""
    import scipy.sparse as sp
    from irspack import IALSRecommender

    asked = sp.csr_matrix(dense(problem.features.rows_of(IdMap(problem.unseen))))
    model = IALSRecommender(
        problem.train.to_scipy(),
        n_components=dim,
        alpha0=objective.unobserved_weight,
        reg=objective.regularization,
        nu=objective.exponent,
        train_epochs=epochs,
        item_features=sp.csr_matrix(dense(problem.features.rows_of(problem.train.items))),
        lambda_item_feature=ridge(problem.train, objective),
    )
    model.learn()
    if empty:
        return model.get_user_embedding(), model.compute_item_embedding_from_features(asked)
    return model.get_user_embedding(), model.trainer_as_ials.transform_item_feature(asked)


def ridge(train: Interactions, objective: Objective) -> float:
    """Return mu, the strength of the ridge on the map, of the loss with features of regularization 1."""
    return float(objective.row_regularization(train.by_item.counts, train.n_users).mean())


def losses_of_both() -> dict[str, float]:
    """Train a small problem to the end with irspack and here; irspack's loss is half of ours."""
    import scipy.sparse as sp
    from irspack import IALSRecommender

    rng, objective = np.random.default_rng(0), Objective()
    pairs = sp.csr_matrix((rng.random((60, 40)) < 0.2).astype(float))
    numbers = rng.normal(0, 1, (40, 3))
    data, features = Interactions.from_scipy(pairs), Features.from_matrix(numbers)
    theirs = IALSRecommender(
        pairs,
        n_components=4,
        alpha0=objective.unobserved_weight,
        reg=objective.regularization,
        train_epochs=2000,
        solver_type="CHOLESKY",
        item_features=numbers,
        lambda_item_feature=ridge(data, objective),
    )
    theirs.learn()
    factors = theirs.get_user_embedding(), theirs.get_item_embedding()
    ours = ImplicitMF(4, epochs=400, init="random").fit(data, item_features=features, progress=False)
    return {
        "irspack's, doubled": 2 * theirs.trainer_as_ials.compute_loss(),
        "ours, of irspack's vectors": objective.loss(data, *factors, item_features=features).total,
        "ours, of our vectors": ours.history[-1].loss,
    }


def at_random(problem: Problem, seed: int) -> Scores:
    """Rank unseen films at random, for each user in another order."""
    rng = np.random.default_rng(seed)
    sizes = problem.train.n_users, len(problem.unseen)
    users, items = (rng.normal(0, 1, (size, 64)).astype(np.float32) for size in sizes)
    return users, items / np.linalg.norm(items, axis=1, keepdims=True)


def by_popularity(problem: Problem, counts: NDArray[np.floating]) -> Scores:
    """Rank unseen films in one order for everybody."""
    return np.ones((problem.train.n_users, 1), np.float32), counts.astype(np.float32)[:, None]


def popularity_of_features(problem: Problem) -> NDArray[np.float64]:
    """Guess how often an unseen film is liked from its features: a ridge regression of the counts.

    Unseen films have no counts of their own, so this is the popularity that can be known.
    """
    known = dense(problem.features.rows_of(problem.train.items))
    asked = dense(problem.features.rows_of(IdMap(problem.unseen)))
    counts = problem.train.by_item.counts.astype(float)
    system = known.T @ known + np.eye(known.shape[1])
    return np.asarray(asked @ np.linalg.solve(system, known.T @ counts))


def dense(rows: Csr) -> NDArray[np.float64]:
    matrix = np.zeros((len(rows), rows.n_columns))
    matrix[rows.row_numbers, rows.columns] = 1
    return matrix


def quality(problem: Problem, scores: Scores) -> tuple[float, float]:
    """Return NDCG and recall at K, means over the users who want at least one unseen film."""
    users, items = scores
    wanted = dense(problem.wanted)
    asking = wanted.any(axis=1)
    best = np.argsort(-(users[asking] @ items.T), axis=1, kind="stable")[:, :K]
    hits = np.take_along_axis(wanted[asking], best, axis=1)
    most = np.minimum(wanted[asking].sum(axis=1), K).astype(int)
    gains = 1 / np.log2(np.arange(K) + 2)
    ideal = np.cumsum(gains)[most - 1]
    return float((hits @ gains / ideal).mean()), float((hits.sum(axis=1) / most).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of MovieLens 1M, with ratings.dat and movies.dat")
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--regularization", type=float, default=0.003)
    parser.add_argument("--weight", type=float, default=0.1)
    parser.add_argument("--splits", type=int, default=3)
    arguments = parser.parse_args()
    objective = Objective(regularization=arguments.regularization, unobserved_weight=arguments.weight)
    settings = arguments.dim, arguments.epochs, objective
    ways: dict[str, Callable[[Problem, int], Scores]] = {
        "random": at_random,
        "popularity, guessed from the features": lambda p, _: by_popularity(p, popularity_of_features(p)),
        "ialspp with features": lambda p, _: by_features(p, *settings, empty=False),
        "ialspp with features, empty histories": lambda p, _: by_features(p, *settings, empty=True),
        "popularity in the test itself": lambda p, _: by_popularity(
            p, np.bincount(p.wanted.columns, minlength=len(p.unseen)).astype(float)
        ),
    }
    has_irspack = importlib.util.find_spec("irspack") is not None
    if has_irspack:
        ways["irspack with features"] = lambda p, _: by_irspack(p, *settings, empty=False)
        ways["irspack with features, empty histories"] = lambda p, _: by_irspack(p, *settings, empty=True)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for seed in range(arguments.splits):
        problem = divided(arguments.data, seed)
        for name, way in ways.items():
            found[name].append(quality(problem, way(problem, seed)))
    print(f"| | NDCG@{K} | recall@{K} |\n|---|---|---|")
    for name, values in found.items():
        print(f"| {name} | {' | '.join(f'{mean:.3f}' for mean in np.mean(values, axis=0))} |")
    if has_irspack:
        print(
            "\n".join(
                f"loss of a small problem, {name}: {loss:.5f}" for name, loss in losses_of_both().items()
            )
        )


if __name__ == "__main__":
    main()
