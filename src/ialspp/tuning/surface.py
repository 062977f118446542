"""The best settings on a surface of second order through the scores of the trials.

Scores over the logarithms of alpha0 and lambda are shaped like a cap, often with a ridge, along which more of
one makes up for less of the other. TPE sees one setting at a time and finds ridges slowly; a few trials are
enough for a paraboloid. Trials with another d have another height, but much the same shape.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .planning import Stage
from .settings import Trial, done
from .space import Space, rounded

NEAR = 0.03  # trials lose weight with the share of the best score that they lack: e-fold at this share
LEAST = 0.02  # weight of the worst trials, which say where not to look
FADING = 0.5  # weight of trials with half the d, or twice the d
CANDIDATES = 4096
RIDGE = 1e-3

Doubles = NDArray[np.float64]


def surface_best(stage: Stage) -> dict[str, Any] | None:
    """Return the settings in the space of a stage at which the surface is highest; None: too few trials."""
    names = list(stage.space.ranges)
    trials = [trial for trial in done(stage.known, "search", "polish") if _has(stage, trial)]
    terms = 1 + len(names) + len(names) * (len(names) + 1) // 2
    if len(trials) < terms + 1:
        return None
    places = np.array([_place(stage.space, trial) for trial in trials])
    heights, weights = _levelled(trials, stage.dim)
    columns = _terms(places)
    dims = np.array([trial.settings.dim for trial in trials])
    offsets = [
        dims == dim for dim in sorted(set(dims.tolist()))[1:]
    ]  # beside the constant, which is the first
    columns = np.column_stack([columns, *offsets]) if offsets else columns
    roots = np.sqrt(weights)[:, None]
    penalty = np.sqrt(RIDGE) * np.eye(columns.shape[1])
    penalty[0, 0] = 0
    matrix = np.vstack([roots * columns, penalty])
    found = np.linalg.lstsq(
        matrix, np.concatenate([roots[:, 0] * heights, np.zeros(len(penalty))]), rcond=None
    )
    candidates = _candidates(len(names))
    best = candidates[int(np.argmax(_terms(candidates) @ found[0][:terms]))]
    values = {
        name: rounded(stage.space.ranges[name].at(share)) for name, share in zip(names, best, strict=True)
    }
    return {**values, **{name: getattr(_best(trials).settings, name) for name in stage.space.choices}}


def _has(stage: Stage, trial: Trial) -> bool:
    """Tell whether a trial has the choices of the best one, since others have surfaces of their own."""
    best = _best(done(stage.tried, "search", "polish") or done(stage.known, "search", "polish"))
    return all(getattr(trial.settings, name) == getattr(best.settings, name) for name in stage.space.choices)


def _best(trials: list[Trial]) -> Trial:
    return max(trials, key=lambda trial: (trial.score, -trial.number))


def _place(space: Space, trial: Trial) -> list[float]:
    """Return where a trial lies in the space: from 0 to 1 in each range, or outside."""
    return [part.share(getattr(trial.settings, name)) for name, part in space.ranges.items()]


def _levelled(trials: list[Trial], dim: int) -> tuple[Doubles, Doubles]:
    """Return what each trial lacks to the best of its d, as a share, and how much it counts."""
    best: dict[int, float] = {}
    for trial in trials:
        best[trial.settings.dim] = max(trial.score, best.get(trial.settings.dim, trial.score))
    heights = np.array([trial.score / (best[trial.settings.dim] or 1.0) - 1 for trial in trials])
    distances = np.abs(np.log2([trial.settings.dim / dim for trial in trials]))
    return heights, np.maximum(np.exp(heights / NEAR), LEAST) * FADING**distances


def _terms(places: Doubles) -> Doubles:
    """Return the columns 1, x, y, ..., and all products of two."""
    n = places.shape[1]
    products = [places[:, i] * places[:, j] for i in range(n) for j in range(i, n)]
    return np.column_stack([np.ones(len(places)), places, *products])


def _candidates(dimensions: int) -> Doubles:
    """Return points that fill the space, always the same ones."""
    return np.random.default_rng(0).random((CANDIDATES, dimensions))
