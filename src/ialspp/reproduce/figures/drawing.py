"""The paper's figures, drawn from what was measured; several runs are laid over each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING

from ..complexity import PAPER_BLOCKS
from ..grid import SPECTRAL_NAME, Configuration
from ..run import Run, metric_label
from .axes import (
    BELOW,
    BESIDE,
    LEVEL,
    STRIP,
    epochs_axis,
    honest_height,
    legend,
    panels,
    seconds_axis,
    sizes_axis,
    strip,
)
from .captions import TITLES, caption
from .lines import (
    PAPER_DIMS,
    blocks_of,
    dims_of,
    entries_over_blocks,
    few,
    few_blocks,
    of_paper,
    points,
    solver_lines,
    solvers_of,
    staggered,
    through_blocks,
)
from .styles import NOT_IN_PAPER, Look, dim_looks, style
from .svg import svg_element

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure for a page."""

    title: str
    caption: str
    svg: str  # an element whose ids begin with the figure's key


def pictures(runs: Sequence[Run]) -> dict[str, Picture]:
    """Each of `figures` with its title and caption."""
    return {
        key: Picture(TITLES[key], caption(key, runs), svg_element(figure, key, TITLES[key]))
        for key, figure in figures(runs).items()
    }


def figures(runs: Sequence[Run]) -> dict[str, Figure]:
    """By key: figure-1a, figure-1b, figure-2, figure-3, figure-4; without those nothing was measured for."""
    drawn: dict[str, Figure] = {}
    timed = [each for run in runs for each in run.timed()]
    trained = [each for run in runs for each in run.trained()]
    with style():
        if timed:
            drawn["figure-1a"] = _time_over_dims(runs, timed)
            drawn["figure-1b"] = _time_over_blocks(runs, timed)
        if trained:
            drawn["figure-2"] = _quality_over_blocks(runs, trained)
            drawn["figure-3"] = _quality_over_epochs(runs)
            drawn["figure-4"] = _quality_over_time(runs)
    return drawn


# Figure 1


def _time_over_dims(runs: Sequence[Run], timed: Sequence[Configuration]) -> Figure:
    figure, [axes] = panels(1, 1, 3.0)
    lines = solver_lines(timed, of_paper(blocks_of(timed), PAPER_BLOCKS))
    for (number, run), line in product(enumerate(runs), lines):
        seconds = run.over_dims(line.solver, line.block)
        axes.plot(*points(seconds), label=line.label, **line.look.line(number))
    sizes_axis(axes, dims_of(timed), most=14)
    seconds_axis([axes], "y")
    axes.set(xlabel="embedding dimension d", ylabel="seconds per epoch")
    legend(figure, [(line.label, line.look.line()) for line in lines], _names(runs), BESIDE)
    return figure


def _time_over_blocks(runs: Sequence[Run], timed: Sequence[Configuration]) -> Figure:
    looks, alone = dim_looks(dims_of(timed)), len(runs) == 1
    figure, by_dim = _panel_for_all(looks) if alone else _panel_for_each(looks)
    for number, run in enumerate(runs):
        for dim in run.timed_dims():
            through_blocks(by_dim[dim], dim, run.over_blocks(dim), looks[dim], number)
            _level(by_dim[dim], dim, run.seconds(dim, None), looks[dim], number)
    for dim, axes in by_dim.items():
        drawn = [each for each in timed if alone or each.dim == dim]
        sizes_axis(axes, _sizes(drawn), most=14 if alone else 4)
    seconds_axis(figure.axes, "y")
    own = [(NOT_IN_PAPER, LEVEL)] if SPECTRAL_NAME in solvers_of(timed) else []
    entries = entries_over_blocks(looks if alone else {}, timed)
    legend(figure, [*entries, *own], _names(runs), BESIDE if alone else BELOW)
    return figure


def _panel_for_all(dims: Mapping[int, Look]) -> tuple[Figure, dict[int, Axes]]:
    figure, [axes] = panels(1, 1, 3.4)
    axes.set(xlabel="block size", ylabel="seconds per epoch")
    return figure, dict.fromkeys(dims, axes)


