"""The paper's figures, drawn from what was measured."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from math import ceil
from statistics import fmean
from typing import TYPE_CHECKING

from ..complexity import PAPER_BLOCKS
from ..grid import SPECTRAL, Configuration
from ..run import Run, metric_label
from . import lines, styles
from .axes import Entry, add_legend, panels, shade_strip, use_seconds_axis, use_size_axis, widen_flat_axis
from .captions import TITLES, caption
from .lines import blocks_of, entries_over_blocks, plot_over_blocks, prefer_paper, solver_lines
from .styles import FONT, NOT_IN_PAPER, VIOLET_TO_OCHRE, Look, looks, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPER_DIMS = (128, 512, 2048)  # where the paper draws quality after each epoch
FONTS = f"'{FONT}', Verdana, Arial, sans-serif"  # of similar widths, where a reader lacks the first
# SpectralCG over block sizes, in a legend.
LEVEL: Entry = NOT_IN_PAPER, {"color": styles.INK, "linestyle": styles.DASHES}
SQUARE = {"linestyle": "none", "marker": "s", "markersize": 9}
STRIP: Entry = NOT_IN_PAPER, {**SQUARE, "color": styles.PALE, "markeredgecolor": styles.GREY}


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure for a page: an SVG as an address that an `<img>` can show."""

    title: str
    caption: str
    address: str


def pictures(run: Run) -> dict[str, Picture]:
    drawn = figures(run)
    return {key: Picture(TITLES[key], caption(key, run), _address(drawn[key])) for key in drawn}


def _address(figure: Figure) -> str:
    """Embed the figure; the same figure gives the same bytes."""
    file = StringIO()
    with style():
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    svg = file.getvalue().replace(f"'{FONT}'", FONTS)
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


def figures(run: Run) -> dict[str, Figure]:
    """Draw figure-1a, figure-1b, figure-2, figure-3 and figure-4, except where nothing was measured."""
    drawn: dict[str, Figure] = {}
    with style():
        if run.timed():
            drawn |= {"figure-1a": _time_over_dims(run), "figure-1b": _time_over_blocks(run)}
        if run.trained():
            drawn["figure-2"] = _quality_over_blocks(run)
            drawn["figure-3"] = _quality_over_epochs(run)
            drawn["figure-4"] = _quality_over_time(run)
    return drawn


def _time_over_dims(run: Run) -> Figure:
    figure, [axes] = panels(1, 3.0)
    drawn_lines = solver_lines(run.timed(), prefer_paper(blocks_of(run.timed()), PAPER_BLOCKS))
    for line in drawn_lines:
        own = run.timed_with(line.solver, line.block)
        axes.plot([c.dim for c in own], list(map(run.known_seconds, own)), label=line.label, **line.look.line)
    use_size_axis(axes, run.timed_dims(), most=14)
    use_seconds_axis(axes, "y")
    axes.set(xlabel="embedding dimension d", ylabel="seconds per epoch")
    add_legend(figure, [(line.label, line.look.line) for line in drawn_lines], beside=True)
    return figure


def _time_over_blocks(run: Run) -> Figure:
    by_dim = looks(VIOLET_TO_OCHRE, run.timed_dims())
    figure, [axes] = panels(1, 3.4)
    for dim, look in by_dim.items():
        plot_over_blocks(axes, dim, run.over_blocks(dim), look)
        spectral = run.seconds(Configuration(dim, None))
        if spectral is not None:
            line = {**replace(look, dashed=True).line, "label": f"{NOT_IN_PAPER}, d = {dim}"}
            axes.plot([1, dim], [spectral, spectral], markevery=[0], **line)
    use_size_axis(axes, _sizes(run.timed()), most=14)
    use_seconds_axis(axes, "y")
    axes.set(xlabel="block size", ylabel="seconds per epoch")
    level = [LEVEL] if SPECTRAL in lines.solvers_of(run.timed()) else []
    add_legend(figure, [*entries_over_blocks(by_dim, run.timed()), *level], beside=True)
    return figure


