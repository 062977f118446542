"""What a validation costs beside an epoch, and what queries cost over catalogues of several sizes.

The validation is that of `EarlyStopping` with all held-out users, on generated data of MovieLens 20M's shape;
its parts are also timed alone: folding the users in, coding the items, ranking. Queries are for the best 100
items, over vectors drawn so that lengths vary as they do in trained models. Run the same file with the
interpreter of another version to compare.

    python benchmarks/ranking.py
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from limits import best_of

from ialspp import EarlyStopping, ImplicitMF, _core, datasets, split
from ialspp.system.machine import resolve_threads


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--items", type=int, nargs="*", default=[20_108, 200_000, 1_000_000])
    parser.add_argument("--batches", type=int, nargs="*", default=[1, 8, 32, 128])
    size = parser.parse_args()
    print(f"d = {size.dim}, {resolve_threads(None)} threads, {_core.isa()}")
    if size.epochs:
        compare_validation_with_epoch(size.scale, size.dim, size.epochs)
    for n_items in size.items:
        time_queries(n_items, size.dim, size.batches)


def compare_validation_with_epoch(scale: float, dim: int, epochs: int) -> None:
    parts = split.strong(datasets.synthetic("ml20m", scale=scale))
    seconds: list[float] = []
    cpu: list[float] = []  # of this process when a validation begins and when it ends, in turn

    class Timed(EarlyStopping):
        def score(self, model: ImplicitMF) -> float:
            cpu.append(time.process_time())
            start = time.perf_counter()
            score = super().score(model)
            seconds.append(time.perf_counter() - start)
            cpu.append(time.process_time())
            return score

    timed = Timed(parts.validation, "ndcg@100", users=None, patience=epochs)
    model = ImplicitMF(dim, epochs=epochs).fit(parts.train, callbacks=[timed], progress=False)
    epoch, validation = min(record.seconds for record in model.history), min(seconds)
    spent = np.diff(cpu)
    print(f"{parts.train!r}, {timed.users} users validated")
    print(f"epoch {epoch:.3f} s, validation {validation:.3f} s: {validation / epoch:.0%} of an epoch")
    print(f"CPU seconds: epoch {spent[1::2].min():.3f}, validation {spent[::2].min():.3f}")
    given, wanted, threads = (
        parts.validation.given.by_user,
        parts.validation.wanted.by_user,
        resolve_threads(None),
    )
    vectors, items = model.fold_in_rows(given), _core.PackedItems(model.item_factors, threads)
    rows = given.native(), None, None, wanted.native()
    calls: dict[str, Callable[[], object]] = {
        "folding in": lambda: model.fold_in_rows(given),
        "packing the items": lambda: _core.PackedItems(model.item_factors, threads),
        "places in the best 100": lambda: _core.rank(vectors, items, *rows, 0, 100, threads),
        "the best 100": lambda: _core.rank(vectors, items, *rows[:3], None, 100, 0, threads),
    }
    for name, call in calls.items():
        print(f"  {name}: {best_of(5, call):.3f} s")


def time_queries(n_items: int, dim: int, batches: list[int]) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((n, dim), dtype=np.float32) for n in (max(batches), n_items))
    y *= rng.lognormal(0, 0.5, (n_items, 1)).astype(np.float32)
    threads = resolve_threads(None)
    items = _core.PackedItems(y, threads)
    for users in batches:
        some = x[:users]
        seconds = best_of(10, lambda some=some: _core.rank(some, items, *[None] * 4, 100, 0, threads))
        print(f"{n_items} items, {users} users at once: {1e3 * seconds / users:.3f} ms a user")


if __name__ == "__main__":
    main()
