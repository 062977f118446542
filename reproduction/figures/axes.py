"""Panels, axes and legends."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2, sqrt
from typing import TYPE_CHECKING, Any, Literal

from .styles import PALE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.0  # inches: an A4 page without its margins
WIDE = {"x": 40, "y": 400}  # limits so many times apart have enough ticks at powers of ten
LEAST_SPAN = 0.05

Entry = tuple[str, dict[str, Any]]  # of a legend: a label and the keywords of its line


def panels(columns: int, height: float, **share: Any) -> tuple[Figure, list[Axes]]:
    """Make a figure of the page's width with a row of panels; `height` is in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height + 0.6), layout="constrained")
    return figure, list(figure.subplots(1, columns, squeeze=False, **share).flat)


def use_size_axis(axes: Axes, sizes: Sequence[int], most: int) -> None:
    """Make x logarithmic with ticks at measured sizes, about `most` of them."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    ascending = sorted(set(sizes))
    apart = log2(ascending[-1] / ascending[0]) / most
    apart = ceil(apart) if apart > 1 else apart  # every second, third, ... power of two
    ticks = ascending[:1]
    for size in ascending[1:]:
        if log2(size / ticks[-1]) >= apart:
            ticks.append(size)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(_plain))


def use_seconds_axis(axes: Axes, which: Literal["x", "y"]) -> None:
    """Make x or y logarithmic, with ticks at powers of ten or at 1, 2, 5, 10, ..."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = getattr(axes.dataLim, f"interval{which}")
    room = max((high / low) ** 0.05, sqrt(10 * low / high))  # the limits are a factor of ten apart at least
    low, high = low / room, high * room
    axes.set(**{f"{which}scale": "log", f"{which}lim": (low, high)})
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(LogLocator(subs=(1.0,) if high / low > WIDE[which] else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(_plain))
    axis.set_minor_formatter(NullFormatter())


def _plain(value: float, _: object) -> str:
    """Write 0.001 and 2048, not powers of ten."""
    return f"{value:.9f}".rstrip("0").rstrip(".") if value < 1 else f"{value:.0f}"


def widen_flat_axis(axes: Axes) -> None:
    """Make y span at least a twentieth of its values, so that noise does not look large."""
    low, high = axes.get_ylim()
    missing = LEAST_SPAN * abs(low + high) / 2 - (high - low)
    if missing > 0:
        axes.set_ylim(low - missing / 2, high + missing / 2)


def shade_strip(axes: Axes, sizes: Sequence[int]) -> float:
    """Shade a strip right of the largest size, for SpectralCG, and return the middle of it."""
    first, last = min(sizes), max(sizes)
    octaves = max(log2(last / first), 4) / 10
    left, middle, right = (last * 2 ** (times * octaves) for times in (0.6, 1.3, 2.0))
    axes.axvspan(left, right, color=PALE, lw=0)
    axes.set_xlim(first / 2 ** (octaves / 2), right)
    return middle


def add_legend(figure: Figure, entries: Sequence[Entry], *, beside: bool = False) -> None:
    """Add a legend beside the panels, or below them."""
    from matplotlib.lines import Line2D

    labels, lines = zip(*entries, strict=True)
    handles = [Line2D([], [], **line) for line in lines]
    if beside:
        figure.legend(handles, labels, loc="outside right upper")
    else:
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
