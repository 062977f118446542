"""Which file a path names: to notice that another process has replaced it."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from ..errors import InvalidStateError


class FileChangedError(InvalidStateError):
    """A file that was replaced by another process since it was read; nothing was written."""


class FileVersion(NamedTuple):
    """What two files never have in common, even if they have the same name, size and second."""

    device: int
    inode: int
    size: int
    modified: int  # nanoseconds

    @classmethod
    def of(cls, file: int | Path) -> FileVersion:
        """Return the version of an open file, or of the one at a path."""
        found = os.stat(file)  # noqa: PTH116 - which also takes the number of an open file
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def require_version(path: Path, expected: Collection[FileVersion]) -> None:
    """Raise a `FileChangedError` if the file at `path` is none of these. No file is fine: nothing is lost."""
    try:
        found = FileVersion.of(path)
    except FileNotFoundError:
        return
    if found not in expected:
        raise FileChangedError(
            f"{path} was replaced by another process since this model was read from it or written to it, and "
            "saving would lose what is in it now; load it and repeat the change, or save to another file"
        )
