"""Panels, their axes and their legend."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2, sqrt
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

from ..grid import IALS_NAME
from .styles import DASHED, GREY, INK, MARKERS, PALE, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.0  # inches: what an A4 page leaves between its margins
WIDE = {"x": 40, "y": 400}  # limits so many times apart have enough ticks at powers of ten
LEAST_SPAN = 0.05
NAME_WIDTH, NAME_LINES = 28, 3

BESIDE: dict[str, Any] = {"loc": "outside right upper"}  # a legend
BELOW: dict[str, Any] = {"loc": "outside lower center", "ncols": 3}
LEVEL = {"color": INK, "linestyle": DASHED[0]}  # SpectralCG over block sizes, in a legend
STRIP = {"color": PALE, "linestyle": "none", "marker": "s", "markersize": 9, "markeredgecolor": GREY}

Entry = tuple[str, dict[str, Any]]  # of a legend: a label and the keywords of its line


def panels(rows: int, columns: int, height: float, **share: Any) -> tuple[Figure, list[Axes]]:
    """A figure of the page's width, and its panels row by row; `height` is one row's, in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, rows * height + 0.6), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False, **share).flat)


def sizes_axis(axes: Axes, sizes: Sequence[int], most: int) -> None:
    """Let x be logarithmic with ticks at sizes that were measured, about `most` of them."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(_thinned(sorted(set(sizes)), most)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(_plain))


def _thinned(sizes: list[int], most: int) -> list[int]:
    """The first, and then each that is far enough from the one before on a logarithmic axis."""
    apart = log2(sizes[-1] / sizes[0]) / most
    apart = ceil(apart) if apart > 1 else apart  # of powers of two every second, third, ...
    shown = sizes[:1]
    for size in sizes[1:]:
        if log2(size / shown[-1]) >= apart:
            shown.append(size)
    return shown


def seconds_axis(panels: Sequence[Axes], which: Literal["x", "y"]) -> None:
    """Let x or y be logarithmic, alike in all panels, with ticks at powers of ten or 1, 2, 5, 10, ..."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    intervals = [getattr(axes.dataLim, f"interval{which}") for axes in panels]
    drawn = [(low, high) for low, high in intervals if low <= high]  # not so where a panel is empty
    ends = [end for interval in drawn for end in interval] or [1.0]
    low, high = _wide_enough(min(ends), max(ends))
    steps = (1.0,) if high / low > WIDE[which] else (1.0, 2.0, 5.0)
    for axes in panels:
        axes.set(**{f"{which}scale": "log", f"{which}lim": (low, high)})
        axis = axes.xaxis if which == "x" else axes.yaxis
        axis.set_major_locator(LogLocator(subs=steps))
        axis.set_major_formatter(FuncFormatter(_plain))
        axis.set_minor_formatter(NullFormatter())


def _wide_enough(low: float, high: float) -> tuple[float, float]:
    """Limits with some room at both ends, a factor of ten apart at least."""
    room = max((high / low) ** 0.05, sqrt(10 * low / high))
    return low / room, high * room


def _plain(value: float, _: object) -> str:
    """0.001 and 2048, not 10 to the power of something."""
    return f"{value:.9f}".rstrip("0").rstrip(".") if value < 1 else f"{value:.0f}"


def epochs_axis(axes: Axes, epochs: int) -> None:
    """Let x have ticks at the first epoch and every quarter."""
    quarter = ceil(epochs / 4)
    axes.set_xticks(sorted({1, *range(quarter, epochs + 1, quarter)}))


def honest_height(axes: Axes) -> None:
    """Let y span a twentieth of its values at least, so that noise is not blown up."""
    low, high = axes.get_ylim()
    missing = LEAST_SPAN * abs(low + high) / 2 - (high - low)
    if missing > 0:
        axes.set_ylim(low - missing / 2, high + missing / 2)


def strip(axes: Axes, sizes: Sequence[int]) -> float:
    """Shade a strip right of the largest size, for what has no block size, and return the middle of it."""
    first, last = min(sizes), max(sizes)
    octaves = max(log2(last / first), 4) / 10
    left, middle, right = (last * 2 ** (times * octaves) for times in (0.6, 1.3, 2.0))
    axes.axvspan(left, right, color=PALE, lw=0)
    axes.set_xlim(first / 2 ** (octaves / 2), right)
    return middle


def legend(figure: Figure, entries: Sequence[Entry], names: Sequence[str], place: dict[str, Any]) -> None:
    """What the lines are and, of several runs, which is which; `place` is BESIDE or BELOW."""
    from matplotlib.lines import Line2D

    run = Look(INK, MARKERS[IALS_NAME])
    runs = [(shown(name), run.line(i)) for i, name in enumerate(names)] if len(names) > 1 else []
    labels, lines = zip(*entries, *runs, strict=True)
    made = figure.legend([Line2D([], [], **line) for line in lines], [""] * len(lines), **place)
    for text, label in zip(made.get_texts(), labels, strict=True):
        text.set_text(label)  # only now: matplotlib leaves out what begins with an underscore


def shown(name: str) -> str:
    """A run's name as it can stand in a legend and in XML."""
    clean = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in name)
    return fill(clean, NAME_WIDTH, max_lines=NAME_LINES, placeholder="\N{HORIZONTAL ELLIPSIS}")
