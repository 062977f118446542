"""How the start and the relaxation change the fall of the loss over epochs, for docs/spectral.md.

    python benchmarks/curves.py --folder ../shared/data

L* is the lowest loss known: that of many epochs of the default, or of another line that went lower. The
losses are exact, also after epochs that read half precision. Prints a table for each data set and draws
docs/convergence.png.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

from ialspp import EpochRecord, IALSpp, ImplicitMF, SpectralCG

mpl.use("Agg")
import matplotlib.pyplot as plt

sys.path.insert(0, str(Path(__file__).parent))
import cases
from cases import OURS, Case, Task

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "convergence.png"
DATA = {"ncf-ml1m": 1.0, "gowalla": 1.0, "ml20m": 0.2}  # and the scale of what is generated
DEFAULT = "spectral start, auto: the default"
LINES: dict[str, dict[str, Any]] = {
    "the paper's: random start, IALSpp()": {"init": "random", "solver": IALSpp()},
    "random start, relaxation 1": {"init": "random", "solver": SpectralCG(relaxation=1)},
    "random start, auto": {"init": "random"},
    "spectral start, relaxation 1": {"solver": SpectralCG(relaxation=1)},
    DEFAULT: {},
}
STYLES = ("k:^", "C1--s", "C1-o", "C0--s", "C0-o")
SHOWN = (1, 2, 3, 4, 6, 8, 12)
LONG = 60  # epochs of the default, to find L*


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("../shared/data"), help="of real data sets")
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    figure, axes = plt.subplots(1, len(DATA), figsize=(13, 4.4), layout="constrained", sharey=True)
    for axis, (name, scale) in zip(axes, DATA.items(), strict=True):
        case = cases.load(name, scale, options.folder)
        task, lengths = case.tasks[OURS], {DEFAULT: LONG}
        curves = {
            line: losses(task, options.dim, lengths.get(line, SHOWN[-1]), options.threads, **settings)
            for line, settings in LINES.items()
        }
        lowest = min(map(min, curves.values()))
        print_table(case, lowest, curves)
        draw(axis, f"{case.name}, d = {options.dim}", lowest, curves)
    axes[0].set_ylabel("loss above L*")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(PICTURE, dpi=110)


def losses(task: Task, dim: int, epochs: int, threads: int | None, **settings: Any) -> list[float]:
    """The exact loss after each epoch."""
    found = []

    def look(model: ImplicitMF, _: EpochRecord) -> None:
        factors = model.user_factors, model.item_factors
        found.append(task.objective.loss(task.data, *factors, threads=threads).total)

    model = ImplicitMF(dim, objective=task.objective, epochs=epochs, threads=threads, **settings)
    model.fit(task.data, callbacks=[look], progress=False)
    return found


def print_table(case: Case, lowest: float, curves: dict[str, list[float]]) -> None:
    """Losses in thousands, as Markdown."""
    print(f"\n{case.name}, {case.data}, L* = {lowest / 1000:.2f} thousand\n")
    print(f"| epoch | {' | '.join(map(str, SHOWN))} |\n|{'---|' * (1 + len(SHOWN))}")
    for line, curve in curves.items():
        print(f"| {line} | {' | '.join(f'{curve[epoch - 1] / 1000:.1f}' for epoch in SHOWN)} |", flush=True)


def draw(axis: plt.Axes, title: str, lowest: float, curves: dict[str, list[float]]) -> None:
    """The loss above L* as a share of L*, over epochs."""
    for (line, curve), style in zip(curves.items(), STYLES, strict=True):
        shown = curve[: SHOWN[-1]]
        axis.plot(range(1, len(shown) + 1), [loss / lowest - 1 for loss in shown], style, ms=4, label=line)
    axis.axhline(1e-3, color="grey", lw=0.8)
    axis.set(yscale="log", xlabel="epochs", title=title, xticks=SHOWN)
    axis.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")


if __name__ == "__main__":
    main()
