"""Facts about a data set: where it comes from, its terms, and how to load it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..data.interactions import Interactions
from ..split import Split


@dataclass(frozen=True, slots=True)
class Remote:
    """A file on a server, with its size and checksums as far as they are known."""

    url: str
    size: int | None = None
    checksums: tuple[str, ...] = ()  # each "sha256:..." or another algorithm of hashlib
    largest: int = 2**30  # bytes that are accepted where the size is not known

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self.url.rpartition("/")[2]

    @property
    def limit(self) -> int:
        """How many bytes are accepted."""
        return self.largest if self.size is None else self.size

    @property
    def has_sha256(self) -> bool:
        """Whether its SHA-256 is known."""
        return any(checksum.startswith("sha256:") for checksum in self.checksums)

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
        """A checksum that differs, with the one that is required; None if there is no such."""
        required = dict(checksum.split(":") for checksum in self.checksums)
        for algorithm, found in digests(path, required).items():
            if found != required[algorithm]:
                return f"its {algorithm} is {found}, but {required[algorithm]} is required"
        return None


def digests(path: Path, algorithms: Iterable[str]) -> dict[str, str]:
    """Compute checksums of a file, by the names that hashlib has for them."""
    import hashlib

    hashes = {name: hashlib.new(name, usedforsecurity=name != "md5") for name in algorithms}
    with path.open("rb") as file:
        while hashes and (chunk := file.read(1 << 20)):
            for digest in hashes.values():
                digest.update(chunk)
    return {name: digest.hexdigest() for name, digest in hashes.items()}


@dataclass(frozen=True, slots=True)
class NamesFile:
    """The file of the names of a data set's items."""

    file: str
    read: Callable[[Path], Any]  # returns what `Interactions.with_names` takes


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """A data set with a name."""

    description: str
    load: Callable[..., Interactions | Split]  # takes `path` and the options of its function
    files: str  # the name of the file that is read, or of several
    home: str  # a page about it
    terms: str
    names: NamesFile | None = None  # of its items; a copy may lack the file
    weight: str | None = None  # how pairs are weighted unless `load` is told otherwise; None: all the same
    options: tuple[str, ...] = ()  # those of `load` that the command line offers
    remote: Remote | None = None  # None: not downloaded; it is at `path` or in a package
    strong: Mapping[str, Any] | None = None  # how Liang et al. (2018) split it: options of `split.strong`
    strong_load: Mapping[str, Any] = field(default_factory=dict)  # and how they load it: options of `load`
