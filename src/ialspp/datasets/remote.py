"""What is known of a file before it comes, and whether one that came is it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Remote:
    """A file on a server, with what is published of it; None where nothing is."""

    url: str
    size: int | None = None
    checksum: str | None = None  # "md5:..." or another of hashlib's names

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.url.rpartition("/")[2]

    def is_at(self, path: Path) -> bool:
        """Whether this file, whole, is there already; quick, so its checksum is not computed."""
        return path.is_file() and self.fault(path) is None

    def fault(self, path: Path) -> str | None:
        """What is wrong with the length or the end of a file that should be this one."""
        from zipfile import is_zipfile

        size = path.stat().st_size
        if self.size is not None and size != self.size:
            return f"it has {size:,} bytes, {self.size:,} are published"
        if self.name.endswith(".zip") and not is_zipfile(path):  # its directory stands at its end
            return f"its {size:,} bytes are not a whole zip archive"
        return None

    def checksum_fault(self, path: Path) -> str | None:
        """Both sums, where they differ."""
        if self.checksum is None:
            return None
        import hashlib

        kind, _, published = self.checksum.partition(":")
        digest = hashlib.new(kind, usedforsecurity=False)
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        found = digest.hexdigest()
        return None if found == published else f"its {kind} is {found}, {published} is published"
