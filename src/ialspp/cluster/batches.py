"""Batches of rows, worked on by whoever is free: results in order, and done again where a worker is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import ray
from ray.exceptions import RayTaskError

from ..errors import IalsppError, InvalidStateError
from .crew import LOOK_FOR_NODES, Crew, Member
from .hand import Work
from .lost import LOST, is_loss
from .needs import Needs
from .rooms import Rooms
from .sending import packed

AHEAD = 2  # batches that a worker has at a time: the next one is there when one is done
WINDOW = 4  # batches for each worker that are begun or done, and whose results were not taken yet
MOST_TRIES = 4  # of a batch whose workers die: it may well be what kills them


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Work on batches, and what they share, in the object store."""

    number: int
    work: Work
    shared: Any  # a reference

    @classmethod
    def of(cls, number: int, work: Work, shared: Any) -> Task:
        """Put into the object store what batches share, if there is room for it."""
        sent = packed(shared)
        need = sum(array.nbytes for array in sent[1])
        Rooms.now().require(
            Needs(need, need), "for arrays that are in no file, as those of a loaded model are"
        )
        return cls(number, work, ray.put(sent))


@dataclass(eq=False)
class Calls:
    """The calls of a task that are under way, each for one batch, by the number of the batch."""

    crew: Crew
    task: Task
    ahead: int = 1  # calls that a worker has at a time
    running: dict[Any, tuple[Member, int]] = field(default_factory=dict)  # by the reference of the result

    @property
    def workers(self) -> int:
        """How many workers there are now."""
        return len(self.crew.members)

    def room(self) -> int:
        """Return how many calls can begin. Waits until there is a worker."""
        self.crew.refresh()
        self.crew.require_members()
        return sum(max(self.ahead - load, 0) for load in self._loads().values())

    def begin(self, number: int, batch: Any) -> None:
        """Give a batch to the worker that has the least to do."""
        loads = self._loads()
        member = min(loads, key=loads.__getitem__)
        call = member.actor.work.remote(self.task.work, self.task.number, self.task.shared, batch)
        self.running[call] = member, number

    def ended(self) -> tuple[dict[int, Any], list[int]]:
        """Wait for a second at most; return results by number, and the batches whose workers are lost."""
        done, lost = {}, []
        for call in ray.wait(list(self.running), timeout=LOOK_FOR_NODES)[0]:
            member, number = self.running.pop(call)
            try:
                done[number] = ray.get(call)
            except RayTaskError as error:
                if not is_loss(error):  # else the worker lives, and could not fetch what a lost node had
                    raise _cause_of(error) from None
                self.crew.doubt_nodes()
                lost.append(number)
            except LOST as error:
                self.crew.drop(member, error)
                lost.append(number)
        return done, lost

    def _loads(self) -> dict[Member, int]:
        """Count the calls that each worker has, of those that are not lost."""
        loads = Counter(member for member, _ in self.running.values())
        return {member: loads[member] for member in self.crew.members}


@dataclass(eq=False)
class Stream:
    """The batches of a task whose results were not taken yet: a few, however many there are in all."""

    calls: Calls
    waiting: list[int] = field(default_factory=list)  # batches without a worker, ascending
    batches: dict[int, Any] = field(default_factory=dict)  # that wait or are worked on
    done: dict[int, Any] = field(default_factory=dict)
    tries: Counter[int] = field(default_factory=Counter)

    def results(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Give the results in the order of the batches."""
        coming, taken = iter(enumerate(batches)), 0
        while True:
            room = self.calls.room()
            self._take_in(coming)
            for number in self.waiting[:room]:
                self.calls.begin(number, self.batches[number])
            del self.waiting[:room]
            if not self.batches:
                return
            done, lost = self.calls.ended()
            for number, result in done.items():
                self.done[number] = result
                del self.batches[number]
            self._begin_again(lost)
            while taken in self.done:
                yield self.done.pop(taken)
                taken += 1

    def _take_in(self, coming: Iterator[tuple[int, Any]]) -> None:
        """Take batches as far as the window allows."""
        window = WINDOW * self.calls.workers
        for number, batch in islice(coming, max(window - len(self.batches) - len(self.done), 0)):
            self.batches[number] = batch
            self.waiting.append(number)

    def _begin_again(self, lost: list[int]) -> None:
        """Let batches of lost workers wait, before the others."""
        self.tries.update(lost)
        for number in lost:
            if self.tries[number] == MOST_TRIES:
                raise InvalidStateError(
                    f"batch {number} was given to {MOST_TRIES} workers, and each of them died; they may have "
                    "too little memory"
                )
        self.waiting = sorted([*lost, *self.waiting])


def _cause_of(error: RayTaskError) -> BaseException:
    """Return an error of ours as it was raised, and any other with the worker's traceback."""
    cause: BaseException = error.cause
    return cause if isinstance(cause, IalsppError) else error.as_instanceof_cause()
