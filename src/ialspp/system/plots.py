"""Plots of losses and scores. matplotlib is an extra, imported when something is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_losses(
    epochs: Sequence[int], loss: Sequence[float], parts: Mapping[str, Sequence[float]], ax: Axes | None
) -> Axes:
    """Draw a loss and its parts, epoch by epoch."""
    axes = _axes(ax)
    axes.plot(epochs, loss, color="C0", linewidth=2, marker=".", label="loss")
    for number, (name, values) in enumerate(parts.items(), start=1):
        axes.plot(epochs, values, color=f"C{number}", linewidth=1, linestyle="--", label=name)
    axes.set(xlabel="epoch", ylabel="loss", ylim=(0, None))
    axes.set_xticks(epochs[:: len(epochs) // 16 + 1])
    axes.legend(frameon=False)
    return axes


def draw_scores(scores: Mapping[str, tuple[float, float]], title: str, ax: Axes | None) -> Axes:
    """Draw means with their standard errors, which may be NaN, as horizontal bars."""
    axes = _axes(ax)
    names = list(scores)
    means, errors = ([pair[index] for pair in scores.values()] for index in (0, 1))
    axes.barh(names, means, xerr=errors, color="C0", capsize=3)
    axes.invert_yaxis()  # the first metric on top
    axes.set(title=title, xlim=(0, None))
    return axes


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("plots need matplotlib: pip install 'ialspp[plots]'") from error
    return plt.subplots(layout="constrained")[1]
