"""Checkpoints: the state of a fit after an epoch in a file, from which the fit goes on with the same bits.

An epoch depends on the factors and on the records of the epochs before, and on nothing else. So these two are
the state, beside the settings, the plan and what identifies the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..data.csr import Floats, aligned
from ..data.fingerprint import fingerprint
from ..data.interactions import Interactions
from ..errors import InvalidStateError, InvalidValueError
from ..files.arrays import Arrays, is_finite, whole
from ..files.atomic import require_writable
from ..files.container import Container, Memory, StoreError
from ..files.header import Header
from ..files.parsing import parsed_object
from ..files.version import FileVersion
from ..system.checks import checked_integer, checked_share
from .description import checked_history, checked_note, checked_settings, part
from .history import EpochRecord
from .state import require_plausible, settings_of
from .training import Plan

FORMAT, VERSION = "ialspp checkpoint", 1
COUNTS = ("users", "items", "pairs")  # that identify the data, beside its hash


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """What a file of this kind holds."""

    path: Path
    settings: dict[str, Any]  # the constructor's arguments, but for `threads`
    plan: Plan
    every: int
    data: dict[str, Any]  # what identifies it
    history: list[EpochRecord]
    is_finished: bool
    note: dict[str, Any]
    factors: tuple[Floats, Floats]  # read-only

    @classmethod
    def open(cls, path: Path) -> Checkpoint:
        """Read a checkpoint into memory; a `StoreError` says what is wrong with the file."""
        opened = CheckpointFile.open(path, mapped=False)
        opened.verify()
        with whole(path, "checkpoint"):
            return cls._restored(path, Arrays(opened.arrays), opened.description)

    @classmethod
    def _restored(cls, path: Path, arrays: Arrays, description: dict[str, Any]) -> Checkpoint:
        settings = settings_of(checked_settings(description))
        plan, history = _plan_in(description), checked_history(description)
        data = _checked_identity(part(description, "data", dict))
        if len(history) < plan.earlier:
            raise StoreError(f"{plan.earlier} epochs came before its fit, but it has only {len(history)}")
        return cls(
            path,
            settings,
            plan,
            checked_integer("every", part(description, "every", int), 1),
            data,
            history,
            part(description, "finished", bool),
            checked_note(description),
            _factors_in(arrays, data, checked_integer("dim", settings["dim"], 1)),
        )

    def require_data(self, data: Interactions) -> None:
        """Raise an error unless the fit was on this very data."""
        given = identity(data)
        if given == self.data:
            return
        counts = [name for name in COUNTS if given[name] != self.data[name]]
        differ = (
            ", ".join(f"{self.data[name]:,} {name}, got {given[name]:,}" for name in counts)
            or "the same counts, but other ids, pairs, labels or weights"
        )
        raise InvalidValueError(
            f"{self.path} belongs to a fit on other data: {differ}; a fit goes on with the data it began with"
        )

    def copies(self) -> tuple[Floats, Floats]:
        """Copy the factors, to train them further."""
        users, items = aligned(self.factors[0].shape), aligned(self.factors[1].shape)
        users[:], items[:] = self.factors
        return users, items


class CheckpointFile(Container):
    """A checkpoint's file. Its errors, until it is open, do not name it."""

    __slots__ = ("description",)

    description: dict[str, Any]

    def __init__(self, path: Path, version: FileVersion, header: Header, memory: Memory) -> None:
        super().__init__(path, version, header, memory)
        self.description = _description_in(self.metadata)


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


def note_of(path: Path) -> dict[str, Any]:
    """Return the note in a checkpoint, whose vectors are not read."""
    description = CheckpointFile.open(path).description
    with whole(path, "checkpoint"):
        return checked_note(description)


def progress_of(path: Path) -> str:
    """Say how far the fit of a checkpoint has come, whose vectors are not read."""
    description = CheckpointFile.open(path).description
    with whole(path, "checkpoint"):
        plan = _plan_in(description)
        done = len(part(description, "history", list)) - plan.earlier
        return f"epoch {done} of {plan.epochs}" + (
            ", finished" if part(description, "finished", bool) else ""
        )


def identity(data: Interactions) -> dict[str, Any]:
    """Describe what identifies data."""
    return {
        "users": data.n_users,
        "items": data.n_items,
        "pairs": len(data),
        "sha256": fingerprint(data),
    }


def require_free(path: Path) -> None:
    """Raise an error unless a new fit may write its checkpoints to `path`: no file, or one it can spare."""
    require_writable(path)
    if not path.exists():
        return
    try:
        found = Checkpoint.open(path)
    except StoreError as error:
        raise InvalidValueError(
            f"{path} is not a checkpoint, and will not be overwritten: {error}"
        ) from error
    if not found.is_finished:
        raise InvalidStateError(
            f"{path} has epoch {len(found.history) - found.plan.earlier} of a fit that has not ended; resume "
            "it (--resume, ImplicitMF.resume), or delete the file"
        )


def _plan_in(description: dict[str, Any]) -> Plan:
    plan = part(description, "plan", dict)
    least_fall = part(plan, "least_fall", float, type(None))
    return Plan(
        checked_integer("epochs", part(plan, "epochs", int), 0),
        None if least_fall is None else checked_share("until", least_fall),
        checked_integer("earlier", part(plan, "earlier", int), 0),
    )


def _checked_identity(data: dict[str, Any]) -> dict[str, Any]:
    """Return what identifies the data: `identity` of something."""
    counts = {name: checked_integer(name, part(data, name, int), 0) for name in COUNTS}
    return {**counts, "sha256": part(data, "sha256", str)}


def _factors_in(arrays: Arrays, data: dict[str, Any], dim: int) -> tuple[Floats, Floats]:
    users, items = (arrays.get(f"{name}_factors", np.float32, dimensions=2) for name in ("user", "item"))
    if (users.shape, items.shape) != ((data["users"], dim), (data["items"], dim)):
        raise StoreError(
            f"factors of {users.shape} and {items.shape} do not fit {data['users']} users, {data['items']} "
            f"items and {dim} dimensions"
        )
    require_plausible(users, items)
    if not (is_finite(users) and is_finite(items)):
        raise StoreError("its factors must be finite")
    return users, items