def _sizes(measured: Sequence[Configuration]) -> list[int]:
    """List the block sizes from 1 to the largest d, whether or not those two were measured."""
    return [1, *blocks_of(measured), *(each.dim for each in measured)]


def _quality_over_blocks(run: Run) -> Figure:
    trained, by_dim = run.trained(), looks(VIOLET_TO_OCHRE, run.trained_dims())
    strip = [STRIP] if SPECTRAL in lines.solvers_of(trained) else []
    figure, own = panels(len(run.settings.metrics), 2.5, sharex=True)
    for axes, metric in zip(own, run.settings.metrics, strict=True):
        use_size_axis(axes, _sizes(trained), most=4)
        right = shade_strip(axes, _sizes(trained)) if strip else 0.0
        for dim, look in by_dim.items():
            final = {each.block: run.final(metric, each) for each in trained if each.dim == dim}
            _plot_final(axes, dim, final, right, look)
        widen_flat_axis(axes)
        axes.set_title(metric_label(metric), loc="left")
        axes.set_xlabel("block size")
    add_legend(figure, [*entries_over_blocks(by_dim, trained), *strip])
    return figure


def _plot_final(
    axes: Axes, dim: int, final: Mapping[int | None, list[float]], right: float, look: Look
) -> None:
    """Plot the mean over seeds, with bars to the lowest and the highest; SpectralCG is at `right`."""
    means = {block: fmean(values) for block, values in final.items()}
    plot_over_blocks(axes, dim, {b: mean for b, mean in means.items() if b is not None}, look)
    if None in means:
        axes.plot([right], [means[None]], label=f"{NOT_IN_PAPER}, d = {dim}", **look.line)
    places = [right if block is None else block for block in final]
    ends = [min(values) for values in final.values()], [max(values) for values in final.values()]
    axes.vlines(places, *ends, color=look.colour, linewidth=0.8, zorder=1.5)


def _quality_over_epochs(run: Run) -> Figure:
    figure = _quality_over(run, lambda each: range(1, len(run.elapsed(each)) + 1))
    quarter = ceil(run.settings.epochs / 4)
    for axes in figure.axes:
        axes.set_xticks(sorted({1, *range(quarter, run.settings.epochs + 1, quarter)}))
        axes.set_xlabel("epochs")
    return figure


def _quality_over_time(run: Run) -> Figure:
    figure = _quality_over(run, run.elapsed)
    for axes in figure.axes:
        use_seconds_axis(axes, "x")
        axes.set_xlabel("seconds of training")
    return figure


def _quality_over(run: Run, progress: Callable[[Configuration], Sequence[float]]) -> Figure:
    """Plot the main metric, one panel for each d; `progress` gives the values of x."""
    dims = lines.few(prefer_paper(run.trained_dims(), PAPER_DIMS))
    drawn = [each for each in run.trained() if each.dim in dims]
    drawn_lines = solver_lines(drawn, lines.few_blocks(drawn, dims))
    figure, own = panels(len(dims), 2.5, sharey=True)
    for axes, dim in zip(own, dims, strict=True):
        axes.set_title(f"d = {dim}")
        for place, line in enumerate(drawn_lines):
            for each in (c for c in drawn if c.dim == dim and line.follows(c)):
                values = run.quality_by_epoch(run.main_metric, each)
                look = {**line.look.line, "markevery": _staggered(len(values), place)}
                axes.plot(progress(each), values, label=line.label, **look)
    own[0].set_ylabel(metric_label(run.main_metric))
    add_legend(figure, [(line.label, line.look.line) for line in drawn_lines])
    return figure


def _staggered(length: int, place: int) -> list[int]:
    """Choose the points of a line that get a marker, so that lines on top of each other all show."""
    step = ceil(length / 6)
    return sorted({0, *range(place % step, length, step)})
