"""A search whose trials are trained by the workers of a cluster, several at a time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..model.batches import Calls
from .planning import Job, Plan, next_job
from .search import Begun, Clock, Standing, begin
from .settings import Ending, Outcome, Settings
from .study import Study
from .training import Trainer

MOST_DEATHS = 3  # of the workers that train with some settings, until these count as failed

Sent = tuple[Begun, float]
"""A trial for a worker, and the seconds of the search when it was sent: clocks of machines may differ."""


def trained(trainer: Trainer, sent: Sent, threads: int) -> Outcome:
    """Train one trial: what a worker does."""
    begun, elapsed = sent
    began = time.monotonic() - elapsed

    def judge(scores: Sequence[float]) -> Ending | None:
        return begun.judged(scores, time.monotonic() - began)

    return trainer(begun.trial.settings, begun.trial.seed, judge, threads=threads)


def search_on(
    calls: Calls[Sent, Outcome],
    plan: Plan,
    study: Study,
    *,
    spent: float,
    clock: Clock,
    watch: Callable[[Standing], None],
) -> float:
    """Run trials on workers until the plan has no more, and return the seconds of the search so far.

    What to try next is planned here, from the trials so far, so that with one worker the trials are those of
    `search`. A worker that is lost costs the trial that it trains, which is then planned again.
    """
    return _Search(calls, plan, study, clock, clock() - spent, watch).run()


class _Search:
    def __init__(
        self,
        calls: Calls[Sent, Outcome],
        plan: Plan,
        study: Study,
        clock: Clock,
        began: float,
        watch: Callable[[Standing], None],
    ) -> None:
        self._calls, self._plan, self._study, self._watch = calls, plan, study, watch
        self._clock, self._began = clock, began
        self._running: dict[int, Sent] = {}  # by the number of the trial
        self._deaths: Counter[tuple[Settings, int]] = Counter()

    def run(self) -> float:
        while True:
            self._begin_some()
            self._watch(Standing(self._study.trials(), None, (), self._elapsed(), self._plan.budget))
            if not self._running:
                return self._elapsed()
            done, lost = self._calls.ended()
            for number, outcome in done.items():
                begun, start = self._running.pop(number)
                self._study.end(begun.trial, replace(outcome, seconds=self._elapsed() - start))
            for number in lost:
                self._give_up(*self._running.pop(number))

    def _begin_some(self) -> None:
        """Give a trial to each worker that has none, as far as there is something to try."""
        room = self._calls.room()
        self._plan = replace(self._plan, parallel=self._calls.workers)
        for _ in range(room):
            job = self._next()
            if job is None:
                return
            begun = begin(self._plan, self._study, job)
            sent = begun, self._elapsed()
            self._running[begun.trial.number] = sent
            self._calls.begin(begun.trial.number, sent)

    def _next(self) -> Job | None:
        """Plan the next trial. Finalists are repeated once it is known who they are."""
        job = next_job(self._plan, self._study.trials(), self._elapsed())
        searching = any(begun.trial.kind != "repeat" for begun, _ in self._running.values())
        return None if job is not None and job.stage is None and searching else job

    def _give_up(self, begun: Begun, start: float) -> None:
        """Forget a trial whose worker is lost, or call it failed: it may well be what kills workers."""
        trial = begun.trial
        self._deaths[trial.settings, trial.seed] += 1
        deaths = self._deaths[trial.settings, trial.seed]
        if deaths < MOST_DEATHS:
            self._study.give_up(trial)
        else:
            error = f"{deaths} workers died while they trained it; they may have too little memory"
            self._study.end(trial, Outcome((), self._elapsed() - start, "failed", error=error))

    def _elapsed(self) -> float:
        return self._clock() - self._began
