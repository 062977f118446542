"""What to train next: a function of the trials so far alone, so that a search may stop and go on anywhere.

A search has stages. The first finds alpha0 and lambda at a small d. Each later one doubles d and refines the
best settings within a factor of them, as long as that pays. If no early trial of a d is better, alpha0 and
lambda are tuned anew there, in their whole ranges: a larger d may need far more regularisation. When d no
longer pays, or time is short, the best d is polished. If a budget has time left then, the d after the one
that did not pay is tried, too. In the end the finalists are repeated with other seeds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .settings import FAILED, Kind, Settings, Trial, best, done
from .space import Space

GROWTH = 2.2  # how much longer a training takes with twice the d
FINAL = 1.5  # the last training and the test, in seconds of a trial: more pairs and users, but fewer rounds
REPEATS_SHARE = 0.2  # of the budget, at most, for repeating finalists
RETUNED = ("unobserved_weight", "regularization")  # what a larger d may need other values of
TRIED_FIRST = (
    8  # trials before time is kept for repeats: with fewer, other settings are worth more than seeds
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a search goes about it."""

    space: Space
    start: Settings  # of the first trial; its d is that of the first stage
    max_dim: int
    trials: int | None = None  # how many, without repeats
    budget: float | None = None  # seconds
    first: int = 24  # trials at the first d
    refined: int = 10  # trials at each later d
    retuned: int = 4  # trials of a later d, none of them better, after which alpha0 and lambda are tuned anew
    stale: int = 8  # trials in a row without a better one, after which a stage ends
    factor: float = 3.0  # by which settings may change from one d to the next
    least_gain: float = 0.002  # share of the score by which twice the d must be better
    finalists: int = 3
    repeats: int = 2  # seeds beside the first
    parallel: int = 1  # trials that are trained at a time
    seed: int = 0

    @property
    def dims(self) -> list[int]:
        """The d of each stage: doubled up to the largest, which is the last."""
        dims = [min(self.start.dim, self.max_dim)]
        while dims[-1] * 2 <= self.max_dim:
            dims.append(dims[-1] * 2)
        return dims if dims[-1] == self.max_dim else [*dims, self.max_dim]

    def quota(self, place: int) -> int:
        """Return how many trials the stage of this place has at most."""
        if self.trials is None:
            return self.refined if place else self.first
        return max(3, min(self.refined, self.trials // 8)) if place else min(self.first, -(-self.trials // 2))

    def allowance(self, place: int, spent: float) -> float | None:
        """Return the seconds that the trials of a stage may take together, a share of what is left.

        A trial of a larger d takes longer, but is worth less: settings are found at a small d. So shares grow
        with the root of d.
        """
        if self.budget is None:
            return None
        costs = [self.quota(later) * math.sqrt(dim) for later, dim in enumerate(self.dims)]
        left = max(self.budget * (1 - REPEATS_SHARE) * self.parallel - spent, 0.0)
        return left * costs[place] / sum(costs[place:])


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a search stands: trials of one d in one space."""

    dim: int
    kind: Kind
    space: Space
    start: Settings  # to try first
    tried: list[Trial]  # in this stage, those that run too
    known: list[Trial]  # in all stages
    is_retuned: bool = False  # whether alpha0 and lambda are tuned anew


@dataclass(frozen=True, slots=True)
class Job:
    """What to train next: a stage in which settings are to be proposed, or settings with a seed."""

    stage: Stage | None
    settings: Settings | None = None
    seed: int = 0
    until: float | None = None  # the second of the search at which it must stop


def next_job(plan: Plan, trials: list[Trial], elapsed: float) -> Job | None:
    """Return what to train next, or None if nothing is left to do or no time to do it."""
    stage = _next_stage(plan, trials, elapsed)
    if stage is not None:
        return Job(stage, seed=plan.seed, until=_search_ends(plan, trials))
    until = None if plan.budget is None else plan.budget - final_seconds(trials)
    for settings, seed in pending_repeats(plan, trials):
        if until is None or elapsed + estimate(trials, settings.dim) <= until:
            return Job(None, settings, seed, until)
    return None


def _next_stage(plan: Plan, trials: list[Trial], elapsed: float) -> Stage | None:
    searched = [trial for trial in trials if trial.kind != "repeat"]
    if plan.trials is not None and len(searched) >= plan.trials:
        return None
    deadline = _search_ends(plan, trials)
    stages = [_growing(plan, searched), _polishing(plan, searched)]
    if plan.trials is None:  # there is time left, so that bad luck at one d need not be the end
        stages.append(_growing(plan, searched, misses=1))
    for stage in stages:
        if stage is not None and (
            deadline is None
            or not done(searched, "search")
            or elapsed + estimate(trials, stage.dim) <= deadline
        ):
            return stage
    return None


def _growing(plan: Plan, searched: list[Trial], misses: int = 0) -> Stage | None:
    """Return the stage at whose d there is more to try, or None if a larger d does not pay.

    misses: how many d may bring too little before one that pays.
    """
    trials = [trial for trial in searched if trial.kind == "search"]
    before: Trial | None = None
    spent = 0.0
    for place, dim in enumerate(plan.dims):
        tried = [trial for trial in trials if trial.settings.dim == dim]
        found = best(done(tried, "search"))
        allowance = plan.allowance(place, spent)
        seconds = sum(trial.seconds for trial in tried)
        has_time = not tried or allowance is None or seconds < allowance
        if len(tried) < plan.quota(place) and has_time and not _is_stale(plan, tried, found):
            return _stage(plan, dim, tried, before, found, searched)
        spent += seconds
        if found is not None and _pays(plan, found, before):
            before = found
        elif found is None or misses == 0:
            return None
        else:
            misses -= 1
    return None


def _pays(plan: Plan, found: Trial, before: Trial | None) -> bool:
    """Tell whether a trial is better than the best with a smaller d by the least gain."""
    return before is None or found.score >= before.score * (1 + plan.least_gain)


def _is_stale(plan: Plan, tried: list[Trial], found: Trial | None) -> bool:
    """Tell whether a stage has brought nothing better for long, the even spread at its beginning left out."""
    if found is None:
        return False
    since = [trial for trial in tried if trial.number > found.number]
    return len(since) >= plan.stale and len(tried) >= 2 * plan.stale


def _stage(
    plan: Plan,
    dim: int,
    tried: list[Trial],
    before: Trial | None,
    found: Trial | None,
    known: list[Trial],
) -> Stage:
    if before is None:
        space = plan.space if found is None else plan.space.widened(found.settings)
        return Stage(dim, "search", space, plan.start, tried, known)
    top = found if found is not None and found.score > before.score else before
    near = plan.space.around(top.settings, plan.factor)
    is_retuned = top is before and len(done(tried, "search")) >= plan.retuned
    space = near.opened(plan.space, RETUNED) if is_retuned else near
    return Stage(dim, "search", space, top.settings, tried, known, is_retuned)


def _polishing(plan: Plan, searched: list[Trial]) -> Stage | None:
    """Return the last stage: more trials near the best settings, at the largest d that paid."""
    found = _best_that_paid(plan, searched)
    polished = [trial for trial in searched if trial.kind == "polish"]
    if found is None or (plan.trials is None and len(polished) >= plan.first):
        return None
    space = plan.space.around(found.settings, plan.factor)
    near = [trial for trial in searched if trial.settings.dim == found.settings.dim]
    return Stage(found.settings.dim, "polish", space, found.settings, near, searched)


def _best_that_paid(plan: Plan, searched: list[Trial]) -> Trial | None:
    """Return the best trial, where a larger d must bring the least gain over a smaller one."""
    chosen: Trial | None = None
    for dim in plan.dims:
        tried = [trial for trial in searched if trial.settings.dim == dim]
        found = best(done(tried, "search", "polish"))
        if found is not None and _pays(plan, found, chosen):
            chosen = found
    return chosen


def finalists(plan: Plan, trials: list[Trial]) -> list[Trial]:
    """Return the best trials with distinct settings, the best one first."""
    ranked = sorted(done(trials, "search", "polish"), key=lambda trial: (-trial.score, trial.number))
    distinct = {trial.settings: trial for trial in reversed(ranked)}
    return [trial for trial in ranked if distinct[trial.settings] is trial][: plan.finalists]


def pending_repeats(plan: Plan, trials: list[Trial]) -> list[tuple[Settings, int]]:
    """Return the finalists' settings with the seeds that are left to train, seed by seed."""
    begun = {(trial.settings, trial.seed) for trial in trials if trial.kind == "repeat"}
    wanted = [
        (trial.settings, plan.seed + place)
        for place in range(1, plan.repeats + 1)
        for trial in finalists(plan, trials)
    ]
    return [pair for pair in wanted if pair not in begun]


def estimate(trials: list[Trial], dim: int) -> float:
    """Estimate the seconds of a training from those of an epoch with this d, or the next smaller one."""
    ended = [trial.outcome for trial in trials if trial.outcome is not None and trial.outcome.scores]
    smaller = [trial.settings.dim for trial in trials if trial.score > FAILED and trial.settings.dim <= dim]
    if not smaller:
        return 0.0
    near = [trial.outcome for trial in trials if trial.outcome and trial.settings.dim == max(smaller)]
    of_an_epoch = sum(outcome.seconds for outcome in near) / sum(len(outcome.scores) for outcome in near)
    epochs = sum(len(outcome.scores) for outcome in ended) / len(ended)
    return float(of_an_epoch * epochs * (dim / max(smaller)) ** math.log2(GROWTH))


def final_seconds(trials: list[Trial]) -> float:
    """Estimate the seconds of the last training and of the test."""
    found = best(done(trials, "search", "polish"))
    return 0.0 if found is None else FINAL * estimate(trials, found.settings.dim)


def _search_ends(plan: Plan, trials: list[Trial]) -> float | None:
    """Return the second at which the search must make room for repeats and the test."""
    if plan.budget is None:
        return None
    end = plan.budget - final_seconds(trials)
    if len(done(trials, "search", "polish")) < TRIED_FIRST:
        return end
    repeats = sum(estimate(trials, settings.dim) for settings, _ in pending_repeats(plan, trials))
    return end - min(repeats / plan.parallel, REPEATS_SHARE * plan.budget)
