"""The most promising settings on a smooth surface through the scores of the trials: a Gaussian process.

Scores over the logarithms of alpha0 and lambda are shaped like a cap, often with a ridge, along which more of
one makes up for less of the other. TPE looks at one setting at a time and finds ridges slowly. Trials with
another d have another height, but much the same shape, so they count too, less the further their d is.

A height is what a trial lacks to the best one of its d or a smaller one, as a share. With K the kernel
between trials and k that to a candidate,

    mean = m + k' (K + N)^-1 (heights - m),    variance = s^2 - k' (K + N)^-1 k

and the candidate with the largest mean + sqrt(variance) is proposed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .planning import Stage
from .settings import FAILED, Trial, best, done
from .space import Space, rounded

PRIOR = -0.04  # m: where nothing was tried, a trial is expected to lack this much
DEVIATION = 0.03  # s
DEEPEST = -0.15  # trials that lack more are taken to lack this: a cliff must not bend the surface elsewhere
LENGTH = 0.4  # of the kernel, in decades of a setting on a log scale, or of 1 on a linear scale
NOISE = 0.001  # of a score, as a share
DISTANT = 0.006  # more noise for each doubling between the d of a trial and that of the stage
FEWEST = 4  # trials
CANDIDATES = 4096

Doubles = NDArray[np.float64]


def surface_best(stage: Stage) -> dict[str, Any] | None:
    """Return the most promising settings in the space of a stage; None: too few trials."""
    top = best(done(stage.tried, "search", "polish")) or best(done(stage.known, "search", "polish"))
    if top is None:
        return None
    chosen = {name: getattr(top.settings, name) for name in stage.space.choices}
    trials = [
        trial
        for trial in done(stage.known, "search", "polish")
        if all(getattr(trial.settings, name) == word for name, word in chosen.items())
    ]
    if len(trials) < FEWEST:
        return None
    ranges = stage.space.ranges
    shares = np.random.default_rng(0).random((CANDIDATES, len(ranges)))
    candidates = {
        name: part.at_each(column) for (name, part), column in zip(ranges.items(), shares.T, strict=True)
    }
    place = int(np.argmax(_promise(stage, trials, candidates)))
    return {**{name: rounded(values[place]) for name, values in candidates.items()}, **chosen}


def _promise(stage: Stage, trials: list[Trial], candidates: dict[str, Doubles]) -> Doubles:
    """Return the mean of the surface plus its standard deviation at each candidate."""
    ranges = stage.space.ranges
    known = {name: np.array([getattr(trial.settings, name) for trial in trials]) for name in ranges}
    tried, wanted = _places(stage.space, known), _places(stage.space, candidates)
    distances = np.abs(np.log2([trial.settings.dim / stage.dim for trial in trials]))
    noise = NOISE**2 + (DISTANT * distances) ** 2
    inverse = np.linalg.inv(_kernel(tried, tried) + np.diag(noise))
    across = _kernel(wanted, tried)
    mean = PRIOR + across @ inverse @ (_heights(trials) - PRIOR)
    variance = DEVIATION**2 - (across @ inverse * across).sum(axis=1)
    return np.asarray(mean + np.sqrt(np.maximum(variance, 0)))


def _places(space: Space, values: dict[str, Doubles]) -> Doubles:
    """Return settings as points: decades on log scales."""
    return np.column_stack(
        [np.log10(values[name]) if part.log else values[name] for name, part in space.ranges.items()]
    )


def _kernel(a: Doubles, b: Doubles) -> Doubles:
    squares = ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)
    return np.asarray(DEVIATION**2 * np.exp(-squares / (2 * LENGTH**2)))


def _heights(trials: list[Trial]) -> Doubles:
    """Return what each trial lacks to the best of its d or a smaller one, as a share of it."""
    highest, so_far = {}, FAILED
    for dim in sorted({trial.settings.dim for trial in trials}):
        so_far = max(so_far, *(trial.score for trial in trials if trial.settings.dim == dim))
        highest[dim] = so_far
    lacking = [trial.score / (highest[trial.settings.dim] or 1.0) - 1 for trial in trials]
    return np.maximum(lacking, DEEPEST)
