"""The choice among the finalists: differences that are smaller than the noise of seeds are none."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .planning import Plan, finalists
from .settings import Settings, Trial, done

ERRORS = 2.0  # a difference counts from so many standard errors on


@dataclass(frozen=True, slots=True)
class Finalist:
    """Settings that were trained with several seeds."""

    trial: Trial  # of the search, with the first seed
    scores: tuple[float, ...]  # one for each seed
    tied: bool = False  # with the best mean

    @property
    def settings(self) -> Settings:
        """What was trained with."""
        return self.trial.settings

    @property
    def mean(self) -> float:
        """The mean score of all seeds."""
        return sum(self.scores) / len(self.scores)


@dataclass(frozen=True, slots=True)
class Choice:
    """The finalists, the best one first, and which of them was chosen."""

    finalists: list[Finalist]
    noise: float | None  # standard deviation of a score over seeds; None: not measured
    chosen: Finalist

    @property
    def ties(self) -> list[Finalist]:
        """The finalists whose difference to the best is smaller than the noise, the best included."""
        return [finalist for finalist in self.finalists if finalist.tied]


def choose(plan: Plan, trials: list[Trial]) -> Choice | None:
    """Choose the best settings; of those that are tied, the ones with the smallest d. None: no trial."""
    found = [_repeated(trial, trials) for trial in finalists(plan, trials)]
    if not found:
        return None
    found.sort(key=lambda finalist: (-finalist.mean, finalist.trial.number))
    noise = _noise(found)
    ranked = [Finalist(one.trial, one.scores, _is_tied(one, found[0], noise)) for one in found]
    chosen = min((one for one in ranked if one.tied), key=lambda one: (one.settings.dim, -one.mean))
    return Choice(ranked, noise, chosen)


def _repeated(trial: Trial, trials: list[Trial]) -> Finalist:
    repeats = [other for other in done(trials, "repeat") if other.settings == trial.settings]
    whole = [other.score for other in repeats if other.outcome and other.outcome.ending != "out of time"]
    return Finalist(trial, (trial.score, *whole))


def _noise(found: list[Finalist]) -> float | None:
    """Return the standard deviation over seeds, pooled over the finalists."""
    freedom = sum(len(finalist.scores) - 1 for finalist in found)
    if freedom == 0:
        return None
    squares = sum(float(np.var(finalist.scores)) * len(finalist.scores) for finalist in found)
    return math.sqrt(squares / freedom)


def _is_tied(one: Finalist, best: Finalist, noise: float | None) -> bool:
    if one is best or noise is None or len(one.scores) < 2:
        return one is best  # what was trained once may have been lucky or not: nobody knows
    error = noise * math.sqrt(1 / len(one.scores) + 1 / len(best.scores))
    return best.mean - one.mean <= ERRORS * error