def _panel_for_each(dims: Mapping[int, Look]) -> tuple[Figure, dict[int, Axes]]:
    columns = min(3, len(dims))
    figure, own = panels(-(-len(dims) // columns), columns, 2.0, sharey=True)
    for axes in own[len(dims) :]:
        axes.remove()
    by_dim = dict(zip(dims, own, strict=False))
    for dim, axes in by_dim.items():
        axes.set(title=f"d = {dim}", xlabel="block size")
    for axes in own[: len(dims) : columns]:
        axes.set_ylabel("seconds per epoch")
    return figure, by_dim


def _level(axes: Axes, dim: int, seconds: float | None, look: Look, run: int) -> None:
    """SpectralCG, which has no block size."""
    if seconds is not None:
        line = replace(look, dashed=True).line(run)
        axes.plot([1, dim], [seconds, seconds], label=f"{NOT_IN_PAPER}, d = {dim}", markevery=[0], **line)


def _sizes(measured: Sequence[Configuration]) -> list[int]:
    """Block sizes from 1 to the largest d, whether its ends were measured or not."""
    return [1, *blocks_of(measured), *dims_of(measured)]


# Figure 2


def _quality_over_blocks(runs: Sequence[Run], trained: Sequence[Configuration]) -> Figure:
    looks, alone = dim_looks(dims_of(trained)), len(runs) == 1
    metrics = list(dict.fromkeys(metric for run in runs for metric in run.settings.metrics))
    rows = [list(looks)] if alone else [[dim] for dim in looks]
    own = [(NOT_IN_PAPER, STRIP)] if SPECTRAL_NAME in solvers_of(trained) else []
    figure, all_axes = panels(len(rows), len(metrics), 2.5 if alone else 1.3, sharex=True)
    for axes, (dims, metric) in zip(all_axes, product(rows, metrics), strict=True):
        axes.set_title(metric_label(metric) + ("" if alone else f", d = {dims[0]}"), loc="left")
        sizes_axis(axes, _sizes(trained), most=4)
        right = strip(axes, _sizes(trained)) if own else 0.0
        for (number, run), dim in product(enumerate(runs), dims):
            if metric in run.settings.metrics:
                final = {each.block: run.final(metric, each) for each in run.trained() if each.dim == dim}
                _final_quality(axes, dim, final, right, looks[dim], number)
        honest_height(axes)
    for axes in all_axes[-len(metrics) :]:
        axes.set_xlabel("block size")
    entries = entries_over_blocks(looks if alone else {}, trained)
    legend(figure, [*entries, *own], _names(runs), BELOW)
    return figure


def _final_quality(
    axes: Axes, dim: int, final: Mapping[int | None, list[float]], right: float, look: Look, run: int
) -> None:
    """The mean over seeds, with bars to the lowest and the highest; SpectralCG stands at `right`."""
    means = {block: fmean(values) for block, values in final.items()}
    through_blocks(axes, dim, {b: mean for b, mean in means.items() if b is not None}, look, run)
    if None in means:
        axes.plot([right], [means[None]], label=f"{NOT_IN_PAPER}, d = {dim}", **look.line(run))
    places = [right if block is None else block for block in final]
    lowest, highest = [min(values) for values in final.values()], [max(values) for values in final.values()]
    axes.vlines(places, lowest, highest, color=look.colour, linewidth=0.8, zorder=1.5)


# Figures 3 and 4


def _quality_over_epochs(runs: Sequence[Run]) -> Figure:
    figure = _quality_over(runs, lambda run, each: range(1, len(run.elapsed(each)) + 1))
    for axes in figure.axes:
        epochs_axis(axes, max(run.settings.epochs for run in runs))
        axes.set_xlabel("epochs")
    return figure


def _quality_over_time(runs: Sequence[Run]) -> Figure:
    figure = _quality_over(runs, Run.elapsed)
    for axes in figure.axes:
        seconds_axis([axes], "x")
        axes.set_xlabel("seconds of training")
    return figure


def _quality_over(runs: Sequence[Run], progress: Callable[[Run, Configuration], Sequence[float]]) -> Figure:
    """The main metric of the first run that has one, a panel for each d; `progress` says what x is."""
    metric = next(run.main_metric for run in runs if run.trainings)
    known = [
        (i, run, each)
        for i, run in enumerate(runs)
        if metric in run.settings.metrics
        for each in run.trained()
    ]
    dims = few(of_paper(dims_of(each for *_, each in known), PAPER_DIMS))
    drawn = [each for *_, each in known if each.dim in dims]
    lines = solver_lines(drawn, few_blocks(drawn))
    figure, own = panels(1, len(dims), 2.5, sharey=True)
    for axes, dim in zip(own, dims, strict=True):
        axes.set_title(f"d = {dim}")
        for (place, line), (number, run, each) in product(enumerate(lines), known):
            if each.dim == dim and line.follows(each):
                curve = run.curve(metric, each)
                look = {**line.look.line(number), "markevery": staggered(len(curve), place)}
                axes.plot(progress(run, each), curve, label=line.label, **look)
    own[0].set_ylabel(metric_label(metric))
    legend(figure, [(line.label, line.look.line()) for line in lines], _names(runs), BELOW)
    return figure


def _names(runs: Sequence[Run]) -> list[str]:
    return [run.name for run in runs]
