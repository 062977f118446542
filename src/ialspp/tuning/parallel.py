"""A search whose trials are trained by the workers of a cluster, several at a time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

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
    began = clock() - spent
    return _Search(calls, plan, study, lambda: clock() - began, watch).run()


@dataclass(eq=False)
class _Search:
    calls: Calls[Sent, Outcome]
    plan: Plan
    study: Study
    elapsed: Clock
    watch: Callable[[Standing], None]
    running: dict[int, Sent] = field(default_factory=dict)  # by the number of the trial
    deaths: Counter[tuple[Settings, int]] = field(default_factory=Counter)

    def run(self) -> float:
        while True:
            self._begin_some()
            self.watch(Standing(self.study.trials(), None, (), self.elapsed(), self.plan.budget))
            if not self.running:
                return self.elapsed()
            done, lost = self.calls.ended()
            for number, outcome in done.items():
                begun, start = self.running.pop(number)
                self.study.end(begun.trial, replace(outcome, seconds=self.elapsed() - start))
            for number in lost:
                self._give_up(*self.running.pop(number))

    def _begin_some(self) -> None:
        """Give a trial to each worker that has none, as far as there is something to try."""
        room = self.calls.room()
        self.plan = replace(self.plan, parallel=self.calls.workers)
        for _ in range(room):
            job = self._next()
            if job is None:
                return
            begun = begin(self.plan, self.study, job)
            sent = begun, self.elapsed()
            self.running[begun.trial.number] = sent
            self.calls.begin(begun.trial.number, sent)

    def _next(self) -> Job | None:
        """Plan the next trial. Finalists are repeated once it is known who they are."""
        job = next_job(self.plan, self.study.trials(), self.elapsed())
        searching = any(begun.trial.kind != "repeat" for begun, _ in self.running.values())
        return None if job is not None and job.stage is None and searching else job

    def _give_up(self, begun: Begun, start: float) -> None:
        """Forget a trial whose worker is lost, or call it failed: it may well be what kills workers."""
        trial = begun.trial
        self.deaths[trial.settings, trial.seed] += 1
        deaths = self.deaths[trial.settings, trial.seed]
        if deaths < MOST_DEATHS:
            self.study.give_up(trial)
        else:
            error = f"{deaths} workers died while they trained it; they may have too little memory"
            self.study.end(trial, Outcome((), self.elapsed() - start, "failed", error=error))
