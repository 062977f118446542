"""Draw how long each library takes to the same loss, as race.svg in this folder.

    make bench
    python docs/pictures/race.py benchmarks/results/bench.json  # keeps what is drawn in race.json, and draws
    python docs/pictures/race.py                                # draws race.json again

A bar is the time until the loss is within 0.1 % of the lowest known. A hatched bar is a system that did not
come so far in its epochs: it needs longer than that.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from draw import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, STYLE
from matplotlib.axes import Axes

HERE = Path(__file__).parent
NAMES = {
    "ours/spectral": "ialspp",
    "irspack/cg": "irspack",
    "authors/ials++:64": "the authors' C++",
    "ours@implicit/spectral": "ialspp, implicit's loss",
    "implicit/cg": "implicit, its loss",
    "lenskit/cholesky": "LensKit, the same loss",
}
COLOURS = {"ours": PURPLE, "irspack": BLUE, "authors": GREEN, "implicit": ORANGE, "lenskit": GREY}
PLACES = (0, 1, 2, 3.5, 4.5, 5.5)  # a gap between the two losses
FACTS = ("system", "dim", "start_seconds", "seconds", "seconds_to_loss", "epochs_to_loss", "lowest")


def kept(report: dict[str, Any]) -> dict[str, Any]:
    """Keep of a benchmark's file what the picture shows, and what says where it comes from."""
    about = {name: report[name] for name in ("date", "clock", "threads", "isa", "version")}
    data = report["runs"][0]["data"]  # and not a share of it, with which larger d are measured
    shown = [run for run in report["runs"] if run["system"] in NAMES and run["data"] == data]
    return {**about, "data": data, "runs": [{name: run[name] for name in FACTS} for run in shown]}


def draw(report: dict[str, Any], path: Path) -> None:
    """Draw a panel for each dimension, with a bar for each system."""
    mpl.rcParams.update(STYLE)
    dims = sorted({run["dim"] for run in report["runs"]})
    rows = -(-len(dims) // 2)
    figure, axes = plt.subplots(
        rows, 2, figsize=(8.6, 2.7 * rows), layout="constrained", sharey=True, squeeze=False
    )
    for axis, dim in zip(axes.flat, dims, strict=False):
        runs = {run["system"]: run for run in report["runs"] if run["dim"] == dim}
        panel(axis, [runs.get(name) for name in NAMES])
        axis.set_title(f"d = {dim}", color=INK)
    axes[0][0].set_yticks(PLACES, NAMES.values())
    axes[0][0].invert_yaxis()
    figure.supxlabel("seconds until the loss has converged (shorter is better)", fontsize=10, color=INK)
    figure.savefig(path, metadata={"Date": None, "Creator": None}, facecolor="white")
    plt.close(figure)


def panel(axis: Axes, runs: list[dict[str, Any] | None]) -> None:
    """Draw the bars of one dimension; None is a system that was not raced there."""
    longest = max(seconds_of(run) for run in runs if run is not None)
    for place, run in zip(PLACES, runs, strict=True):
        if run is None:
            axis.text(0.02 * longest, place, "not raced", va="center", color=GREY)
            continue
        seconds, reached = seconds_of(run), run["seconds_to_loss"] is not None
        colour = COLOURS[run["system"].partition("/")[0].partition("@")[0]]
        hatch = None if reached else "///"
        axis.barh(place, seconds, color=colour, height=0.7, hatch=hatch, edgecolor="white")
        text = f"{seconds:.1f} s" if reached else f"> {seconds:.0f} s"
        axis.text(seconds + 0.02 * longest, place, text, va="center", color=INK)
    axis.set(xlim=(0, 1.35 * longest), xticks=[])
    axis.spines[["bottom"]].set_visible(False)
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_color(GREY)


def seconds_of(run: dict[str, Any]) -> float:
    """Return the seconds to the loss, or of all epochs if it was not reached."""
    reached = run["seconds_to_loss"]
    return float(run["start_seconds"] + sum(run["seconds"]) if reached is None else reached)


def main() -> None:
    """Keep what a benchmark measured, if one is given, and draw."""
    if len(sys.argv) > 1:
        report = kept(json.loads(Path(sys.argv[1]).read_text()))
        (HERE / "race.json").write_text(json.dumps(report, indent=1) + "\n")
    draw(json.loads((HERE / "race.json").read_text()), HERE / "race.svg")


if __name__ == "__main__":
    main()
