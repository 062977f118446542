"""What each node works at: asked for while the driver waits, and added up when work is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayError

from ..system.log import log
from .crew import Member
from .fetching import BESIDE
from .jobs import Doing, Job, Operation, Report

EVERY = 1.0  # seconds from one question to the next; a step that takes less is not worth one
MOST_NODES = 3  # whose work is told one by one

VERBS: Mapping[Operation, str] = {
    "update": "updating",
    "multiply": "multiplying",
    "transform": "rotating",
    "fix": "rotating",
    "half": "halving",
    "keep": "sending",
}


@dataclass(slots=True)
class Work:
    """What a node has done, or is doing."""

    name: str
    pieces: int = 0
    of: int = 0  # pieces that it was given
    rows: int = 0
    seconds: float = 0.0  # of all of its workers together

    def add(self, doing: Doing) -> None:
        """Add the work of one worker."""
        self.pieces, self.of = self.pieces + doing.pieces, self.of + doing.of
        self.rows, self.seconds = self.rows + doing.rows, self.seconds + doing.seconds

    @property
    def speed(self) -> float:
        """Rows of a worker in a second."""
        return self.rows / self.seconds if self.seconds > 0 else 0.0

    def facts(self) -> dict[str, Any]:
        """Describe it as plain values."""
        done = {"pieces": self.pieces, "rows": self.rows, "seconds": self.seconds}
        return {"name": self.name, **done, "rows_per_second": self.speed}


Call = tuple[Member, Sequence[Job], Any]
"""A worker, what it was asked to do, and a reference that has a value when it is done."""


class Watch:
    """Tells what nodes work at, and adds up what they have done."""

    def __init__(self) -> None:
        self.listener: Callable[[str], None] | None = None
        self.updates: dict[str, Work] = {}  # of each node, all updates of rows so far
        self._step: dict[str, Work] = {}  # those of one step

    def wait(self, calls: Sequence[Call]) -> None:
        """Wait until calls have ended, and tell the listener what is going on from time to time."""
        if self.listener is None:
            return
        waiting = [reference for *_, reference in calls]
        while waiting:
            _, waiting = ray.wait(waiting, num_returns=len(waiting), timeout=EVERY, fetch_local=False)
            if waiting:
                self.listener(as_note(calls[0][1][0], self._work(calls, set(waiting))))

    def _work(self, calls: Sequence[Call], waiting: set[Any]) -> dict[str, Work]:
        """Ask the workers that are not done how far they are."""
        questions = {
            place: member.actor.tell.options(concurrency_group=BESIDE).remote()
            for place, (member, _, reference) in enumerate(calls)
            if reference in waiting
        }
        told = set(ray.wait(list(questions.values()), num_returns=len(questions), timeout=EVERY)[0])
        work: dict[str, Work] = {}
        for place, (member, jobs, _) in enumerate(calls):
            doing = Doing(0 if place in questions else len(jobs), len(jobs))
            if questions.get(place) in told:
                doing = _answer(questions[place], doing)
            work.setdefault(member.node, Work(member.name)).add(doing)
        return work

    def add(self, member: Member, jobs: Sequence[Job], reports: Sequence[Report]) -> None:
        """Add up what a worker has done."""
        for job, report in zip(jobs, reports, strict=True):
            if job.operation == "update":
                done = Doing(1, 1, job.rows, report.seconds)
                for works in (self.updates, self._step):
                    works.setdefault(member.node, Work(member.name)).add(done)

    def log_step(self, job: Job) -> None:
        """Log what each node has done since the last update of a side."""
        if job.operation == "update":
            log("%ss updated: %s", job.piece.side, "; ".join(map(_told, self._step.values())))
        self._step = {}


def as_note(job: Job, work: Mapping[str, Work]) -> str:
    """Say in a few words what nodes work at."""
    doing = f"{VERBS.get(job.operation, 'summing')} {job.piece.side}s"
    if len(work) <= MOST_NODES:
        return f"{doing}: {'; '.join(map(_told, work.values()))}"
    last = min(work.values(), key=lambda one: one.pieces / max(one.of, 1))
    done, of = sum(one.pieces for one in work.values()), sum(one.of for one in work.values())
    return f"{doing}: {done} of {of} pieces on {len(work)} nodes; the last is {_told(last)}"


def _told(work: Work) -> str:
    return f"{work.name} {work.pieces} of {work.of} pieces, {work.speed:,.0f} rows/s"


def _answer(question: Any, unknown: Doing) -> Doing:
    try:
        answer: Doing = ray.get(question)
    except RayError:  # the worker is lost, which its call will tell
        return unknown
    return answer
