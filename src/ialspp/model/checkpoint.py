"""Checkpoints: the state of a fit after an epoch, in a file from which the fit goes on with the same bits.

An epoch depends on the factors and on the records of the epochs before, and on nothing else. So these two are
the state. Beside it, the file holds what the fit was begun with: the job.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..data.csr import Floats, aligned
from ..data.fingerprint import Fingerprint
from ..data.interactions import Interactions
from ..errors import InvalidStateError, InvalidValueError
from ..files.arrays import Arrays, is_finite, whole
from ..files.atomic import require_writable
from ..files.container import Container, Memory, StoreError
from ..files.header import Header
from ..files.parsing import parsed_object
from ..files.version import FileVersion
from ..solvers.relaxation import checked_relaxation
from ..system.checks import checked_integer
from .description import checked_history, checked_note, checked_settings, part
from .history import EpochRecord
from .state import require_plausible, settings_as_dict, settings_of
from .training import Plan

FORMAT, VERSION = "ialspp checkpoint", 1


@dataclass(frozen=True, slots=True)
class Job:
    """What a fit is begun with, and every checkpoint of it repeats."""

    settings: dict[str, Any]  # the constructor's arguments, but for `threads`
    plan: Plan
    data: Fingerprint
    every: int = 1  # epochs from one checkpoint to the next
    note: Mapping[str, Any] = field(default_factory=dict)  # plain values of whoever began the fit

    def described(self) -> dict[str, Any]:
        """Describe the job as plain values."""
        parts = {"plan": asdict(self.plan), "data": asdict(self.data)}
        return {"settings": settings_as_dict(self.settings), **parts, "every": self.every, "note": self.note}

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> Job:
        """Restore a job from its description, in which anything may be wrong."""
        return cls(
            settings_of(checked_settings(described)),
            Plan(**part(described, "plan", dict)),
            Fingerprint(**part(described, "data", dict)),
            checked_integer("every", part(described, "every", int), 1),
            checked_note(described),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """What a file says, without its factors."""

    path: Path
    written_by: str
    version: FileVersion
    job: Job
    history: list[EpochRecord]
    is_finished: bool

    @classmethod
    def read(cls, path: Path) -> Checkpoint:
        """Read the header of a file; a `StoreError` says what is wrong with it."""
        return cls._of(CheckpointFile.open(path))

    @classmethod
    def open(cls, path: Path) -> tuple[Checkpoint, tuple[Floats, Floats]]:
        """Read a file and the factors in it, to train them further; a `StoreError` says what is wrong."""
        opened = CheckpointFile.open(path, mapped=False)
        opened.verify()
        found = cls._of(opened)
        with whole(path, "checkpoint"):
            return found, found._factors(Arrays(opened.arrays))

    @classmethod
    def _of(cls, opened: CheckpointFile) -> Checkpoint:
        described = opened.description
        with whole(opened.path, "checkpoint"):
            job, history = Job.of(described), checked_history(described)
            _check_past(history, job.plan)
            return cls(
                opened.path,
                part(opened.metadata, "written_by", str),
                opened.version,
                job,
                history,
                part(described, "finished", bool),
            )

    def _factors(self, arrays: Arrays) -> tuple[Floats, Floats]:
        """Copy the factors, to train them further."""
        data, dim = self.job.data, checked_integer("dim", self.job.settings["dim"], 1)
        users, items = (arrays.get(f"{name}_factors", np.float32, dimensions=2) for name in ("user", "item"))
        if (users.shape, items.shape) != ((data.users, dim), (data.items, dim)):
            raise StoreError(
                f"factors of the shapes {users.shape} and {items.shape} do not fit {data.users} users, "
                f"{data.items} items and {dim} dimensions"
            )
        require_plausible(users, items)
        if not (is_finite(users) and is_finite(items)):
            raise StoreError("its factors must be finite")
        return _copied(users), _copied(items)

    @property
    def progress(self) -> str:
        """How far the fit has come, in words."""
        plan = self.job.plan
        end = ", the last" if self.is_finished else ""
        return f"epoch {plan.done(self.history)} of {plan.epochs}{end}"

    def info(self) -> dict[str, Any]:
        """Describe the file as plain values."""
        return {
            "format": FORMAT,
            "format_version": VERSION,
            "written_by": self.written_by,
            "bytes": self.version.size,
            **self.job.described(),
            "history": [asdict(record) for record in self.history],
            "finished": self.is_finished,
        }

    def require_data(self, data: Interactions) -> None:
        """Raise an error unless the fit was begun on this very data."""
        difference = self.job.data.difference(Fingerprint.of(data))
        if difference is not None:
            raise InvalidValueError(
                f"{self.path} belongs to a fit on other data: {difference}; a fit goes on with the data that "
                "it was begun with"
            )


class CheckpointFile(Container):
    """A checkpoint's file. Its errors, until it is open, do not name it."""

    __slots__ = ("description",)

    description: dict[str, Any]

    def __init__(self, path: Path, version: FileVersion, header: Header, memory: Memory) -> None:
        super().__init__(path, version, header, memory)
        self.description = _description_in(self.metadata)


def is_checkpoint(path: Path) -> bool:
    """Tell whether a file says that it is a checkpoint. A `StoreError` says why it holds no arrays at all."""
    return Container.open(path).metadata.get("format") == FORMAT


def require_free(path: Path) -> None:
    """Raise an error unless a new fit may write its checkpoints to `path`: no file, or one it can spare."""
    require_writable(path)
    if not path.exists():
        return
    try:
        found = Checkpoint.read(path)
    except StoreError as error:
        raise InvalidValueError(
            f"{path} is not a checkpoint that can be read, and will not be overwritten: {error}"
        ) from error
    if not found.is_finished:
        raise InvalidStateError(
            f"{path} keeps {found.progress} of a fit that has not ended; resume it (--resume, "
            "ImplicitMF.resume), or delete the file"
        )


def _description_in(metadata: dict[str, str]) -> dict[str, Any]:
    """Parse the description of a checkpoint, if this version can read it."""
    if metadata.get("format") != FORMAT:
        raise StoreError("is not a checkpoint of ialspp")
    if metadata.get("format_version") != str(VERSION):
        raise StoreError(
            f"is a checkpoint of format {metadata.get('format_version')!r}, written by "
            f"{metadata.get('written_by')}; this version reads format {VERSION}"
        )
    try:
        return parsed_object(metadata["description"])
    except (KeyError, StoreError) as error:
        raise StoreError(f"does not say what fit it belongs to: {error}") from error


def _check_past(history: list[EpochRecord], plan: Plan) -> None:
    """Check the records, on whose numbers the next epochs depend."""
    if len(history) < plan.earlier:
        raise StoreError(f"{plan.earlier} epochs came before its fit, and it has {len(history)}")
    for place, record in enumerate(history, 1):
        if record.epoch != place:
            raise StoreError(f"the record of epoch {place} is required, got that of {record.epoch}")
        if not math.isfinite(record.loss):
            raise StoreError(f"the loss of epoch {place} must be finite, got {record.loss}")
        checked_relaxation(record.relaxation)
        if record.precision not in ("single", "mixed"):
            raise StoreError(f'precision must be "single" or "mixed", got {record.precision!r}')


def _copied(factors: Floats) -> Floats:
    copy = aligned(factors.shape)
    copy[:] = factors
    return copy
