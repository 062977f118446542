"""Seconds per epoch against irspack, on the same data, interleaved epoch by epoch in one run.

    make bench                                    # ML20M's shape, d = 128 and 512
    python benchmarks/peers.py --dims 128 --scale 0.1

irspack's objective "IALSPP" is ours with labels and weights of 1 (same alpha0, lambda and nu). It
needs `pip install ".[peers]"`. Prints a table and saves every epoch to benchmarks/results/peers.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import ialspp
from ialspp import IALS, IALSpp, Interactions, Objective, _core
from ialspp.datasets import synthetic
from ialspp.model import ImplicitMF
from ialspp.solvers import Problem, Solver
from ialspp.threads import resolve_threads

RESULTS = Path(__file__).parent / "results"
Epoch = Callable[[], float]  # runs one epoch; seconds


def ours(data: Interactions, solver: Solver, dim: int, threads: int) -> Epoch:
    """Our epochs, the exact loss included."""
    model = ImplicitMF(dim=dim, solver=solver, epochs=1, threads=threads)
    users, items = model._initial(data)
    problem = Problem.of(data, model.objective, users, items, threads)
    return lambda: model._epoch(problem, 1).seconds


def irspack(data: Interactions, dim: int, threads: int, **solver: str | int) -> Epoch:
    """irspack's epochs, without its loss."""
    from irspack.recommenders import IALSRecommender

    objective = Objective()
    rows = data.by_user
    matrix = sp.csr_matrix(
        (np.ones(len(data), np.float32), rows.columns, rows.offsets), (data.n_users, data.n_items)
    )
    recommender = IALSRecommender(
        matrix,
        n_components=dim,
        alpha0=objective.unobserved_weight,
        reg=objective.regularization,
        nu=objective.exponent,
        n_threads=threads,
        **solver,
    )
    trainer = recommender._create_trainer()

    def epoch() -> float:
        start = time.perf_counter()
        trainer.run_epoch()
        return time.perf_counter() - start

    return epoch


def systems(data: Interactions, dim: int, threads: int) -> dict[str, Epoch]:
    """What is compared at one dimension; iALS only where its d^3 lets it finish."""
    found = {
        "ialspp iALS++": ours(data, IALSpp(), dim, threads),
        "ialspp iALS++ by side": ours(data, IALSpp(sweep="side"), dim, threads),
        "irspack iALS++ (64)": irspack(
            data, dim, threads, solver_type="IALSPP", ialspp_subspace_dimension=64
        ),
    }
    if dim <= 128:
        found["ialspp iALS"] = ours(data, IALS(), dim, threads)
        found["irspack Cholesky"] = irspack(data, dim, threads, solver_type="CHOLESKY")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", default="ml20m")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--dims", type=int, nargs="+", default=[128, 512])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    threads = resolve_threads(options.threads)
    data = synthetic(options.shape, scale=options.scale)
    print(f"{data}, {threads} threads, {_core.isa()}, {platform.processor() or platform.machine()}")

    runs = []
    for dim in options.dims:
        epochs = systems(data, dim, threads)
        seconds: dict[str, list[float]] = {name: [] for name in epochs}
        for _ in range(options.epochs):
            for name, epoch in epochs.items():
                seconds[name].append(epoch())
        for name, values in seconds.items():
            print(
                f"d={dim:5}  {name:24} best {min(values):7.2f} s   median {statistics.median(values):7.2f} s"
            )
            runs.append({"dim": dim, "system": name, "seconds": values})
    RESULTS.mkdir(exist_ok=True)
    report = {
        "data": repr(data),
        "threads": threads,
        "isa": _core.isa(),
        "cpus": os.cpu_count(),
        "version": ialspp.__version__,
        "runs": runs,
    }
    (RESULTS / "peers.json").write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
