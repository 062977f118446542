"""Draw the pictures of the documentation as SVG files in this folder.

    python docs/pictures/draw.py

The same input gives the same bytes on every machine: the files hold no dates and no random names.
Measurements come from convergence.json, which benchmarks/convergence.py writes, and from scale.json: figures
that benchmarks/scale.py prints. Everything else is computed here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle
from matplotlib.ticker import FuncFormatter, NullFormatter
from numpy.typing import NDArray

HERE = Path(__file__).parent
BLUE, ORANGE, GREEN, PURPLE = "#2b6cb0", "#d9730d", "#2f855a", "#8250a8"
COLOURS = {"iALS": BLUE, "iCD": ORANGE, "iALS++": GREEN, "SpectralCG": PURPLE}
TIMES = "\N{MULTIPLICATION SIGN}"
INK, GREY, PALE = "#222222", "#6b7280", "#eceff3"
STYLE = {
    "svg.hashsalt": "ialspp",
    "svg.fonttype": "path",
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.titlepad": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "figure.constrained_layout.h_pad": 0.1,
    "figure.constrained_layout.w_pad": 0.1,
}


def main() -> None:
    """Draw all pictures."""
    mpl.rcParams.update(STYLE)
    for draw in (loss, blocks, rotation, convergence, scale, newcomers):
        save(draw)


def save(draw: Callable[[], Figure]) -> None:
    """Save one picture under the name of its function."""
    figure = draw()
    figure.savefig(HERE / f"{draw.__name__}.svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)


# The loss


def loss() -> Figure:
    """Draw the score that each pair is pulled to, and what a pair adds to the loss at each score."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 4.1), layout="constrained")
    labels = {(0, 1): 1, (0, 4): 1, (1, 0): 1, (1, 2): 1, (2, 4): 1, (2, 5): 1, (3, 1): 0, (3, 6): 1}
    weights = {(0, 4): 3}
    _matrix(left, 5, 8, top=-1.2, bottom=7.4)
    for place in np.ndindex(5, 8):
        label, weight = labels.get(place), weights.get(place, 1)
        if label is not None:
            _cell(left, *place, ORANGE if label == 0 else BLUE, alpha=0.55 + 0.15 * weight)
        text = "0" if label is None else str(label) if weight == 1 else f"{label}{TIMES}{weight}"
        colour = GREY if label is None else "white"
        left.text(place[1] + 0.5, place[0] + 0.5, text, ha="center", va="center", color=colour, size=9.5)
    left.set_title("the score that each pair is pulled to")
    left.text(4, -0.15, "items", ha="center", va="bottom")
    left.text(-0.2, 2.5, "users", ha="right", va="center", rotation=90)
    note = "coloured (observed): pulled to its label\nall pairs, observed or not: pulled to 0, weight α₀"
    left.text(4, 5.3, note, ha="center", va="top", linespacing=1.5)
    _loss_of_a_pair(right)
    return figure


def _loss_of_a_pair(axis: Axes) -> None:
    """Plot alpha0 s^2 over the score s, plus a (s - y)^2 for observed pairs, with a dot at each minimum."""
    alpha0, score = 0.1, np.linspace(-0.25, 1.45, 200)
    kinds = (
        ("observed, label 1, a = 3", 3, 1, BLUE, "-"),
        ("observed, label 1, a = 1", 1, 1, BLUE, "--"),
        ("observed, label 0, a = 1", 1, 0, ORANGE, "-"),
        ("unobserved", 0, 0, GREY, "-"),
    )
    for name, weight, label, colour, style in kinds:
        axis.plot(score, weight * (score - label) ** 2 + alpha0 * score**2, style, color=colour, label=name)
        best = weight * label / (weight + alpha0)
        axis.plot(best, weight * (best - label) ** 2 + alpha0 * best**2, "o", color=colour, ms=5)
    axis.set(ylim=(0, 1.6), xlabel="score ⟨w, h⟩", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1, 1.5])
    axis.set_title("what one pair adds to the loss, α₀ = 0.1")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, handlelength=1.5, columnspacing=1.2)


# The solvers


def blocks() -> Figure:
    """Draw which coordinates one step solves, in what order, and how large its system is."""
    figure, axes = plt.subplots(1, 3, figsize=(8.6, 4.0), layout="constrained")
    kinds = (
        ("iALS", 8, f"whole rows\none system of d {TIMES} d each"),
        ("iCD", 1, "one coordinate of each row\na division each"),
        ("iALS++", 2, f"b coordinates of each row\none system of b {TIMES} b each"),
    )
    for axis, (name, size, text) in zip(axes, kinds, strict=True):
        _matrix(axis, 5, 8, top=-1.2, bottom=11.2)
        _passes(axis, size, COLOURS[name])
        _system(axis, size, COLOURS[name])
        axis.set_title(name, weight="bold", color=COLOURS[name])
        axis.text(4, 9.3, text, ha="center", va="top", linespacing=1.4)
        axis.text(4, -0.2, f"users {TIMES} d coordinates", ha="center", va="bottom", color=GREY)
    return figure


