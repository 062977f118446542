"""Made-up trainings with a known best, and a clock that only they move."""

import math
import zlib
from dataclasses import dataclass, field

import numpy as np

from ialspp.tuning.parallel import search_on
from ialspp.tuning.planning import Plan
from ialspp.tuning.search import search
from ialspp.tuning.settings import Outcome, Settings
from ialspp.tuning.space import space_of
from ialspp.tuning.study import Study

SHAPE = (0.8, 0.95, 1.0, 0.99, 0.98)  # of the scores of a training, epoch by epoch


@dataclass
class Planted:
    """Scores with the shape of a cap over alpha0 and lambda, which rise with d up to `enough`.

    A second of the clock passes with each epoch at d = 64, twice as many at twice the d.
    """

    alpha: float = 0.05
    lam: float = 0.004
    enough: int = 256
    noise: float = 0.0
    weights: str = "given"
    exponent: float | None = None
    second: float = 1.0
    now: float = 0.0
    calls: list = field(default_factory=list)

    def score(self, settings, seed=0):
        off = (
            math.log10(settings.unobserved_weight / self.alpha),
            math.log10(settings.regularization / self.lam),
        )
        size = 0.02 * math.log2(max(self.enough / settings.dim, 1))
        wrong = 0.02 * (settings.weights != self.weights)
        if self.exponent is not None:
            wrong += 0.1 * (settings.exponent - self.exponent) ** 2
        score = 0.4 - 0.03 * off[0] ** 2 - 0.03 * off[1] ** 2 - 0.01 * off[0] * off[1] - size - wrong
        key = seed, zlib.crc32(repr(settings).encode())  # not a hash, which differs from process to process
        drawn = np.random.default_rng(key).normal() if self.noise else 0.0
        return max(score, 0.01) + self.noise * drawn

    def __call__(self, settings, seed, watch):
        self.calls.append((settings, seed))
        scores = []
        for share in SHAPE:
            self.now += self.second * settings.dim / 64
            scores.append(share * self.score(settings, seed))
            ending = watch(scores)
            if ending is not None:
                return Outcome(tuple(scores), 0.0, ending)
        return Outcome(tuple(scores), 0.0, "no better", (1.0, 1.0, 1.0))

    def clock(self):
        return self.now


@dataclass
class Moving(Planted):
    """A cap that sinks with d, and one elsewhere, with much more regularisation, that rises with d."""

    def score(self, settings, seed=0):
        doublings = math.log2(settings.dim / 64)
        sinking = Planted(alpha=0.2, lam=0.0004, enough=64).score(settings, seed) - 0.02 * doublings
        rising = Planted(alpha=0.03, lam=0.01, enough=1024).score(settings, seed) + 0.06
        return max(sinking, rising)


@dataclass
class PlantedWorkers:
    """Workers that train made-up trainings at the same time, on one clock; some calls kill them."""

    planted: Planted
    workers: int
    kills: set = field(default_factory=set)  # numbers of calls, counted from 0
    now: float = 0.0
    calls: int = 0
    most: int = 0  # that were under way at a time
    running: dict = field(default_factory=dict)  # number of the trial: when it ends, and its outcome

    def room(self):
        return self.workers - len(self.running)

    def begin(self, number, sent):
        begun, elapsed = sent
        self.planted.now = 0.0
        outcome = self.planted(
            begun.trial.settings,
            begun.trial.seed,
            lambda scores: begun.judged(scores, elapsed + self.planted.now),
        )
        dies = self.calls in self.kills
        self.running[number] = self.now + self.planted.now, None if dies else outcome
        self.calls, self.most = self.calls + 1, max(self.most, len(self.running))

    def ended(self):
        number = min(self.running, key=lambda number: self.running[number][0])
        self.now, outcome = self.running.pop(number)
        return ({}, [number]) if outcome is None else ({number: outcome}, [])

    def clock(self):
        return self.now


def run_on(workers, plan, *, study=None):
    """Search on workers, and return the trials."""
    study = study or Study(None, {"seed": plan.seed})
    search_on(workers, plan, study, spent=0.0, clock=workers.clock, watch=lambda _standing: None)
    return study.trials()


def make_plan(*, dim=64, max_dim=64, exponent=False, weights=(), popularity=False, **options):
    kind = weights[0] if weights else "given"
    start = Settings(dim=dim, unobserved_weight=0.1, regularization=0.003, weights=kind)
    space = space_of(exponent=exponent, weights=weights, popularity=popularity)
    return Plan(space=space, start=start, max_dim=max_dim, **options)


def run(plan, planted, path=None, *, resume=False, spent=0.0, study=None):
    """Search, and return the trials."""
    study = study or Study(path, {"seed": plan.seed}, resume=resume)
    search(plan, study, planted, spent=spent, clock=planted.clock)
    return study.trials()
