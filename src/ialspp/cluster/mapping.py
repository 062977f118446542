"""Jobs for all pieces at once: shared out among the workers, and done again where a worker is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ray
from numpy.typing import NDArray
from ray.exceptions import RayTaskError

from .crew import LOST, Crew, Member
from .jobs import SIDES, Fixed, Job, Report
from .traffic import Part, Stored, Traffic, joined


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """The factors of the side that is held fixed, and the unit of half precision."""

    parts: Sequence[Part]
    unit: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A job, and what it reads."""

    job: Job
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Done:
    """The result of a task. The driver's node has a copy of the array: no other node's death loses it."""

    array: Part | None
    report: Report


class Mapper:
    """Has jobs done."""

    def __init__(self, crew: Crew, pieces: dict[str, int]) -> None:
        """pieces: how many there are of each side."""
        self._crew = crew
        self._pieces = pieces
        self.traffic = Traffic(ray.get_runtime_context().get_node_id())

    def put(self, array: NDArray[Any]) -> Stored:
        """Put an array into the object store."""
        reference = ray.put(array)
        return Stored(reference, ray.get(reference), {self.traffic.driver})

    def map(self, tasks: Sequence[Task], arguments: dict[str, Any], held: Held | None = None) -> list[Done]:
        """Do all tasks, and return their results in order.

        arguments: of the operation, by side.
        """
        results: dict[int, Done] = {}
        while len(results) < len(tasks):
            self._crew.refresh()
            self._crew.require_members()
            left = {number: task for number, task in enumerate(tasks) if number not in results}
            results |= self._try(left, arguments, held)
        return [results[number] for number in range(len(tasks))]

    def _try(self, tasks: dict[int, Task], arguments: dict[str, Any], held: Held | None) -> dict[int, Done]:
        """Do what the workers at hand can do. Those that are lost on the way are dropped."""
        fixed_parts = [] if held is None else joined(held.parts)
        fixed = None if held is None else Fixed([part.slice for part in fixed_parts], held.unit)
        calls = []
        pieces = {number: task.job.piece for number, task in tasks.items()}
        for member, numbers in self._crew.share_out(pieces, self._pieces):
            parts = [*fixed_parts, *(part for number in numbers for part in tasks[number].parts)]
            self.traffic.send([part.stored for part in parts], member.node)
            jobs = [tasks[number].job for number in numbers]
            work = member.actor.work.options(num_returns=len(SIDES) + 1)
            calls.append((member, numbers, jobs, work.remote(jobs, arguments, fixed)))
        found: dict[int, Done] = {}
        for member, numbers, jobs, references in calls:
            found |= zip(numbers, self._collected(member, jobs, references), strict=False)
        return found

    def _collected(self, member: Member, jobs: list[Job], references: list[Any]) -> list[Done]:
        """Fetch the results of one worker; none where it is lost."""
        try:
            *arrays, reports = ray.get(references)
        except LOST as error:
            self._crew.drop(member, error)
            return []
        except RayTaskError as error:
            if isinstance(error.cause, LOST):  # it could not fetch what another lost worker had
                return []
            raise error.as_instanceof_cause() from None
        stored: dict[str, Stored] = {}
        for side, array, reference in zip(SIDES, arrays, references, strict=False):
            if array is not None:
                stored[side] = Stored(reference, array, {member.node})
                self.traffic.fetch(stored[side])
        return _parted(jobs, reports, stored)


def _parted(jobs: list[Job], reports: list[Report], stored: dict[str, Stored]) -> list[Done]:
    """Part the array of each side, in which the pieces are one after the other."""
    ends = dict.fromkeys(stored, 0)
    done = []
    for job, report in zip(jobs, reports, strict=True):
        side, part = job.piece.side, None
        if side in stored:
            begin, ends[side] = ends[side], ends[side] + job.piece.end - job.piece.begin
            part = Part(stored[side], begin, ends[side])
        done.append(Done(part, report))
    return done
