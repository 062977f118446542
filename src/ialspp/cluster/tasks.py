"""What is done for all pieces at once: tasks, what they read, and their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .jobs import Job, Operation, Piece, Report
from .traffic import Part, Stored


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """The factors of the side that is held fixed, and the unit of half precision."""

    parts: Sequence[Part]
    unit: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """An operation on a piece, and its factors and weights."""

    piece: Piece
    operation: Operation
    factors: Part | None = None
    weights: Part | None = None

    @property
    def parts(self) -> list[Part]:
        """What it reads, beside the side that is held fixed."""
        return [part for part in (self.factors, self.weights) if part is not None]

    @property
    def job(self) -> Job:
        """What a worker is told."""
        slices = [None if part is None else part.slice for part in (self.factors, self.weights)]
        return Job(self.piece, self.operation, *slices)


@dataclass(frozen=True, slots=True, eq=False)
class Done:
    """The result of a task. The driver has copies of the arrays: no other node's death loses them."""

    array: Part | None
    half: Part | None
    report: Report


def parted(jobs: Sequence[Job], reports: Sequence[Report], stored: dict[str, Stored]) -> list[Done]:
    """Part the arrays of workers' results, in which the pieces are one after the other."""
    ends = dict.fromkeys(stored, 0)

    def next_rows(name: str, job: Job) -> Part | None:
        if name not in stored:
            return None
        begin, ends[name] = ends[name], ends[name] + job.rows
        return Part(stored[name], begin, ends[name])

    return [
        Done(next_rows(job.piece.side, job), next_rows("half", job) if report.fits else None, report)
        for job, report in zip(jobs, reports, strict=True)
    ]


def arrays_of(done: Sequence[Done]) -> list[Part]:
    """Return the arrays of results that have one."""
    return [one.array for one in done if one.array is not None]
