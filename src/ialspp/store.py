"""Model files: one mappable file with factors, ids, names, settings, history, statistics and interactions.

The layout is that of safetensors. The metadata says what the arrays are: `format` is "ialspp",
`format_version` is "1", or "2" if there are names, or "3" if there are features, and `description` holds the
rest as JSON.
"""

from __future__ import annotations

from pathlib import Path

from .errors import InvalidTypeError
from .files.container import StoreError
from .files.version import FileChangedError
from .model.model import ImplicitMF
from .model.saving import info, verify
from .system.progress import Progress

__all__ = ["FileChangedError", "StoreError", "info", "load", "save", "verify"]


def save(
    model: ImplicitMF,
    path: str | Path,
    *,
    interactions: bool = True,
    progress: Progress = False,
    force: bool = False,
) -> None:
    """Write a fitted model to a file, atomically; see `ImplicitMF.save`.

    Examples
    --------
    >>> store.save(model, "groceries.ialspp")
    >>> store.info("groceries.ialspp")["has_interactions"]
    True
    """
    if not isinstance(model, ImplicitMF):
        raise InvalidTypeError(f"an ImplicitMF is required, got {type(model).__name__}")
    model.save(path, interactions=interactions, progress=progress, force=force)


def load(
    path: str | Path, *, mapped: bool = True, verify: bool | None = None, threads: int | None = None
) -> ImplicitMF:
    """Open a file that `save` wrote; see `ImplicitMF.load`.

    Examples
    --------
    >>> store.save(model, "groceries.ialspp")
    >>> store.load("groceries.ialspp").recommend("bob", k=2)
    ['sugar', 'rice']
    """
    return ImplicitMF.load(path, mapped=mapped, verify=verify, threads=threads)
