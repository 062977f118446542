"""A trained model to a file and back.

The layout is that of safetensors. Its metadata says what the arrays are: `format` is "ialspp",
`format_version` is "1", "2" if there are names, or "3" if there are features, and `description` holds the
rest as JSON.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..data.statistics import checked_statistics
from ..data.stored_ids import has_names
from ..files import container
from ..files.arrays import Arrays, whole
from ..files.container import Container, Memory
from ..files.format import VERIFIED, Format
from ..files.header import Header
from ..files.parsing import part
from ..files.version import FileVersion
from ..system.progress import Progress, reporting
from .description import checked_history, checked_settings, checked_solver
from .fitted import Fitted
from .state import Trained, arrays_of, described, restored
from .stored_features import has_features

WITHOUT_NAMES, WITH_NAMES, WITH_FEATURES = 1, 2, 3
FORMAT = Format("ialspp", "model", WITH_FEATURES)


def save(
    trained: Trained,
    path: Path,
    *,
    interactions: bool,
    progress: Progress,
    force: bool = False,
    instead_of: Collection[FileVersion] | None = None,
) -> FileVersion:
    """Write a trained model to a file, atomically.

    force: replace a file of another kind, too. instead_of: the versions that may be replaced.
    """
    if not force:
        FORMAT.require_own(path)
    metadata = FORMAT.metadata(described(trained, interactions=interactions), _oldest(trained.fitted))
    arrays = arrays_of(trained.fitted, interactions=interactions)
    with reporting("saving", sum(array.nbytes for array in arrays.values()), progress) as report:
        return container.write(path, arrays, metadata, report, instead_of)


def _oldest(fitted: Fitted) -> int:
    """Return the oldest format that can hold a model, so that older versions can read it if possible."""
    sides = fitted.users, fitted.items
    if any(side.features is not None for side in sides):
        return WITH_FEATURES
    return WITH_NAMES if any(side.ids.names is not None for side in sides) else WITHOUT_NAMES


class ModelFile(Container):
    """A model file. Its errors, until it is open, do not name it."""

    __slots__ = ("description",)

    description: dict[str, Any]

    def __init__(self, path: Path, version: FileVersion, header: Header, memory: Memory) -> None:
        super().__init__(path, version, header, memory)
        self.description = FORMAT.description_in(self.metadata)

    def restored(self) -> Trained:
        """Put the model together. Numbers in its arrays are not read yet."""
        with whole(self.path, "model"):
            return restored(Arrays(self.arrays), self.description)

    def check_content(self) -> None:
        """Check every number: a stranger can write checksums that are right."""
        trained = self.restored()
        with whole(self.path, "model"):
            trained.fitted.check()

    def info(self) -> dict[str, Any]:
        """Return what the file says of itself, as plain values."""
        with whole(self.path, "model"):
            return _facts(self)


def load(path: Path, *, mapped: bool = True, verify: bool | None = None) -> Trained:
    """Open a file that `save` wrote. If it is mapped, its arrays stay in the file."""
    opened = ModelFile.open(path, mapped=mapped)
    if (not mapped or opened.version.size <= VERIFIED) if verify is None else verify:
        opened.verify()
    trained = opened.restored()
    return replace(trained, fitted=replace(trained.fitted, file=opened))


def verify(path: str | Path) -> None:
    """Read a model file completely; raise a `StoreError` that says what is damaged.

    Examples
    --------
    >>> store.save(model, "groceries.ialspp")
    >>> store.verify("groceries.ialspp")  # no error: the file is sound
    """
    ModelFile.open(Path(path)).verify()


def info(path: str | Path) -> dict[str, Any]:
    """Return what a model file says of itself, as plain values. Its arrays are not read.

    Examples
    --------
    >>> store.save(model, "groceries.ialspp")
    >>> facts = store.info("groceries.ialspp")
    >>> facts["users"], facts["items"], facts["dim"], len(facts["history"])
    (4, 5, 2, 8)
    """
    return ModelFile.open(Path(path)).info()


def _facts(opened: ModelFile) -> dict[str, Any]:
    described, arrays = opened.description, Arrays(opened.arrays)
    users, items = (arrays.get(f"{name}_factors", np.float32, dimensions=2) for name in ("user", "item"))
    checked_history(described)  # but shown as the file has it
    return {
        "format_version": int(opened.metadata["format_version"]),
        "written_by": opened.metadata.get("written_by"),
        "bytes": opened.version.size,
        "checksum": opened.checksum,
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
        "features": {name: has_features(arrays, name) for name in ("user", "item")},
        "arrays": opened.layout(),
    }
