"""Checkpoints: the state of a fit after an epoch in a file, from which the fit goes on with the same bits.

An epoch depends on the factors and on the records of the epochs before, and on nothing else. So these two are
the state, beside the settings, the plan and what identifies the data.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..data.csr import Floats, aligned
from ..data.fingerprint import fingerprint
from ..data.interactions import Interactions
from ..errors import InvalidStateError, InvalidValueError
from ..files.arrays import Arrays
from ..files.atomic import require_writable
from ..files.container import Container, StoreError
from ..system.checks import checked_integer, checked_share
from .history import EpochRecord
from .state import settings_of
from .training import Plan

FORMAT, VERSION = "ialspp checkpoint", 1


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
        opened, description = _opened(path, mapped=False)
        opened.verify()
        with _whole(path):
            return cls._restored(path, Arrays(opened.arrays), description)

    @classmethod
    def _restored(cls, path: Path, arrays: Arrays, description: dict[str, Any]) -> Checkpoint:
        users, items = (arrays.get(f"{name}_factors", np.float32, dimensions=2) for name in ("user", "item"))
        if not (np.isfinite(users).all() and np.isfinite(items).all()):
            raise StoreError("its factors must be finite")
        return cls(
            path,
            settings_of(description["settings"]),
            _plan_of(**description["plan"]),
            checked_integer("every", description["every"], 1),
            dict(description["data"]),
            [EpochRecord(**record) for record in description["history"]],
            bool(description["finished"]),
            dict(description["note"]),
            (users, items),
        )

    def require_data(self, data: Interactions) -> None:
        """Raise an error unless the fit was on this very data."""
        given = identity(data)
        if given == self.data:
            return
        counts = [name for name in ("users", "items", "pairs") if given[name] != self.data.get(name)]
        differ = (
            ", ".join(f"{self.data.get(name):,} {name}, got {given[name]:,}" for name in counts)
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


def note_of(path: Path) -> dict[str, Any]:
    """Return the note in a checkpoint, whose vectors are not read."""
    description = _opened(path)[1]
    with _whole(path):
        return dict(description["note"])


def progress_of(path: Path) -> str:
    """Say how far the fit of a checkpoint has come, whose vectors are not read."""
    description = _opened(path)[1]
    with _whole(path):
        plan = _plan_of(**description["plan"])
        done = len(description["history"]) - plan.earlier
        return f"epoch {done} of {plan.epochs}" + (", finished" if description["finished"] else "")


def _opened(path: Path, *, mapped: bool = True) -> tuple[Container, dict[str, Any]]:
    """Open a checkpoint and parse its description, if this version can read it."""
    opened = Container.open(path, mapped=mapped)
    if opened.metadata.get("format") != FORMAT:
        raise StoreError(f"{path} is not a checkpoint of ialspp")
    if opened.metadata.get("format_version") != str(VERSION):
        raise StoreError(
            f"{path} is a checkpoint of format {opened.metadata.get('format_version')!r}, written by "
            f"{opened.metadata.get('written_by')}; this version reads format {VERSION}"
        )
    with _whole(path):
        return opened, dict(json.loads(opened.metadata["description"]))


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """Turn what goes wrong with the contents of a checkpoint into a `StoreError` that names the file."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"{path} does not hold a whole checkpoint: {error}") from error


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


def _plan_of(epochs: int, least_fall: float | None, earlier: int) -> Plan:
    return Plan(
        checked_integer("epochs", epochs, 0),
        None if least_fall is None else checked_share("until", least_fall),
        checked_integer("earlier", earlier, 0),
    )
