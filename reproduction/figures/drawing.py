"""The paper's figures, drawn from what was measured."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from statistics import fmean
from typing import TYPE_CHECKING

from ..complexity import PAPER_BLOCKS
from ..grid import SPECTRAL, Configuration
from ..run import Run, metric_label
from .axes import (
    BELOW,
    BESIDE,
    add_legend,
    panels,
    shade_strip,
    use_epoch_axis,
    use_seconds_axis,
    use_size_axis,
    widen_flat_axis,
)
from .captions import TITLES, caption
from .lines import (
    blocks_of,
    dims_of,
    entries_over_blocks,
    few,
    few_blocks,
    plot_over_blocks,
    prefer_paper,
    solver_lines,
    solvers_of,
    staggered,
)
from .styles import DASHES, GREY, INK, NOT_IN_PAPER, PALE, VIOLET_TO_OCHRE, Look, looks, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPER_DIMS = (128, 512, 2048)  # where the paper draws quality after each epoch
LEVEL = {"color": INK, "linestyle": DASHES}  # SpectralCG over block sizes, in a legend
STRIP = {"color": PALE, "linestyle": "none", "marker": "s", "markersize": 9, "markeredgecolor": GREY}


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure for a page: an SVG as an address that an `<img>` can show."""

    title: str
    caption: str
    address: str


def pictures(run: Run) -> dict[str, Picture]:
    """Draw each of `figures`, with its title and caption."""
    return {
        key: Picture(TITLES[key], caption(key, run), _address(figure)) for key, figure in figures(run).items()
    }


def _address(figure: Figure) -> str:
    """Embed the figure; the same figure gives the same bytes."""
    file = BytesIO()
    with style():
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return f"data:image/svg+xml;base64,{b64encode(file.getvalue()).decode()}"


def figures(run: Run) -> dict[str, Figure]:
    """Draw figure-1a, figure-1b, figure-2, figure-3 and figure-4, except where nothing was measured."""
    drawn: dict[str, Figure] = {}
    with style():
        if run.timed():
            drawn["figure-1a"] = _time_over_dims(run)
            drawn["figure-1b"] = _time_over_blocks(run)
        if run.trained():
            drawn["figure-2"] = _quality_over_blocks(run)
            drawn["figure-3"] = _quality_over_epochs(run)
            drawn["figure-4"] = _quality_over_time(run)
    return drawn


def _time_over_dims(run: Run) -> Figure:
    figure, [axes] = panels(1, 3.0)
    lines = solver_lines(run.timed(), prefer_paper(blocks_of(run.timed()), PAPER_BLOCKS))
    for line in lines:
        own = run.timed_with(line.solver, line.block)
        axes.plot([c.dim for c in own], list(map(run.known_seconds, own)), label=line.label, **line.look.line)
    use_size_axis(axes, dims_of(run.timed()), most=14)
    use_seconds_axis(axes, "y")
    axes.set(xlabel="embedding dimension d", ylabel="seconds per epoch")
    add_legend(figure, [(line.label, line.look.line) for line in lines], BESIDE)
    return figure


def _time_over_blocks(run: Run) -> Figure:
    by_dim = looks(VIOLET_TO_OCHRE, run.timed_dims())
    figure, [axes] = panels(1, 3.4)
    for dim, look in by_dim.items():
        plot_over_blocks(axes, dim, run.over_blocks(dim), look)
        spectral = run.seconds(Configuration(dim, None))
        if spectral is not None:
            level = replace(look, dashed=True).line
            label = f"{NOT_IN_PAPER}, d = {dim}"
            axes.plot([1, dim], [spectral, spectral], label=label, markevery=[0], **level)
    use_size_axis(axes, _sizes(run.timed()), most=14)
    use_seconds_axis(axes, "y")
    axes.set(xlabel="block size", ylabel="seconds per epoch")
    level = [(NOT_IN_PAPER, LEVEL)] if SPECTRAL in solvers_of(run.timed()) else []
    add_legend(figure, [*entries_over_blocks(by_dim, run.timed()), *level], BESIDE)
    return figure


def _sizes(measured: Sequence[Configuration]) -> list[int]:
    """List the block sizes from 1 to the largest d, whether or not those two were measured."""
    return [1, *blocks_of(measured), *dims_of(measured)]


def _quality_over_blocks(run: Run) -> Figure:
    trained, by_dim = run.trained(), looks(VIOLET_TO_OCHRE, run.trained_dims())
    strip = [(NOT_IN_PAPER, STRIP)] if SPECTRAL in solvers_of(trained) else []
    figure, own = panels(len(run.settings.metrics), 2.5, sharex=True)
    for axes, metric in zip(own, run.settings.metrics, strict=True):
        axes.set_title(metric_label(metric), loc="left")
        use_size_axis(axes, _sizes(trained), most=4)
        right = shade_strip(axes, _sizes(trained)) if strip else 0.0
        for dim, look in by_dim.items():
            final = {each.block: run.final(metric, each) for each in trained if each.dim == dim}
            _plot_final(axes, dim, final, right, look)
        widen_flat_axis(axes)
        axes.set_xlabel("block size")
    add_legend(figure, [*entries_over_blocks(by_dim, trained), *strip], BELOW)
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
    lowest, highest = [min(values) for values in final.values()], [max(values) for values in final.values()]
    axes.vlines(places, lowest, highest, color=look.colour, linewidth=0.8, zorder=1.5)


def _quality_over_epochs(run: Run) -> Figure:
    figure = _quality_over(run, lambda each: range(1, len(run.elapsed(each)) + 1))
    for axes in figure.axes:
        use_epoch_axis(axes, run.settings.epochs)
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
    dims = few(prefer_paper(run.trained_dims(), PAPER_DIMS))
    drawn = [each for each in run.trained() if each.dim in dims]
    lines = solver_lines(drawn, few_blocks(drawn))
    figure, own = panels(len(dims), 2.5, sharey=True)
    for axes, dim in zip(own, dims, strict=True):
        axes.set_title(f"d = {dim}")
        for place, line in enumerate(lines):
            for each in (c for c in drawn if c.dim == dim and line.follows(c)):
                values = run.quality_by_epoch(run.main_metric, each)
                look = {**line.look.line, "markevery": staggered(len(values), place)}
                axes.plot(progress(each), values, label=line.label, **look)
    own[0].set_ylabel(metric_label(run.main_metric))
    add_legend(figure, [(line.label, line.look.line) for line in lines], BELOW)
    return figure
