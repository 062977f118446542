"""How an epoch grows: with threads, with interactions, with one giant row; what loss and start-up cost.

    python benchmarks/scaling.py

Saves benchmarks/results/scaling.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from ialspp import IALS, IALSpp, ImplicitMF, Interactions, SpectralCG
from ialspp.datasets import synthetic
from ialspp.solvers import Problem, Solver
from ialspp.system.machine import resolve_threads

RESULTS = Path(__file__).parent / "results"
SOLVERS: dict[str, Solver] = {"iALS++": IALSpp(), "SpectralCG": SpectralCG(), "iALS": IALS()}


def problem_of(data: Interactions, dim: int, threads: int) -> Problem:
    model = ImplicitMF(dim)
    return Problem.of(data, model.objective, *model.initial_factors(data), threads)


def interleaved(runs: dict[str, tuple[Solver, Problem]], rounds: int) -> dict[str, float]:
    """Best seconds of an epoch, each run once and then again."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, (solver, problem) in runs.items():
            start = time.perf_counter()
            problem.loss(solver.epoch(problem))
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def sample(data: Interactions, share: float) -> Interactions:
    rows = data.by_user
    kept = np.random.default_rng(0).random(len(data)) < share
    return Interactions(data.users, data.items, rows.row_numbers[kept], rows.columns[kept], None, None)


def with_giant(data: Interactions, share: float) -> Interactions:
    """As many interactions, a share of them on one item: with users who come to the rest once more."""
    giant = round(share * len(data))
    rest = sample(data, 1 - share)
    rows = rest.by_user
    n_users = max(data.n_users, giant)
    return Interactions.from_arrays(
        user=np.concatenate([rows.row_numbers, np.arange(giant)]),
        item=np.concatenate([rows.columns, np.full(giant, data.n_items)]),
        users=range(n_users),
        items=range(data.n_items + 1),
    )


def balanced_like(data: Interactions) -> Interactions:
    """The same shape with the giant item's interactions spread over all items."""
    rows = data.by_user
    item = rows.columns.copy()
    giant = item == data.n_items - 1
    item[giant] = np.random.default_rng(1).integers(0, data.n_items - 1, giant.sum())
    return Interactions.from_arrays(
        user=rows.row_numbers, item=item, users=range(data.n_users), items=range(data.n_items)
    )


def import_milliseconds() -> float:
    """What `import ialspp` adds to numpy's own import: the best of several."""
    code = "import numpy, time; s = time.perf_counter(); import ialspp; print(time.perf_counter() - s)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True) for _ in range(5)]
    return 1000 * min(float(run.stdout) for run in runs)


def build_seconds(data: Interactions) -> float:
    """Both CSRs from shuffled 64-bit ids: the best of several."""
    order = np.random.default_rng(0).permutation(len(data))
    user = data.by_user.row_numbers[order].astype(np.int64)
    item = data.by_user.columns[order].astype(np.int64)
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        Interactions.from_arrays(user=user, item=item)
        best = min(best, time.perf_counter() - start)
    return best


def loss_share(data: Interactions, dim: int, threads: int) -> float:
    """Seconds of the loss's own work over those of an epoch, iALS++; Gramians it shares left out."""
    problem = problem_of(data, dim, threads)
    epochs, losses = [], []
    for _ in range(3):
        start = time.perf_counter()
        observed = IALSpp().epoch(problem)
        problem.gramian(problem.users), problem.gramian(problem.items)  # the next epoch's, either way
        between = time.perf_counter()
        problem.loss(observed)
        epochs.append(between - start)
        losses.append(time.perf_counter() - between)
    return min(losses) / min(epochs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    threads, dim = resolve_threads(options.threads), options.dim
    data = synthetic("ml20m", scale=options.scale)
    half, giant = sample(data, 0.5), with_giant(data, 0.2)
    balanced = balanced_like(giant)
    report: dict[str, object] = {"data": repr(data), "dim": dim, "threads": threads}
    for name, solver in SOLVERS.items():
        seconds = interleaved(
            {
                "one thread": (solver, problem_of(data, dim, 1)),
                "all threads": (solver, problem_of(data, dim, threads)),
                "half the interactions": (solver, problem_of(half, dim, threads)),
                "a giant item": (solver, problem_of(giant, dim, threads)),
                "the same, balanced": (solver, problem_of(balanced, dim, threads)),
            },
            options.rounds,
        )
        report[name] = seconds
        faster = seconds["one thread"] / seconds["all threads"]
        growth = seconds["all threads"] / seconds["half the interactions"]
        slower = seconds["a giant item"] / seconds["the same, balanced"]
        print(f"{name:10} {threads} threads {faster:.2f}x as fast as one", end="; ")
        print(f"twice the interactions {growth:.2f}x the time", end="; ")
        print(f"a giant item {slower:.2f}x the time of balanced data", flush=True)
    report["loss share"] = loss_share(data, dim, threads)
    report["import ms"] = import_milliseconds()
    report["build seconds"] = build_seconds(data)
    print(f"the exact loss: {report['loss share']:.1%} of an epoch")
    print(
        f"import ialspp: {report['import ms']:.0f} ms after numpy; both CSRs: {report['build seconds']:.2f} s"
    )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "scaling.json").write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
