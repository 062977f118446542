"""Pictures of what bench.py and blocks.py measured."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import NullFormatter


def draw(report: dict, path: Path) -> None:
    """Seconds per epoch over d; and for each d the loss over seconds, those of the start included."""
    runs = report["runs"]
    dims = sorted({run["dim"] for run in runs})
    columns = min(3, 1 + len(dims))
    rows = -(-(1 + len(dims)) // columns)
    size = (4.2 * columns, 3.6 * rows + 0.9)
    figure, grid = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    axes = list(grid.flat)
    for unused in axes[1 + len(dims) :]:
        unused.set_visible(False)
    names = list(dict.fromkeys(run["system"] for run in runs))
    colours = {name: f"C{i % 10}" for i, name in enumerate(names)}
    for name in names:
        own = sorted((run for run in runs if run["system"] == name), key=lambda run: run["dim"])
        axes[0].plot(
            [r["dim"] for r in own],
            [min(r["seconds"]) for r in own],
            style_of(name),
            color=colours[name],
            ms=4,
            label=name,
        )
    axes[0].set(xscale="log", yscale="log", xlabel="d", ylabel="seconds per epoch, best", title="an epoch")
    axes[0].set_xticks(dims, dims)
    axes[0].minorticks_off()
    for axis, dim in zip(axes[1:], dims, strict=False):
        for run in runs:
            if run["dim"] != dim or run["only_timed"]:
                continue
            elapsed = np.cumsum([run["start_seconds"], *run["seconds"]])[1:]
            excess = [max(loss / run["lowest"] - 1, 1e-5) for loss in run["loss"]]
            axis.plot(elapsed, excess, style_of(run["system"]), color=colours[run["system"]], ms=3)
        axis.axhline(1e-3, color="grey", lw=0.8)
        axis.set(
            xscale="log", yscale="log", xlabel="seconds, with the start", title=f"loss above L*, d = {dim}"
        )
        axis.xaxis.set_minor_formatter(NullFormatter())
    figure.legend(loc="outside lower center", ncols=4, fontsize=8)
    figure.savefig(path, dpi=110)


def style_of(system: str) -> str:
    library = system.partition("/")[0].partition("@")[0]
    return {"ours": "-o", "before": ":^"}.get(library, "--s")


def draw_blocks(report: dict, path: Path) -> None:
    """Seconds per epoch over block sizes, a line for each d, auto's choice marked."""
    figure, axis = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
    for i, (dim, curve) in enumerate(report["curves"].items()):
        sizes = [int(size) for size in curve["seconds"]]
        axis.plot(sizes, list(curve["seconds"].values()), "-o", ms=4, color=f"C{i}", label=f"d = {dim}")
        axis.plot([curve["auto"]], [curve["seconds"][str(curve["auto"])]], "*", ms=13, color=f"C{i}")
    axis.set(xscale="log", yscale="log", xlabel="block size (star: auto)", ylabel="seconds per epoch, best")
    ticks = sorted({int(size) for curve in report["curves"].values() for size in curve["seconds"]})
    axis.set_xticks(ticks, ticks)
    axis.minorticks_off()
    axis.legend()
    figure.savefig(path, dpi=110)
