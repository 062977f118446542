"""The part of a download that has come so far, which a later connection continues."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from email.message import Message


class PartialFile:
    """`target`.part with the bytes received so far, and beside it the version of the file they belong to."""

    def __init__(self, target: Path) -> None:
        self.path = target.with_name(f"{target.name}.part")
        self._version_file = target.with_name(f"{target.name}.part.version")

    @property
    def size(self) -> int:
        """How many bytes were received."""
        return self.path.stat().st_size if self.path.exists() else 0

    @property
    def _version(self) -> str:
        if not self._version_file.exists():
            return ""
        return _sendable(self._version_file.read_text(encoding="utf-8", errors="replace"))

    def resume_headers(self) -> dict[str, str]:
        """Headers that ask for the rest of the same version; none if the version is not known."""
        if not (self.size and self._version):
            return {}
        return {"Range": f"bytes={self.size}-", "If-Range": self._version}

    def is_continued_by(self, headers: Message) -> bool:
        """Whether the response starts where these bytes end, in the same version of the file."""
        starts_here = headers.get("Content-Range", "").startswith(f"bytes {self.size}-")
        return starts_here and bool(self._version) and _version_in(headers) == self._version

    def begin(self, headers: Message) -> None:
        """Start over with the version that the response has."""
        # Emptied first: if we crash in between, old bytes must not be taken for the new version's.
        self.path.write_bytes(b"")
        self._version_file.write_text(_version_in(headers), encoding="utf-8")

    def remove(self) -> None:
        """Delete the bytes and their version."""
        self.path.unlink(missing_ok=True)
        self._version_file.unlink(missing_ok=True)


def _version_in(headers: Message) -> str:
    """What If-Range may name (RFC 9110, 13.1.5): a strong ETag, else the date, else nothing."""
    etag = headers.get("ETag") or ""
    return _sendable(etag if etag.startswith('"') else headers.get("Last-Modified") or "")


def _sendable(version: str) -> str:
    """Return a version that can be sent back in a header; nothing in the place of another one."""
    return version if version.isascii() and version.isprintable() else ""
