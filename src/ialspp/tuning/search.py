"""The search: plan, propose, train, record, until nothing is left to do or no time to do it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .planning import Job, Plan, next_job
from .proposing import proposal
from .pruning import is_hopeless
from .settings import Ending, Outcome, Settings, Trial, best, done
from .space import Space
from .study import Study

Watch = Callable[[Sequence[float]], Ending | None]
"""What a training calls after each epoch with its scores so far; it returns why to stop, or None."""

Training = Callable[[Settings, int, Watch], Outcome]
"""What a search optimises: a training with settings and a seed. It need not say how long it took."""

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a search stands, for those who watch it."""

    trials: list[Trial]
    running: Trial | None
    scores: tuple[float, ...]  # of the running training
    elapsed: float
    budget: float | None

    def summary(self) -> str:
        """Say in a few words how far the search is."""
        found = best(done(self.trials, "search", "polish"))
        so_far = "" if found is None else f", best {found.score:.4f} with d = {found.settings.dim}"
        return f"{len(self.trials)} trials{so_far}"


@dataclass(frozen=True, slots=True)
class Begun:
    """A trial that begins, and by what it is judged after each epoch."""

    trial: Trial
    until: float | None  # the second of the search at which it must stop
    others: list[Trial]  # to compare it with

    def judged(self, scores: Sequence[float], elapsed: float) -> Ending | None:
        """Return why to stop after so many seconds of the search, or None."""
        if self.until is not None and elapsed > self.until:
            return "out of time"
        searching = self.trial.kind != "repeat"  # seeds of finalists are compared in the end
        if searching and is_hopeless(scores, self.trial.settings.dim, self.others):
            return "pruned"
        return None


def begin(plan: Plan, study: Study, job: Job) -> Begun:
    """Propose the settings of a trial where the job has none, and record that it begins."""
    settings = job.settings if job.stage is None else proposal(job.stage, plan.seed)
    assert settings is not None
    ranges = plan.space.ranges if job.stage is None else job.stage.space.ranges
    space = Space(ranges, plan.space.choices)  # Optuna knows one set of choices in a study
    trial = study.begin(settings, job.seed, "repeat" if job.stage is None else job.stage.kind, space)
    return Begun(trial, job.until, [other for other in study.trials() if other.number != trial.number])


def search(
    plan: Plan,
    study: Study,
    train: Training,
    *,
    spent: float = 0.0,
    clock: Clock = time.monotonic,
    watch: Callable[[Standing], None] = lambda _standing: None,
) -> float:
    """Run trials until the plan has no more, and return the seconds of the search so far.

    Parameters
    ----------
    plan
        How to go about it.
    study
        The trials so far, to which others are added. Other processes may add theirs.
    train
        Trains with the settings of a trial.
    spent
        The seconds of the budget that were spent before.
    clock
        Returns the time in seconds.
    watch
        Is called before each trial and after each of its epochs.
    """
    began = clock() - spent

    def elapsed() -> float:
        return clock() - began

    while (job := next_job(plan, study.trials(), elapsed())) is not None:
        _run(plan, study, train, job, elapsed, watch)
    watch(Standing(study.trials(), None, (), elapsed(), plan.budget))
    return elapsed()


def _run(
    plan: Plan, study: Study, train: Training, job: Job, elapsed: Clock, watch: Callable[[Standing], None]
) -> None:
    begun = begin(plan, study, job)
    trial, others = begun.trial, begun.others
    start = elapsed()
    watch(Standing(others, trial, (), start, plan.budget))

    def judge(scores: Sequence[float]) -> Ending | None:
        now = elapsed()
        watch(Standing(others, trial, tuple(scores), now, plan.budget))
        return begun.judged(scores, now)

    outcome = train(trial.settings, trial.seed, judge)
    study.end(trial, replace(outcome, seconds=elapsed() - start))
