"""A trained model to a file and back.

The layout is that of safetensors. Its metadata says what the arrays are: `format` is "ialspp",
`format_version` is "1", and `description` holds the rest as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..files import container
from ..files.arrays import Arrays
from ..files.container import Container, StoreError
from ..files.version import FileVersion
from ..system.progress import Progress, reporting
from .state import Trained, arrays_of, described, restored

FORMAT, VERSION = "ialspp", 1
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

    metadata = {
        "format": FORMAT,
        "format_version": str(VERSION),
        "written_by": f"ialspp {version('ialspp')}",
        "description": json.dumps(described(trained, interactions=interactions)),
    }
    arrays = arrays_of(trained.fitted, interactions=interactions)
    with reporting("saving", sum(array.nbytes for array in arrays.values()), progress) as report:
        return container.write(path, arrays, metadata, report, instead_of)


def load(path: Path, *, mapped: bool = True, verify: bool | None = None) -> Trained:
    """Open a file that `save` wrote. If it is mapped, its arrays stay in the file."""
    opened, description = _opened(path, mapped=mapped)
    whole = not mapped or opened.version.size <= VERIFIED if verify is None else verify
    if whole:
        opened.verify()
    try:
        trained = restored(Arrays(opened.arrays), description, whole=whole)
        return replace(trained, fitted=replace(trained.fitted, file=opened))
    except (LookupError, TypeError, ValueError) as error:
        raise StoreError(f"{path} does not hold a whole model: {error}") from error


def verify(path: str | Path) -> None:
    """Read a model file completely; raise a `StoreError` that says what is damaged."""
    _opened(Path(path))[0].verify()


def info(path: str | Path) -> dict[str, Any]:
    """Return what a model file says of itself, as plain values. Its arrays are not read."""
    opened, description = _opened(Path(path))
    arrays: dict[str, dict[str, Any]] = {
        name: {"dtype": str(array.dtype), "shape": list(array.shape), "bytes": array.nbytes}
        for name, array in opened.arrays.items()
    }
    try:
        return _facts(opened, description, arrays)
    except (LookupError, TypeError) as error:
        raise StoreError(f"{path} does not hold a whole model: {error}") from error


def _facts(
    opened: Container, description: dict[str, Any], arrays: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    return {
        "format_version": int(opened.metadata["format_version"]),
        "written_by": opened.metadata.get("written_by"),
        "bytes": opened.version.size,
        "users": arrays["user_factors"]["shape"][0],
        "items": arrays["item_factors"]["shape"][0],
        "dim": arrays["item_factors"]["shape"][1],
        "has_interactions": "interactions.offsets" in arrays,
        **{name: description[name] for name in ("settings", "fitted_solver", "statistics", "history", "ids")},
        "arrays": arrays,
    }


def _opened(path: Path, *, mapped: bool = True) -> tuple[Container, dict[str, Any]]:
    """Open a file and parse its description, if this version can read it."""
    opened = Container.open(path, mapped=mapped)
    if opened.metadata.get("format") != FORMAT:
        raise StoreError(f"{path} is a safetensors file, but not a model of ialspp")
    try:
        found = int(opened.metadata["format_version"])
    except (KeyError, ValueError) as error:
        raise StoreError(f"{path} does not say what format_version it has: {error}") from error
    if found > VERSION:
        raise StoreError(
            f"{path} has format {found}, written by {opened.metadata.get('written_by')}; this version "
            f"reads formats up to {VERSION}: a newer ialspp is required"
        )
    try:
        description: dict[str, Any] = json.loads(opened.metadata["description"])
    except (KeyError, ValueError, RecursionError) as error:
        raise StoreError(f"{path} does not say what model it holds: {error}") from error
    if not isinstance(description, dict):
        raise StoreError(f"{path} does not say what model it holds: its description is not a JSON object")
    return opened, description
