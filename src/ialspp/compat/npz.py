"""Files of implicit's `save`: numpy archives, which either library reads."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValueError
from ..files.atomic import whole_file

SETTINGS = (
    "factors",
    "regularization",
    "alpha",
    "iterations",
    "num_threads",
    "use_native",
    "use_cg",
    "cg_steps",
    "calculate_training_loss",
    "random_state",
)
VECTORS = ("user_factors", "item_factors")

Target = str | os.PathLike[str] | IO[bytes]


def save(target: Target, values: dict[str, Any]) -> None:
    """Write values to a file, atomically, or to an open one. None is left out: it would need pickle."""
    there = {name: value for name, value in values.items() if value is not None}
    if not isinstance(target, (str, os.PathLike)):
        np.savez(target, **there)
        return
    with whole_file(_with_suffix(target)) as file:
        np.savez(file, **there)


def load(source: Target) -> dict[str, Any]:
    """Read what `save` wrote, here or in implicit; nothing in the file is executed."""
    opened = _with_suffix(source) if isinstance(source, (str, os.PathLike)) else source
    try:
        with np.load(opened, allow_pickle=False) as archive:
            return {name: _plain(archive[name]) for name in archive.files if name in SETTINGS + VECTORS}
    except (AttributeError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise InvalidValueError(f"{source} is not a model that implicit's save wrote: {error}") from error


def _with_suffix(path: str | os.PathLike[str]) -> Path:
    name = os.fspath(path)
    return Path(name if name.endswith(".npz") else f"{name}.npz")


def _plain(array: NDArray[Any]) -> Any:
    return array.item() if array.shape == () else array
