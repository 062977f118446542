"""The pictures of a report, each as an SVG in a data address."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from typing import Any

import matplotlib
import numpy as np
import optuna
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .proposing import distributions, observations
from .result import LABELS, Tuning
from .settings import FAILED, Trial, done
from .space import Space

INK, SOFT, ACCENT, PRUNED = "#23211e", "#8a8378", "#0b6e69", "#c8452f"
STYLE: Any = {  # matplotlib lists every name that it may have
    "font.size": 9,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "ialspp",  # the same bytes for the same trials
}
GRID = 60  # points of the map on each axis
WIDTH = 0.35  # of the kernel that fills the map, in decades
FEWEST = 4  # trials for a map or an importance


def pictures(tuned: Tuning) -> dict[str, str]:
    """Draw all pictures that the trials are enough for, by their names."""
    drawn: dict[str, Callable[[Tuning], Figure | None]] = {
        "map": settings_map,
        "dims": over_dims,
        "epochs": over_epochs,
        "importance": importances,
    }
    with matplotlib.rc_context(STYLE):
        figures = {name: draw(tuned) for name, draw in drawn.items()}
        return {name: _address(figure) for name, figure in figures.items() if figure is not None}


def settings_map(tuned: Tuning) -> Figure | None:
    """Draw the scores over alpha0 and lambda, at the first d and at the chosen one."""
    searched = done(tuned.trials, "search", "polish")
    dims = [searched[0].settings.dim, tuned.settings.dim] if searched else []
    shown = [dim for dim in dict.fromkeys(dims) if len(_at(searched, dim)) >= FEWEST]
    if not shown:
        return None
    figure = Figure(figsize=(4.6 * len(shown), 3.6), layout="constrained")
    axes = figure.subplots(1, len(shown), squeeze=False)[0]
    for axis, dim in zip(axes, shown, strict=True):
        _draw_map(figure, axis, _at(searched, dim), tuned)
        axis.set_title(f"d = {dim}", loc="left")
    return figure


def _draw_map(figure: Figure, axis: Any, trials: list[Trial], tuned: Tuning) -> None:
    x = np.log10([trial.settings.unobserved_weight for trial in trials])
    y = np.log10([trial.settings.regularization for trial in trials])
    scores = np.array([trial.score for trial in trials])
    low = max(scores.min(), scores.max() - 4 * (scores.max() - np.median(scores)) - 1e-9)
    grid_x, grid_y = (np.linspace(part.min() - 0.15, part.max() + 0.15, GRID) for part in (x, y))
    levels = np.linspace(low, scores.max() + 1e-9, 12)
    filled = np.clip(_smoothed(x, y, scores, grid_x, grid_y), low, None)
    shade = axis.contourf(10**grid_x, 10**grid_y, filled, levels, cmap="YlGnBu", extend="min", alpha=0.85)
    figure.colorbar(shade, ax=axis, label=tuned.metric)
    pruned = np.array([trial.outcome is not None and trial.outcome.ending == "pruned" for trial in trials])
    axis.plot(10 ** x[~pruned], 10 ** y[~pruned], "o", ms=4, color=INK, mec="white", label="trial")
    if pruned.any():
        axis.plot(10 ** x[pruned], 10 ** y[pruned], "x", ms=5, color=PRUNED, label="pruned")
    best = int(np.argmax(scores))
    axis.plot(10 ** x[best], 10 ** y[best], "*", ms=13, color="#d99a14", mec=INK, label="best")
    axis.set(xscale="log", yscale="log", xlabel="alpha0", ylabel="lambda")
    axis.legend(loc="lower left", fontsize=8)


def _smoothed(
    x: NDArray[Any], y: NDArray[Any], scores: NDArray[Any], grid_x: NDArray[Any], grid_y: NDArray[Any]
) -> NDArray[Any]:
    """Average the scores of trials near each point of the grid, with a Gaussian kernel."""
    squares = (grid_x[None, :, None] - x) ** 2 + (grid_y[:, None, None] - y) ** 2
    nearest = squares.min(axis=2, keepdims=True)  # so that far from all trials the nearest one counts
    weights = np.exp(-(squares - nearest) / (2 * WIDTH**2))
    return np.asarray((weights * scores).sum(axis=2) / weights.sum(axis=2))


def over_dims(tuned: Tuning) -> Figure | None:
    """Draw the best score of each d, and the seconds of a training."""
    searched = done(tuned.trials, "search", "polish")
    dims = sorted({trial.settings.dim for trial in searched})
    if not dims:
        return None
    figure = Figure(figsize=(4.6, 3.2), layout="constrained")
    axis = figure.subplots()
    other = axis.twinx()
    seconds = [np.mean([trial.seconds for trial in _at(searched, dim)]) for dim in dims]
    other.bar(range(len(dims)), seconds, width=0.5, color="#e4dfd5")
    other.set_ylabel("seconds of a training", color=SOFT)
    axis.plot(
        range(len(dims)), [max(t.score for t in _at(searched, dim)) for dim in dims], "o-", color=ACCENT
    )
    axis.set_zorder(other.get_zorder() + 1)
    axis.patch.set_visible(False)
    axis.set_xticks(range(len(dims)), [str(dim) for dim in dims])
    axis.set(xlabel="d", ylabel=f"best {tuned.metric}")
    return figure


def over_epochs(tuned: Tuning) -> Figure | None:
    """Draw the scores of every training after each epoch."""
    trials = [trial for trial in tuned.trials if trial.kind != "repeat" and trial.score > FAILED]
    if not trials:
        return None
    figure = Figure(figsize=(4.6, 3.2), layout="constrained")
    axis = figure.subplots()
    for trial in trials:
        assert trial.outcome is not None
        scores = trial.outcome.scores
        color = PRUNED if trial.outcome.ending == "pruned" else SOFT
        axis.plot(range(1, len(scores) + 1), scores, color=color, lw=0.8, alpha=0.6, marker=".", ms=2)
    chosen = tuned.choice.chosen.trial.outcome
    assert chosen is not None
    axis.plot(range(1, len(chosen.scores) + 1), chosen.scores, color=ACCENT, lw=2, marker="o", ms=4)
    seen = [score for trial in trials if trial.outcome for score in trial.outcome.scores]
    axis.set_ylim(float(np.quantile(seen, 0.1)), max(seen) + 0.02 * (max(seen) - min(seen)) + 1e-6)
    axis.set(xlabel="epoch", ylabel=tuned.metric)
    return figure


def importances(tuned: Tuning) -> Figure | None:
    """Draw how much of the variation of scores each setting explains, at the first d."""
    found = importance_of(tuned)
    if not found:
        return None
    names = sorted(found, key=lambda name: found[name])
    figure = Figure(figsize=(4.6, 0.6 + 0.4 * len(names)), layout="constrained")
    axis = figure.subplots()
    axis.barh([LABELS[name] for name in names], [found[name] for name in names], color=ACCENT)
    axis.set_xlim(0, 1)
    axis.set_xlabel("share of the importance")
    return figure


def importance_of(tuned: Tuning) -> dict[str, float]:
    """Return the importance of each setting by PED-ANOVA, from the trials of the first stage."""
    trials = _at(done(tuned.trials, "search"), tuned.plan.dims[0])
    if len(trials) < 2 * FEWEST or len({trial.score for trial in trials}) < FEWEST:
        return {}
    space = _holding_all(tuned.plan.space, trials)
    study = optuna.create_study(direction="maximize")
    study.add_trials(observations(trials, space))
    evaluator = optuna.importance.PedAnovaImportanceEvaluator(target_quantile=0.25)
    return dict(
        optuna.importance.get_param_importances(study, evaluator=evaluator, params=list(distributions(space)))
    )


def _holding_all(space: Space, trials: list[Trial]) -> Space:
    ranges = {
        name: part.holding(*(getattr(trial.settings, name) for trial in trials))
        for name, part in space.ranges.items()
    }
    return Space(ranges, space.choices)


def _at(trials: list[Trial], dim: int) -> list[Trial]:
    return [trial for trial in trials if trial.settings.dim == dim]


def _address(figure: Figure) -> str:
    """Return the figure as a data address: in an image, its ids and styles touch nothing else."""
    file = io.BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(file.getvalue()).decode()