def _passes(axis: Axes, size: int, colour: str) -> None:
    """Draw five users' vectors of eight coordinates, with the number of the pass that updates each."""
    for first in range(0, 8, size):
        middle = first + size / 2
        for row in range(5):
            strength = 0.95 if (row, first) == (4, 0) else 0.42 if first == 0 else 0.14
            _cell(axis, row, first, colour, width=size, alpha=strength)
            shade = "white" if (row, first) == (4, 0) else INK
            number = str(1 + first // size)
            axis.text(middle, row + 0.5, number, ha="center", va="center", color=shade, size=9)


def _system(axis: Axes, size: int, colour: str) -> None:
    """Draw the system solved for the row in full colour, as a part of d x d."""
    left, top, side = 2.7, 6.2, 2.6
    part = side * size / 8
    axis.add_patch(Rectangle((left, top), side, side, facecolor=PALE, edgecolor=GREY, lw=0.8))
    axis.add_patch(Rectangle((left, top), part, part, facecolor=colour))
    style = {"arrowstyle": "-|>", "mutation_scale": 9, "color": INK, "lw": 0.9}
    axis.add_patch(FancyArrowPatch((size / 2, 5), (left + part / 2, top), shrinkA=1, shrinkB=0, **style))


def rotation() -> Figure:
    """Draw one row's part of the loss in two coordinates, rotated, and scaled, with one step in each.

    Products are rounded, because their last bits depend on the machine's BLAS and would change the file.
    """
    angle = np.deg2rad(32)
    basis = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    neighbours = np.array([[0.8, 0.3], [-0.2, 0.5]]) @ basis.T
    spread = np.diag([9.0, 0.5])  # alpha0 l + lambda: the Gramian's part of the system, in its eigenbasis
    system = basis @ spread @ basis.T + neighbours.T @ neighbours
    rotated = basis.T @ system @ basis
    scale = np.diag(1 / np.sqrt(np.diag(rotated)))
    start = basis @ np.array([0.4, 1.7])
    frames = (
        ("original coordinates", system, start),
        ("rotated into the eigenbasis", rotated, basis.T @ start),
        ("and scaled by the diagonal", scale @ rotated @ scale, np.linalg.inv(scale) @ basis.T @ start),
    )
    figure, axes = plt.subplots(1, 3, figsize=(8.6, 3.3), layout="constrained")
    for axis, (title, matrix, point) in zip(axes, frames, strict=True):
        left = _one_step(axis, matrix.round(12), point.round(12))
        axis.set_title(title)
        axis.set_xlabel(
            f"one step leaves {left:.0%} of the excess" if left >= 0.01 else "one step leaves < 1 %"
        )
    return figure


def _one_step(axis: Axes, matrix: NDArray[np.float64], start: NDArray[np.float64]) -> float:
    """Draw contours of x'Ax and the first step of conjugate gradients; return the share of the value left."""
    gradient = matrix @ start
    end = (start - gradient * (gradient @ gradient) / (gradient @ matrix @ gradient)).round(12)
    width = 1.25 * np.abs(start).max()
    grid = np.stack(np.meshgrid(*[np.linspace(-width, width, 200)] * 2))
    value = np.einsum("ixy,ij,jxy->xy", grid, matrix, grid)
    top = (start @ matrix @ start).round(12)
    axis.contour(
        *grid, value, levels=top * np.array([0.02, 0.15, 0.4, 1, 1.9, 3.2]), colors=GREY, linewidths=0.8
    )
    axis.annotate(
        "",
        end,
        start,
        arrowprops={"arrowstyle": "-|>", "color": PURPLE, "lw": 1.8, "shrinkA": 0, "shrinkB": 0},
    )
    axis.plot(*start, "o", color=PURPLE, ms=5)
    axis.plot(0, 0, "+", color=INK, ms=9, mew=1.6)
    axis.set(aspect="equal", xticks=[], yticks=[], xlim=(-width, width), ylim=(-width, width))
    axis.spines[:].set_visible(True)
    return float(end @ matrix @ end / top)


# Measured convergence


def convergence() -> Figure:
    """Plot the measured loss above the lowest known, over epochs and over seconds."""
    report = json.loads((HERE / "convergence.json").read_text())
    figure, (epochs, seconds) = plt.subplots(1, 2, figsize=(8.6, 4.0), layout="constrained", sharey=True)
    for name, curve in report["curves"].items():
        excess = np.array(curve["loss"]) / report["lowest"] - 1
        line = {"color": COLOURS[name], "marker": "o", "ms": 3, "lw": 1.4, "label": name}
        epochs.plot(np.arange(len(excess)) + 1, excess, **line)
        seconds.plot(np.cumsum(curve["seconds"]), excess, **line)
    epochs.set(xlabel="epochs", ylabel="loss above the lowest known", yscale="log", xticks=[1, 4, 8, 12, 16])
    seconds.set(xlabel="seconds", xscale="log")
    percent = FuncFormatter(lambda share, _: f"{100 * share:g} %")
    epochs.yaxis.set_major_formatter(percent)
    seconds.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    for axis in (epochs, seconds):
        axis.grid(color=PALE)
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.yaxis.set_minor_formatter(NullFormatter())
    figure.legend(*epochs.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


# Large data


def scale() -> Figure:
    """Plot the seconds and the memory that were measured, over the number of rows."""
    report = json.loads((HERE / "scale.json").read_text())
    rows = np.array(report["rows"])
    figure, (seconds, memory) = plt.subplots(1, 2, figsize=(8.6, 4.0), layout="constrained")
    for name, colour in (("prepare", BLUE), ("the first epoch", PURPLE)):
        measured = np.array(report["seconds"][name])
        seconds.plot(rows[: len(measured)], measured, color=colour, marker="o", ms=4, lw=1.4, label=name)
        seconds.plot(rows, measured[1] * rows / rows[1], color=colour, ls=":", lw=1)
    for name, colour in (("prepare", BLUE), ("fit", PURPLE), ("vectors", GREY)):
        memory.plot(rows, report["gigabytes"][name], color=colour, marker="o", ms=4, lw=1.4, label=name)
    seconds.set(ylabel="seconds (dots: in proportion to rows)")
    memory.set(ylabel="peak of anonymous memory, GB")
    for axis in (seconds, memory):
        axis.set(xlabel="rows", xscale="log", yscale="log", xticks=rows)
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 1e6:,.0f}M"))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.grid(color=PALE)
        axis.legend()
    return figure


# New users and items


def newcomers() -> Figure:
    """Draw which vectors fold_in, update and fit compute."""
    figure, axes = plt.subplots(1, 3, figsize=(8.6, 3.5), layout="constrained")
    new = {"users": {5}, "items": {7}}
    kinds = (
        ("fold_in", {5}, set(), "the vector of one new user;\nthe model does not change"),
        ("update", {1, 5}, {2, 4, 7}, "users and items of the new data;\nno other vector changes"),
        ("fit", set(range(6)), set(range(8)), "all vectors,\nby default in 8 epochs"),
    )
    for axis, (name, users, items, text) in zip(axes, kinds, strict=True):
        _both_sides(axis, users, items, new if name != "fold_in" else {"users": {5}, "items": set()})
        axis.set_title(name, weight="bold", family="monospace")
        axis.text(4, 6.5, text, ha="center", va="top", linespacing=1.4)
    return figure


def _both_sides(axis: Axes, users: set[int], items: set[int], new: dict[str, set[int]]) -> None:
    """Draw users' vectors at the left, items' vectors on top, new pairs between; computed ones in colour."""
    pairs = {(1, 2), (1, 7), (5, 4), (5, 2)} if items else {(5, 2), (5, 4)}
    n_items = 8 if new["items"] else 7
    for place in np.ndindex(6, n_items):
        _cell(axis, *place, INK if place in pairs else PALE, alpha=0.6 if place in pairs else 1)
    for user in range(6):
        colour = BLUE if user in users else "#d3d7dd"
        _cell(axis, user, -1.9, colour, width=1.5, hatch="///" if user in new["users"] else None)
    for item in range(n_items):
        colour = BLUE if item in items else "#d3d7dd"
        _cell(axis, -1.9, item, colour, height=1.5, hatch="///" if item in new["items"] else None)
    axis.text(-1.15, -0.35, "users", ha="center", va="bottom", color=GREY)
    axis.text(4, -2.1, "items", ha="center", va="bottom", color=GREY)
    axis.set(xlim=(-2.3, 8.3), ylim=(8.4, -3.0), aspect="equal")
    axis.axis("off")


# Cells


def _matrix(axis: Axes, rows: int, columns: int, *, top: float, bottom: float) -> None:
    """Draw a grid of pale cells, first row on top, and hide the axes."""
    for row, column in np.ndindex(rows, columns):
        _cell(axis, row, column, PALE)
    axis.set(xlim=(-0.8, columns + 0.3), ylim=(bottom, top), aspect="equal")
    axis.axis("off")


def _cell(
    axis: Axes, row: float, column: float, colour: str, *, width: float = 1, height: float = 1, **options: Any
) -> None:
    box = Rectangle((column, row), width, height, facecolor=colour, edgecolor="white", lw=1.5, **options)
    axis.add_patch(box)


if __name__ == "__main__":
    main()
