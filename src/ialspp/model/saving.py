"""A trained model to a file and back.

The layout is that of safetensors. Its metadata says what the arrays are: `format` is "ialspp",
`format_version` is "1", or "2" if there are names, and `description` holds the rest as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..data.stored_ids import has_names
from ..files import container
from ..files.arrays import Arrays, whole
from ..files.container import Container, Memory, StoreError
from ..files.header import Header
from ..files.parsing import parsed_object
from ..files.version import FileVersion
from ..system.checks import checked_integer
from ..system.progress import Progress, reporting
from .description import checked_history, checked_settings, checked_solver, checked_statistics, part
from .state import Trained, arrays_of, described, restored

FORMAT, WITHOUT_NAMES, VERSION = "ialspp", 1, 2
VERIFIED = 64 * 2**20  # bytes: files up to this size are checked completely when they are opened


def save(
    trained: Trained,
    path: Path,
    *,
    interactions: bool,
    progress: Progress,
    instead_of: Collection[FileVersion] | None = None,
) -> FileVersion:
    """Write a trained model to a file, atomically. `instead_of`: the versions that may be replaced."""
    from importlib.metadata import version

    named = any(side.ids.names is not None for side in (trained.fitted.users, trained.fitted.items))
    metadata = {
        "format": FORMAT,
        "format_version": str(VERSION if named else WITHOUT_NAMES),  # older versions can read format 1
        "written_by": f"ialspp {version('ialspp')}",
        "description": json.dumps(described(trained, interactions=interactions)),
    }
    arrays = arrays_of(trained.fitted, interactions=interactions)
    with reporting("saving", sum(array.nbytes for array in arrays.values()), progress) as report:
        return container.write(path, arrays, metadata, report, instead_of)


class ModelFile(Container):
    """A model file. Its errors, until it is open, do not name it."""

    __slots__ = ("description",)

    description: dict[str, Any]

    def __init__(self, path: Path, version: FileVersion, header: Header, memory: Memory) -> None:
        super().__init__(path, version, header, memory)
        self.description = _description_in(self.metadata)

    def restored(self) -> Trained:
        """Put the model together. Numbers in its arrays are not read yet."""
        with whole(self.path, "model"):
            return restored(Arrays(self.arrays), self.description)

    def check_content(self) -> None:
        """Check every number: a stranger can write checksums that are right."""
        trained = self.restored()
        with whole(self.path, "model"):
            trained.fitted.check()


def load(path: Path, *, mapped: bool = True, verify: bool | None = None) -> Trained:
    """Open a file that `save` wrote. If it is mapped, its arrays stay in the file."""
    opened = ModelFile.open(path, mapped=mapped)
    if (not mapped or opened.version.size <= VERIFIED) if verify is None else verify:
        opened.verify()
    trained = opened.restored()
    return replace(trained, fitted=replace(trained.fitted, file=opened))


def verify(path: str | Path) -> None:
    """Read a model file completely; raise a `StoreError` that says what is damaged."""
    ModelFile.open(Path(path)).verify()


def info(path: str | Path) -> dict[str, Any]:
    """Return what a model file says of itself, as plain values. Its arrays are not read."""
    opened = ModelFile.open(Path(path))
    with whole(opened.path, "model"):
        return _facts(opened)


def _facts(opened: ModelFile) -> dict[str, Any]:
    described, arrays = opened.description, Arrays(opened.arrays)
    users, items = (arrays.get(f"{name}_factors", np.float32, dimensions=2) for name in ("user", "item"))
    checked_history(described)  # but shown as the file has it
    return {
        "format_version": int(opened.metadata["format_version"]),
        "written_by": opened.metadata.get("written_by"),
        "bytes": opened.version.size,
        "users": len(users),
        "items": len(items),
        "dim": items.shape[1],
        "has_interactions": "interactions.offsets" in arrays,
        "settings": checked_settings(described),
        "fitted_solver": checked_solver(described),
        "statistics": checked_statistics(described),
        "history": described["history"],
        "ids": {name: part(part(described, "ids", dict), name, str) for name in ("user", "item")},
        "names": {name: has_names(arrays, name) for name in ("user", "item")},
        "arrays": {
            name: {"dtype": str(array.dtype), "shape": list(array.shape), "bytes": array.nbytes}
            for name, array in opened.arrays.items()
        },
    }


def _description_in(metadata: dict[str, str]) -> dict[str, Any]:
    """Parse the description of a model, if this version can read it."""
    if metadata.get("format") != FORMAT:
        raise StoreError("is a safetensors file, but not a model of ialspp")
    try:
        found = checked_integer("format_version", int(metadata["format_version"]), 1)
    except (KeyError, ValueError) as error:
        raise StoreError(f"does not say what format_version it has: {error}") from error
    if found > VERSION:
        raise StoreError(
            f"has format {found}, written by {metadata.get('written_by')}; this version reads formats up to "
            f"{VERSION}: a newer ialspp is required"
        )
    try:
        return parsed_object(metadata["description"])
    except (KeyError, StoreError) as error:
        raise StoreError(f"does not say what model it holds: {error}") from error
