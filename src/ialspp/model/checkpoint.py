"""Checkpoints: the state of a fit after an epoch, in a file from which the fit goes on with the same bits.

An epoch depends on the factors and on the records of the epochs before, and on nothing else. So these two are
the state. Beside it, the file holds what the fit was begun with: the job. A fit with `EarlyStopping` writes
format 2, which also has the score of each epoch and the factors of the best one. A fit with features writes
format 3, which also identifies them; the map from them to vectors follows from the factors. A fit that keeps
every half epoch writes format 4: after the users of an epoch are updated, it has the seconds that this took.
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
from ..errors import InvalidStateError, InvalidTypeError, InvalidValueError
from ..files.arrays import Arrays, is_finite, whole
from ..files.atomic import require_writable
from ..files.container import Container, Memory, StoreError
from ..files.header import Header
from ..files.parsing import parsed_object, part
from ..files.version import FileVersion
from ..solvers import Solver, half_epoch_of
from ..solvers.relaxation import checked_relaxation
from ..system.checks import checked_integer, checked_number
from .best import Judged
from .description import checked_history, checked_note, checked_settings
from .history import EpochRecord
from .state import require_plausible, settings_as_dict, settings_of
from .training import Plan

FORMAT, VERSIONS = "ialspp checkpoint", ("1", "2", "3", "4")
HALF = 0.5  # of an epoch: its users are updated, its items are not


def checked_every(every: Any, solver: Solver) -> float:
    """Return how many epochs there are from one checkpoint to the next: a whole number, or a half."""
    if every == HALF:
        if half_epoch_of(solver) is None:
            raise InvalidValueError(
                f"every=0.5 needs a solver that updates all users and then all items, got {solver!r}"
            )
        return HALF
    whole_number = int(every) if isinstance(every, float) and every.is_integer() else every
    if isinstance(whole_number, float):
        raise InvalidValueError(f"every must be 0.5 or a whole number of epochs, got {every!r}")
    return checked_integer("every", whole_number, 1)


@dataclass(frozen=True, slots=True)
class Job:
    """What a fit is begun with, and every checkpoint of it repeats."""

    settings: dict[str, Any]  # the constructor's arguments, but for `threads`
    plan: Plan
    data: Fingerprint
    every: float = 1  # epochs from one checkpoint to the next
    note: Mapping[str, Any] = field(default_factory=dict)  # plain values of whoever began the fit
    stopping: Mapping[str, Any] | None = None  # what the choice of the best epoch depends on
    features: Mapping[str, str] = field(default_factory=dict)  # fingerprints, by "user" and "item"

    @property
    def version(self) -> str:
        """The oldest format that can hold the checkpoints of this job."""
        newer = (self.stopping is not None, bool(self.features), self.every == HALF)
        return VERSIONS[max((n for n, used in enumerate(newer, 1) if used), default=0)]

    def described(self) -> dict[str, Any]:
        """Describe the job as plain values."""
        parts = {"plan": asdict(self.plan), "data": asdict(self.data)}
        stopping = {} if self.stopping is None else {"stopping": self.stopping}
        features = {"features": dict(self.features)} if self.features else {}
        settings = settings_as_dict(self.settings)
        return {"settings": settings, **parts, "every": self.every, "note": self.note, **stopping, **features}

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> Job:
        """Restore a job from its description, in which anything may be wrong."""
        settings = settings_of(checked_settings(described))
        return cls(
            settings,
            Plan(**part(described, "plan", dict)),
            Fingerprint(**part(described, "data", dict)),
            checked_every(described.get("every"), settings["solver"]),
            checked_note(described),
            part(described, "stopping", dict) if "stopping" in described else None,
            _checked_features(described),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """The factors in a file, to train them further, and what is known of the best epoch."""

    factors: tuple[Floats, Floats]
    judged: Judged


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """What a file says, without its factors."""

    path: Path
    written_by: str
    version: FileVersion
    job: Job
    history: list[EpochRecord]
    is_finished: bool
    scores: tuple[float, ...] = ()  # of the epochs of this fit, if it has `EarlyStopping`
    half: float | None = None  # seconds of the half epoch after those epochs, if that has ended

    @classmethod
    def read(cls, path: Path) -> Checkpoint:
        """Read the header of a file; a `StoreError` says what is wrong with it."""
        return cls._of(CheckpointFile.open(path))

    @classmethod
    def open(cls, path: Path) -> tuple[Checkpoint, Kept]:
        """Read a file and the factors in it, to train them further; a `StoreError` says what is wrong."""
        opened = CheckpointFile.open(path, mapped=False)
        opened.verify()
        found = cls._of(opened)
        with whole(path, "checkpoint"):
            return found, found._kept(Arrays(opened.arrays))

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
                _checked_scores(described.get("scores", [])),
                None if described.get("half") is None else checked_number("half", described["half"]),
            ).checked()

    def checked(self) -> Checkpoint:
        """Return the checkpoint, or raise an error unless its scores and its half epoch fit the fit."""
        if self.half is not None and (self.is_finished or self.job.every != HALF):
            raise InvalidValueError("a half epoch fits neither a fit that has ended nor one without halves")
        epochs = 0 if self.job.stopping is None else self.job.plan.done(self.history)
        best = Judged(self.scores).best
        if epochs != (best if self.is_finished else len(self.scores)):
            raise InvalidValueError(
                f"{epochs} epochs do not fit scores of {len(self.scores)}, {best} the best"
            )
        return self

    def _kept(self, arrays: Arrays) -> Kept:
        factors = self._factors(arrays)
        if not self.scores:
            return Kept(factors, Judged())
        is_last = self.is_finished or Judged(self.scores).best == len(self.scores)
        best = self._factors(arrays, "" if is_last else "best_")  # a copy, because the others will change
        return Kept(factors, Judged(self.scores, best))

    def _factors(self, arrays: Arrays, prefix: str = "") -> tuple[Floats, Floats]:
        """Copy factors, to train them further."""
        data, dim = self.job.data, checked_integer("dim", self.job.settings["dim"], 1)
        users, items = (
            arrays.get(f"{prefix}{name}_factors", np.float32, dimensions=2) for name in ("user", "item")
        )
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
        end = ", the last" if self.is_finished else "" if self.half is None else ", and half of the next"
        return f"epoch {plan.done(self.history)} of {plan.epochs}{end}"

    def info(self) -> dict[str, Any]:
        """Describe the file as plain values."""
        return {
            "format": FORMAT,
            "format_version": int(self.job.version),
            "written_by": self.written_by,
            "bytes": self.version.size,
            **self.job.described(),
            "history": [asdict(record) for record in self.history],
            "finished": self.is_finished,
            **({} if self.job.stopping is None else {"scores": list(self.scores)}),
            **({} if self.half is None else {"half": self.half}),
        }

    def require_data(self, data: Interactions) -> None:
        """Raise an error unless the fit was begun on this very data."""
        difference = self.job.data.difference(Fingerprint.of(data))
        if difference is not None:
            raise InvalidValueError(
                f"{self.path} belongs to a fit on other data: {difference}; a fit goes on with the data that "
                "it was begun with"
            )

    def require_features(self, fingerprints: Mapping[str, str]) -> None:
        """Raise an error unless the fit was begun with these very features."""
        for name in ("user", "item"):
            before, now = self.job.features.get(name), fingerprints.get(name)
            if before != now:
                begun = f"without {name}_features" if before is None else f"with {name}_features"
                wanted = "leave them out" if before is None else "give the same ones to resume"
                came = "" if before is None or now is None else ", but with others"
                raise InvalidValueError(f"{self.path} belongs to a fit {begun}{came}; {wanted}")

    def require_stopping(self, described: Mapping[str, Any] | None) -> None:
        """Raise an error unless the best epoch is chosen as in the first part of the fit."""
        before = self.job.stopping
        if described == before or (self.is_finished and described is None):
            return
        if before is None:
            raise InvalidValueError(f"{self.path} belongs to a fit without early stopping; leave it out")
        if described is None:
            raise InvalidValueError(
                f"{self.path} belongs to a fit with early stopping; give the same to resume(callbacks=[...])"
            )
        names = {**before, **described}
        name = next(name for name in names if before.get(name) != described.get(name))
        raise InvalidValueError(
            f"{self.path} belongs to a fit with other early stopping: {name} was {before.get(name)!r}, got "
            f"{described.get(name)!r}"
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
    if metadata.get("format_version") not in VERSIONS:
        raise StoreError(
            f"is a checkpoint of format {metadata.get('format_version')!r}, written by "
            f"{metadata.get('written_by')}; this version reads formats {', '.join(VERSIONS)}"
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


def _checked_features(described: Mapping[str, Any]) -> Mapping[str, str]:
    features: dict[str, str] = part(described, "features", dict) if "features" in described else {}
    for name in features:
        part(features, name, str)
    return features


def _checked_scores(scores: Any) -> tuple[float, ...]:
    if not isinstance(scores, list):
        raise InvalidTypeError(f"scores must be a list, got {scores!r}")
    for score in scores:
        if not isinstance(score, float) or not math.isfinite(score):
            raise InvalidTypeError(f"a score must be a finite number, got {score!r}")
    return tuple(scores)


def _copied(factors: Floats) -> Floats:
    copy = aligned(factors.shape)
    copy[:] = factors
    return copy
