"""Ideas beyond the paper: the loss against wall time, on real and on generated data.

    python benchmarks/ideas.py --data ../shared/data

Systems, interleaved epoch by epoch: iALS++ as it is and in the eigenbasis of the Gramian; SpectralCG with a
fixed number of steps and with a tolerance for each row; both with the busiest users and items numbered first.
Saves benchmarks/results/ideas.json.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ialspp import IALS, IALSpp, ImplicitMF, Interactions, Objective, SpectralCG
from ialspp.datasets import synthetic
from ialspp.solvers import Problem, Side, Solver, by_halves
from ialspp.solvers.spectral import eigenbasis
from ialspp.system.machine import resolve_threads

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class EigenbasisIALSpp:
    """iALS++ after turning both sides into the eigenbasis of the fixed side's Gramian."""

    block_size: int = 16

    def epoch(self, problem: Problem) -> float:
        return by_halves(problem, self.half_epoch)

    def half_epoch(self, problem: Problem, side: Side, other: Side) -> float:
        values, basis = eigenbasis(problem.gramian(other))
        largest_first = basis[:, ::-1].copy()
        side.transform_with(largest_first, other, largest_first)
        other.gramian = np.diag(values[::-1]).copy()
        size = min(self.block_size, problem.dim)
        fixed = other.single()
        return side.update("update_side", fixed, other.gramian, problem.unobserved_weight, size, 1.0)


SOLVERS: dict[str, Solver] = {
    "iALS": IALS(),
    "iALS++": IALSpp(),
    "iALS++ in the eigenbasis": EigenbasisIALSpp(),
    "SpectralCG, 1 step": SpectralCG(steps=1),
    "SpectralCG, 2 steps": SpectralCG(steps=2),
    "SpectralCG, 3 steps": SpectralCG(steps=3),
    "SpectralCG, up to 4 steps, tolerance 0.1": SpectralCG(steps=4, tolerance=0.1),
    "SpectralCG, up to 4 steps, tolerance 0.03": SpectralCG(steps=4, tolerance=0.03),
}
HOT = ("iALS++", "SpectralCG, 2 steps")  # once more with hot rows together


def gowalla(folder: Path) -> Interactions:
    rows = [np.array(line.split(), np.int64) for line in (folder / "train.txt").read_text().splitlines()]
    user = np.repeat([row[0] for row in rows], [len(row) - 1 for row in rows])
    return Interactions.from_arrays(user=user, item=np.concatenate([row[1:] for row in rows]))


def ncf(folder: Path) -> Interactions:
    pairs = np.loadtxt(folder / "ml-1m.train.rating", dtype=np.int64, usecols=(0, 1))
    return Interactions.from_arrays(user=pairs[:, 0], item=pairs[:, 1])


def hot_rows_together(data: Interactions) -> Interactions:
    """The same interactions, the busiest users and items numbered first."""
    rank = [np.argsort(np.argsort(-side.counts, kind="stable")) for side in (data.by_user, data.by_item)]
    user, item = rank[0][data.by_user.row_numbers], rank[1][data.by_user.columns]
    return Interactions.from_arrays(
        user=user, item=item, users=range(data.n_users), items=range(data.n_items)
    )


def compare(data: Interactions, objective: Objective, dim: int, epochs: int, names: list[str]) -> dict:
    threads = resolve_threads(None)
    hot = hot_rows_together(data)
    contenders = [(name, SOLVERS[name], data) for name in names]
    contenders += [(f"{name}, hot rows together", SOLVERS[name], hot) for name in HOT]
    runs = {}
    for name, solver, its_data in contenders:
        model = ImplicitMF(dim, solver=solver, objective=objective, init="random")
        problem = Problem.of(its_data, objective, *model.initial_factors(its_data), threads)
        runs[name] = (model, problem, [])
    for _ in range(epochs):
        for model, problem, records in runs.values():
            records.append(model.run_epoch(problem, records))
    return {
        name: {"seconds": [r.seconds for r in records], "loss": [r.loss for r in records]}
        for name, (_, _, records) in runs.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data",
        type=Path,
        default=Path("../shared/data"),
        help="a folder with gowalla and ncf-ml1m; those missing are left out",
    )
    parser.add_argument("--scale", type=float, default=0.2, help="of the generated data")
    options = parser.parse_args()
    cases = [
        ("generated", lambda: synthetic("ml20m", scale=options.scale), Objective(), 128, 8),
        ("gowalla", lambda: gowalla(options.data / "gowalla"), Objective(unobserved_weight=0.01), 256, 8),
        (
            "ncf-ml1m",
            lambda: ncf(options.data / "ncf-ml1m"),
            Objective(unobserved_weight=0.3, regularization=0.007),
            192,
            8,
        ),
    ]
    report = {}
    for name, load, objective, dim, epochs in cases:
        try:
            data = load()
        except OSError as error:
            print(f"{name} left out: {error}")
            continue
        print(f"{name}: {data}, d = {dim}")
        report[name] = compare(data, objective, dim, epochs, list(SOLVERS))
        best = min(min(run["loss"]) for run in report[name].values())
        for system, run in report[name].items():
            reached = [i for i, loss in enumerate(run["loss"]) if loss <= 1.005 * best]
            to_loss = f"{sum(run['seconds'][: reached[0] + 1]):.2f} s" if reached else "-"
            losses = " ".join(f"{loss / 1000:.1f}" for loss in run["loss"])
            print(f"  {system:44} {min(run['seconds']):6.3f} s an epoch, to 0.5 % {to_loss:8} {losses}")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "ideas.json").write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
