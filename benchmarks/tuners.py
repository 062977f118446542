"""Our tuner and irspack's in turn, with the same seconds: MovieLens 1M, ratings of at least 4, unseen users.

    python benchmarks/tuners.py ../shared/data/ml-1m --seconds 60 --seeds 0 1 2 3 4

Each tuner chooses on the validation users alone. What it chose is trained once more and ranked for these
users by its own library. NDCG@100 of both is then computed here, in the same way. irspack 0.5.2 tunes by
Optuna's TPE (`IALSRecommender.tune`, d from 4 to 300, its default ranges), and ends the trial that runs when
the time is over. Saves benchmarks/results/tuners.json.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from pathlib import Path
from typing import Any

import numpy as np
from irspack import EvaluatorWithColdUser, IALSRecommender
from numpy.typing import NDArray

import ialspp
from ialspp import Interactions, datasets, split

RESULTS = Path(__file__).parent / "results"
BEST = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="of MovieLens 1M")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--max-dim", type=int, default=512, help="for our tuner")
    options = parser.parse_args()
    parts = split.strong(datasets.load("ml-1m", path=options.folder, min_rating=4))
    print(parts)
    found = []
    for seed in options.seeds:
        for name, tune in (("ialspp", ours), ("irspack", theirs)):
            start = time.perf_counter()
            settings, lists = tune(parts, options.seconds, seed, options.max_dim)
            score = ndcg(lists, parts.validation.wanted)
            seconds = time.perf_counter() - start
            found.append({"tuner": name, "seed": seed, "ndcg": score, "seconds": seconds, "chosen": settings})
            print(
                f"seed {seed}  {name:8}  ndcg@{BEST} {score:.4f}  {seconds:.0f} s in all  {settings}",
                flush=True,
            )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "tuners.json").write_text(json.dumps(found, indent=1))


def ours(
    parts: split.Split, seconds: int, seed: int, max_dim: int
) -> tuple[dict[str, Any], NDArray[np.int64]]:
    """Tune with ialspp; return the settings, and the best items of each validation user, as rows."""
    tuned = ialspp.tune(
        parts, metric=f"ndcg@{BEST}", budget=seconds, max_dim=max_dim, seed=seed, progress=False
    )
    chosen = {"dim": tuned.model.dim, "objective": repr(tuned.model.objective), "epochs": tuned.model.epochs}
    model = tuned.model.fit(tuned.weighted(parts.train), progress=False)
    given = parts.validation.given
    vectors = model.fold_in_rows(given.by_user)
    return chosen, best(vectors @ model.item_factors.T, given)


def theirs(parts: split.Split, seconds: int, seed: int, _: int) -> tuple[dict[str, Any], NDArray[np.int64]]:
    """Tune with irspack."""
    quiet = logging.getLogger("quiet")
    quiet.setLevel(logging.WARNING)
    train = parts.train.to_scipy().astype(np.float64)
    given, wanted = (
        side.to_scipy().astype(np.float64) for side in (parts.validation.given, parts.validation.wanted)
    )
    judge = EvaluatorWithColdUser(given, wanted, cutoff=BEST, target_metric="ndcg")
    chosen, _ = IALSRecommender.tune(
        train, judge, n_trials=10**6, timeout=seconds, tuning_random_seed=seed, logger=quiet
    )
    model = IALSRecommender(train, **chosen).learn()
    return chosen, best(model.get_score_cold_user(given), parts.validation.given)


def best(scores: NDArray[Any], given: Interactions) -> NDArray[np.int64]:
    """Rank all items but those that are given."""
    scores[given.by_user.row_numbers, given.by_user.columns] = -np.inf
    return np.argsort(-scores, axis=1, kind="stable")[:, :BEST]


def ndcg(lists: NDArray[np.int64], wanted: Interactions) -> float:
    """The mean over users with wanted items."""
    hits = np.zeros((wanted.n_users, wanted.n_items), dtype=bool)
    hits[wanted.by_user.row_numbers, wanted.by_user.columns] = True
    discounts = 1 / np.log2(np.arange(2, BEST + 2))
    gains = (np.take_along_axis(hits, lists, axis=1) * discounts).sum(axis=1)
    counts = np.minimum(wanted.by_user.counts, BEST)
    some = counts > 0
    return float(np.mean(gains[some] / np.cumsum(discounts)[counts[some] - 1]))


if __name__ == "__main__":
    main()
