"""Jobs for all pieces at once: shared out among the workers, and done again where a worker is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import ray
from numpy.typing import NDArray
from ray.exceptions import GetTimeoutError, RayTaskError

from ..system.log import log
from .crew import Crew, Member
from .jobs import RESULTS, Fixed, Job, Piece
from .lost import LOST, is_loss
from .needs import Fetch
from .tasks import Done, Held, Task, arrays_of, parted
from .traffic import Part, Stored, Traffic, joined
from .watching import Watch


class Mapper:
    """Has jobs done."""

    def __init__(self, crew: Crew, shards: dict[str, int], fetch: Fetch) -> None:
        """shards: how many there are of each side."""
        self._crew = crew
        self._shards = shards
        self._fetches_rows = fetch == "rows"
        self._waited_in_vain = False  # a worker did, for an array of the step
        self.watch = Watch()
        self.traffic = Traffic(ray.get_runtime_context().get_node_id())

    def put(self, pieces: Sequence[Piece], numbers: NDArray[Any]) -> list[Part]:
        """Put a number for each row into the object store of this node, as one array: it is small."""
        stored = self._stored(numbers)
        return [Part(stored, piece.begin, piece.end) for piece in pieces]

    def _stored(self, array: NDArray[Any]) -> Stored:
        reference = ray.put(array)
        return Stored(reference, ray.get(reference), {self.traffic.driver})

    def spread(self, pieces: Sequence[Piece], factors: NDArray[Any]) -> list[Part]:
        """Put the factors of pieces into the object store: where rows are fetched, into that of the workers.

        They go there in several rounds, so that the driver's store never has all of them.
        """
        rounds = len(self._crew.members) if self._fetches_rows else 1
        size = -(-len(pieces) // rounds)
        parts: list[Part] = []
        for begin in range(0, len(pieces), size):
            some = pieces[begin : begin + size]
            here = self._put_for_workers(some, factors)
            if self._fetches_rows:
                tasks = [Task(piece, "keep", part) for piece, part in zip(some, here, strict=True)]
                here = arrays_of(self.map(tasks, {}))
            parts += here
        return parts

    def _put_for_workers(self, pieces: Sequence[Piece], factors: NDArray[Any]) -> list[Part]:
        """Put the factors of pieces into the store of this node, those of one worker as one array."""
        self._crew.require_members()
        parts: list[Part] = []
        for _, numbers in self._crew.share_out(dict(enumerate(pieces)), self._shards):
            share = [pieces[number] for number in numbers]
            begin = share[0].begin
            stored = self._stored(factors[begin : share[-1].end])
            parts += [Part(stored, piece.begin - begin, piece.end - begin) for piece in share]
        return parts

    def map(self, tasks: Sequence[Task], arguments: dict[str, Any], held: Held | None = None) -> list[Done]:
        """Do all tasks, and return their results in order.

        arguments: of the operation, by side.
        """
        results: dict[int, Done] = {}
        self._waited_in_vain = False
        given = ray.put(arguments)  # once for all workers
        while len(results) < len(tasks):
            self._crew.refresh()
            self._crew.require_members()
            left = {number: task for number, task in enumerate(tasks) if number not in results}
            parts = [part for task in left.values() for part in task.parts]
            self._restore([*parts, *(held.parts if held is not None else ())])
            results |= self._try(left, given, held)
        self.watch.log_step(tasks[0].job)
        return [results[number] for number in range(len(tasks))]

    def _restore(self, parts: Sequence[Part]) -> None:
        """Put arrays into the store again that were lost with all nodes that had them.

        If a worker waited for one in vain, Ray does not know which are lost: all of them are put again.
        """
        alive = set() if self._waited_in_vain else self._crew.nodes
        self._waited_in_vain = False
        for stored in {id(part.stored): part.stored for part in parts}.values():
            if stored.nodes.isdisjoint(alive):
                log("an array of %d bytes was lost; the driver sends its copy", stored.array.nbytes)
                stored.reference, stored.nodes = ray.put(stored.array), {self.traffic.driver}

    def _try(self, tasks: dict[int, Task], arguments: Any, held: Held | None) -> dict[int, Done]:
        """Do what the workers at hand can do. Those that are lost on the way are dropped."""
        fixed_parts = [] if held is None else joined(held.parts)
        calls = []
        pieces = {number: task.piece for number, task in tasks.items()}
        for member, numbers in self._crew.share_out(pieces, self._shards):
            self.traffic.send(
                [part.stored for number in numbers for part in tasks[number].parts], member.node
            )
            jobs = [tasks[number].job for number in numbers]
            train = member.actor.train.options(num_returns=len(RESULTS) + 1)
            fixed = None if held is None else self._fixed(fixed_parts, held.unit, member)
            calls.append((member, numbers, jobs, train.remote(jobs, arguments, fixed)))
        self._crew.running = [references[-1] for *_, references in calls]
        self.watch.wait([(member, jobs, references[-1]) for member, _, jobs, references in calls])
        found: dict[int, Done] = {}
        for member, numbers, jobs, references in calls:
            found |= zip(numbers, self._collected(member, jobs, references), strict=False)
        self._crew.running = []
        return found

    def _fixed(self, parts: list[Part], unit: float | None, member: Member) -> Fixed:
        """Say where a worker finds the side that is held fixed."""
        array = parts[0].stored.array
        fixed = Fixed([part.slice for part in parts], unit, array.dtype, array.shape[1])
        if self._fetches_rows:
            senders = [self._sender(part.stored, member) for part in parts]
            whole = [part.stored for part, sender in zip(parts, senders, strict=True) if sender is None]
            fixed = replace(fixed, workers=[one.actor for one in self._crew.members], senders=senders)
        else:
            whole = [part.stored for part in parts]
        self.traffic.send(whole, member.node)
        return fixed

    def _sender(self, stored: Stored, member: Member) -> int | None:
        """Choose the worker that copies rows out of an array for another one, if that cannot read it itself.

        It is not on the driver's node if others have the array, since that node has all of them. None where
        no worker is beside the array: the whole of it is sent then.
        """
        if member.node in stored.nodes:
            return None
        beside = [n for n, other in enumerate(self._crew.members) if other.node in stored.nodes]
        return min(beside, key=lambda n: self._crew.members[n].node == self.traffic.driver, default=None)

    def _collected(self, member: Member, jobs: list[Job], references: list[Any]) -> list[Done]:
        """Fetch the results of one worker; none where it is lost."""
        try:
            *arrays, reports = ray.get(references)
        except RayTaskError as error:
            if is_loss(error):  # it lives, and could not fetch what a lost node had
                self._crew.doubt_nodes()
                self._waited_in_vain |= isinstance(error.cause, GetTimeoutError)
                return []
            raise error.as_instanceof_cause() from None
        except LOST as error:
            self._crew.drop(member, error)
            return []
        self.watch.add(member, jobs, reports)
        self.traffic.received[member.node] += sum(report.received for report in reports)
        stored: dict[str, Stored] = {}
        for name, array, reference in zip(RESULTS, arrays, references, strict=False):
            if array is not None:
                kept = array.copy() if self._fetches_rows else array
                stored[name] = Stored(reference, kept, {member.node})
                self.traffic.fetch(stored[name], keep=not self._fetches_rows)
        return parted(jobs, reports, stored)
