"""Settings to try next: spread evenly at first, then where a surface through the trials promises most.

Every fourth trial is one of Optuna's TPE, which looks elsewhere.

A proposal depends on the trials of its stage and on the seed alone. No state of a random generator is carried
from one to the next, so a search that was interrupted goes on with the trials it would have had.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution

from .planning import Stage
from .settings import Settings, Trial, done
from .space import Range, Space, rounded
from .surface import surface_best

SPREAD = 8  # trials before others learn from them
SPREAD_LATER = 5  # in the narrow space of a larger d
EXPLORING = 4  # of so many trials, one is TPE's
ATTEMPTS = 8  # to find settings that were not tried


def proposal(stage: Stage, seed: int) -> Settings:
    """Propose the settings of the next trial of a stage."""
    number = len(stage.tried)
    start = replace(stage.start, dim=stage.dim)
    if number == 0:
        return start
    tried = {trial.settings for trial in stage.tried}
    values: dict[str, Any] = {}
    for attempt in range(ATTEMPTS):
        values = _values(stage, number, attempt, seed)
        if replace(start, **values) not in tried:
            break
    return replace(start, **values)


def _values(stage: Stage, number: int, attempt: int, seed: int) -> dict[str, Any]:
    """Propose values for the trial of this number; another attempt gives others."""
    is_spread = stage.is_retuned or number < _spread(stage)
    if attempt == 0 and _by_surface(stage, number, is_spread):
        highest = surface_best(stage)
        if highest is not None:
            return highest
    if is_spread:
        shift = float(np.random.default_rng([seed, stage.dim]).random())
        return stage.space.spread(number + attempt * 101, shift)
    generator = np.random.default_rng([seed, stage.dim, number, attempt])
    return _by_tpe(stage, int(generator.integers(2**32)))


def _by_surface(stage: Stage, number: int, is_spread: bool) -> bool:
    """Tell whether the trial of this number is the one that the surface promises most of."""
    if is_spread:  # of a later d, for which the surface knows the trials of smaller ones
        return number % 2 == 1 and _is_later(stage)
    return number % EXPLORING != 0


def _is_later(stage: Stage) -> bool:
    return stage.dim > min(trial.settings.dim for trial in stage.known)


def _spread(stage: Stage) -> int:
    """Return how many trials of a stage are spread evenly: enough for every choice."""
    if stage.kind == "polish":
        return 0
    choices = max((len(words) for words in stage.space.choices.values()), default=1)
    if _is_later(stage):
        return SPREAD_LATER
    return max(SPREAD, 3 * choices if choices > 1 else 0)


def _by_tpe(stage: Stage, seed: int) -> dict[str, Any]:
    """Let TPE propose, from the trials of the stage that have a score and lie in its space."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(n_startup_trials=0, seed=seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    ranges = distributions(stage.space)
    study.add_trials(observations(done(stage.tried, "search", "polish"), stage.space))
    found = study.ask(ranges).params
    return {name: rounded(value) if isinstance(value, float) else value for name, value in found.items()}


def observations(trials: list[Trial], space: Space) -> list[optuna.trial.FrozenTrial]:
    """Return trials as Optuna's, those that lie in the space."""
    ranges = distributions(space)
    found = []
    for trial in trials:
        values = {name: getattr(trial.settings, name) for name in ranges}
        if all(_contains(space, name, value) for name, value in values.items()):
            found.append(optuna.trial.create_trial(params=values, distributions=ranges, value=trial.score))
    return found


def distributions(space: Space) -> dict[str, BaseDistribution]:
    """Return a space in Optuna's terms."""
    ranges: dict[str, BaseDistribution] = {
        name: FloatDistribution(part.low, part.high, log=part.log) for name, part in space.ranges.items()
    }
    return {**ranges, **{name: CategoricalDistribution(words) for name, words in space.choices.items()}}


def _contains(space: Space, name: str, value: Any) -> bool:
    part: Range | None = space.ranges.get(name)
    return part.low <= value <= part.high if part is not None else value in space.choices[name]
