"""Facts about a data set: where it comes from, its terms, and how to load it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..data.interactions import Interactions
from ..split import Split


@dataclass(frozen=True, slots=True)
class Remote:
    """A file on a server, with its published size and checksum, or None if none is published."""

    url: str
    size: int | None = None
    checksum: str | None = None  # "md5:..." or another algorithm of hashlib

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self.url.rpartition("/")[2]

    def is_at(self, path: Path) -> bool:
        """Whether `path` is this file; quick, because it does not compute the checksum."""
        return path.is_file() and self.fault(path) is None

    def fault(self, path: Path) -> str | None:
        """What is wrong with the length or the end of the file at `path`, or None."""
        from zipfile import is_zipfile

        size = path.stat().st_size
        if self.size is not None and size != self.size:
            return f"it has {size:,} bytes, but {self.size:,} are published"
        if self.name.endswith(".zip") and not is_zipfile(path):  # looks for the directory at the end
            return f"its {size:,} bytes are not a complete zip archive"
        return None

    def checksum_fault(self, path: Path) -> str | None:
        """Both checksums if they differ, or None."""
        if self.checksum is None:
            return None
        import hashlib

        algorithm, _, published = self.checksum.partition(":")
        digest = hashlib.new(algorithm, usedforsecurity=False)
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        found = digest.hexdigest()
        return None if found == published else f"its {algorithm} is {found}, but {published} is published"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """A data set with a name."""

    description: str
    load: Callable[..., Interactions | Split]  # takes `path` and the options of its function
    files: str  # the name of the file that is read, or of several
    home: str  # a page about it
    terms: str
    remote: Remote | None = None  # None: not downloaded; it is at `path` or in a package
    strong: Mapping[str, Any] | None = None  # how Liang et al. (2018) split it: options of `split.strong`
    strong_load: Mapping[str, Any] = field(default_factory=dict)  # and how they load it: options of `load`
