"""A file on its way: what has come so far, and of which version of the file it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from email.message import Message


class Part:
    """`target`.part and, beside it, the server's word for the version its bytes belong to."""

    def __init__(self, target: Path) -> None:
        self.path = target.with_name(f"{target.name}.part")
        self._version = target.with_name(f"{target.name}.part.version")

    @property
    def size(self) -> int:
        """How many bytes have come."""
        return self.path.stat().st_size if self.path.exists() else 0

    def resume_headers(self) -> dict[str, str]:
        """Ask for the rest, if it is still the same file; nothing where that could not be told."""
        if not (self.size and self._version.exists()):
            return {}
        version = self._version.read_text(encoding="utf-8")
        return {"Range": f"bytes={self.size}-", "If-Range": version} if version else {}

    def is_continued_by(self, headers: Message) -> bool:
        """Whether an answer to `resume_headers` starts where the part ends, in the same version."""
        starts_here = headers.get("Content-Range", "").startswith(f"bytes {self.size}-")
        return starts_here and version_of(headers) == self._version.read_text(encoding="utf-8")

    def begin(self, headers: Message) -> None:
        """Start over with the version of this answer."""
        # Emptied first: after a crash in between, old bytes must not pass for the new version's.
        self.path.write_bytes(b"")
        self._version.write_text(version_of(headers), encoding="utf-8")

    def remove(self) -> None:
        """Forget what has come."""
        self.path.unlink(missing_ok=True)
        self._version.unlink(missing_ok=True)


def version_of(headers: Message) -> str:
    """What an If-Range may name (RFC 9110, 13.1.5): a strong ETag, else the date, else nothing."""
    etag = headers.get("ETag") or ""
    return etag if etag.startswith('"') else headers.get("Last-Modified") or ""
