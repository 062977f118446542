"""Ranking all items for many users: ours on all threads beside numpy (matmul and argpartition) on one.

numpy ranks users in batches of 500: all at once, its 800 MB of scores take longer. "ranking" is the best k of
each user; "evaluation" hides what is known of each user and computes Recall@20 and NDCG@100.

    python benchmarks/evaluation.py
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from ialspp import _core, evaluate
from ialspp.data.axis import Axis
from ialspp.data.csr import Csr
from ialspp.data.interactions import Interactions
from ialspp.datasets import Shape, synthetic
from ialspp.split import HeldOut, Split
from ialspp.system.machine import resolve_threads

BATCH = 500


class Factors:
    """A recommender that was not learned."""

    def __init__(self, users: np.ndarray, items: np.ndarray, data: Interactions) -> None:
        self.user_factors, self.item_factors, self.trained_on = users, items, data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--items", type=int, default=20_108)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=7)
    size = parser.parse_args()
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((n, size.dim), dtype=np.float32) for n in (size.users, size.items))
    parts = held_out(size.users, size.items)
    threads = resolve_threads(None)
    calls: dict[str, Callable[[], object]] = {
        "ranking, numpy": lambda: numpy_ranking(x, y, size.k),
        "ranking, ialspp": lambda: ranked(x, y, size.k, threads),
        "evaluation, numpy": lambda: numpy_evaluation(x, y, parts),
        "evaluation, ialspp": lambda: our_evaluation(x, y, parts),
    }
    with threadpool_limits(1):
        check(calls)
        seconds = {name: [] for name in calls}
        for _ in range(size.rounds):
            for name, call in calls.items():
                start = time.perf_counter()
                call()
                seconds[name].append(time.perf_counter() - start)
    for what in ("ranking", "evaluation"):
        theirs, ours = (sorted(seconds[f"{what}, {who}"]) for who in ("numpy", "ialspp"))
        middle = len(ours) // 2
        for how, at in (("best", 0), ("median", middle)):
            times = f"numpy {theirs[at]:.2f} s, ialspp on {threads} threads {ours[at]:.2f} s"
            print(f"{what}, {how}: {times}, {theirs[at] / ours[at]:.1f}x")


def ranked(x: np.ndarray, y: np.ndarray, k: int, threads: int) -> np.ndarray:
    items = _core.PackedItems(y, threads)
    return _core.rank(x, items, None, None, None, None, k, 0, threads)[0]


def held_out(users: int, items: int) -> Split:
    """About 60 known and 15 wanted items a user, as in MovieLens 20M."""
    data = synthetic(Shape(users, items, 75 * users))
    asked = np.random.default_rng(1).random(len(data)) < 0.2
    axes = Axis.whole(data.users), Axis.whole(data.items)
    given, wanted = (data.select(part, *axes) for part in (~asked, asked))
    return Split("weak", given, HeldOut(given, wanted, unseen=False), None, ("capped_recall@20", "ndcg@100"))


def numpy_ranking(x: np.ndarray, y: np.ndarray, k: int, hidden: Csr | None = None) -> np.ndarray:
    found = []
    for begin in range(0, len(x), BATCH):
        scores = x[begin : begin + BATCH] @ y.T
        if hidden is not None:
            rows = hidden.take(np.arange(begin, begin + len(scores)))
            scores[rows.row_numbers, rows.columns] = -np.inf
        best = np.argpartition(scores, -k, axis=1)[:, -k:]
        order = np.argsort(-np.take_along_axis(scores, best, 1), axis=1)
        found.append(np.take_along_axis(best, order, 1))
    return np.concatenate(found)


def numpy_evaluation(x: np.ndarray, y: np.ndarray, parts: Split) -> tuple[float, float]:
    """As the notebook of Liang et al. (2018) does it: hits from a dense matrix of what is wanted."""
    wanted = parts.test.wanted.by_user
    best = numpy_ranking(x, y, 100, parts.test.given.by_user)
    discounts = 1 / np.log2(np.arange(100) + 2.0)
    recalls, gains = [], []
    for begin in range(0, len(x), BATCH):
        rows = wanted.take(np.arange(begin, min(begin + BATCH, len(x))))
        relevant = np.zeros((len(rows), len(y)), dtype=bool)
        relevant[rows.row_numbers, rows.columns] = True
        hits = np.take_along_axis(relevant, best[begin : begin + BATCH], 1)
        asked = rows.counts > 0
        n = rows.counts[asked]
        recalls.append(hits[asked, :20].sum(axis=1) / np.minimum(20, n))
        gains.append((hits[asked] * discounts).sum(axis=1) / discounts.cumsum()[np.minimum(100, n) - 1])
    return float(np.concatenate(recalls).mean()), float(np.concatenate(gains).mean())


def our_evaluation(x: np.ndarray, y: np.ndarray, parts: Split) -> tuple[float, float]:
    found = evaluate(Factors(x, y, parts.train), parts, progress=False)
    return found["capped_recall@20"].mean, found["ndcg@100"].mean


def check(calls: dict[str, Callable[[], object]]) -> None:
    """The same results, but for the order of scores that differ by rounding."""
    theirs, ours = (np.asarray(calls[f"ranking, {who}"]()) for who in ("numpy", "ialspp"))
    assert (theirs == ours).mean() > 0.999
    assert np.allclose(calls["evaluation, numpy"](), calls["evaluation, ialspp"](), rtol=1e-3)


if __name__ == "__main__":
    main()
