"""Jobs for all pieces at once: shared out among the workers, and done again where a worker is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ray
from numpy.typing import NDArray
from ray.exceptions import RayTaskError

from .crew import LOST, Crew, Member
from .jobs import FixedPieces, Job, Report
from .traffic import Stored, Traffic


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """The pieces of the side that is held fixed, and the unit of half precision."""

    pieces: Sequence[Stored]
    unit: float | None = None

    def references(self) -> FixedPieces:
        """Return what is sent to workers."""
        return FixedPieces([piece.reference for piece in self.pieces], self.unit)


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A job with its inputs as the driver knows them."""

    job: Job
    inputs: tuple[Stored, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Done:
    """The result of a task. The driver's node has a copy of the array: no other node's death loses it."""

    array: Stored | None
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

    def map(self, tasks: Sequence[Task], held: Held | None = None) -> list[Done]:
        """Do all tasks, and return their results in order."""
        results: dict[int, Done] = {}
        while len(results) < len(tasks):
            self._crew.refresh()
            self._crew.require_members()
            left = {id(task.job): number for number, task in enumerate(tasks) if number not in results}
            results |= self._try([tasks[number] for number in left.values()], left, held)
        return [results[number] for number in range(len(tasks))]

    def _try(self, tasks: Sequence[Task], numbers: dict[int, int], held: Held | None) -> dict[int, Done]:
        """Do what the workers at hand can do. Those that are lost on the way are dropped."""
        inputs = {id(task.job): task.inputs for task in tasks}
        shares = self._crew.share_out([task.job for task in tasks], lambda piece: self._pieces[piece.side])
        fixed = None if held is None else held.references()
        calls = []
        for member, jobs in shares:
            needed = [stored for job in jobs for stored in inputs[id(job)]]
            self.traffic.send([*needed, *(held.pieces if held is not None else ())], member.node)
            work = member.actor.work.options(num_returns=len(jobs) + 1)
            calls.append((member, jobs, work.remote(jobs, fixed)))
        found: dict[int, Done] = {}
        for member, jobs, references in calls:
            done = self._collect(member, references)
            found |= {numbers[id(job)]: one for job, one in zip(jobs, done, strict=False)}
        return found

    def _collect(self, member: Member, references: list[Any]) -> list[Done]:
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
        done = []
        for array, reference, report in zip(arrays, references, reports, strict=False):
            stored = None if array is None else Stored(reference, array, {member.node})
            done.append(Done(stored, report))
        self.traffic.fetch([one.array for one in done if one.array is not None])
        return done
