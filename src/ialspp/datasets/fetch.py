"""Download files into the cache: resume, retry, check the hash, and rename once complete."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import IalsppError
from ..files.atomic import replace_whole
from ..files.lock import locked
from ..system.progress import Report, reporting
from .dataset import Remote

if TYPE_CHECKING:
    from email.message import Message
    from http.client import HTTPResponse
    from urllib.error import HTTPError

    Response = HTTPResponse | HTTPError

TRIES = 3  # how often a connection may break before we give up
PAUSE = 0.5  # seconds between two tries
TIMEOUT = 30.0  # seconds without a byte
CHUNK = 1 << 16  # bytes read at a time; a killed process loses at most as many
OK, PARTIAL, NO_SUCH_RANGE = 200, 206, 416  # http.HTTPStatus is slow to import


class DownloadError(IalsppError, OSError):
    """A download failed; the message names the file and says where to put it by hand."""


class _FailedError(Exception):
    """No file came, for this reason."""

    def __init__(self, reason: object) -> None:
        super().__init__(str(reason) or type(reason).__name__)


class _BrokenOffError(_FailedError):
    """The connection broke in the middle of the file; another connection may bring the rest."""


def cache_folder() -> Path:
    """The folder of downloaded data: $IALSPP_CACHE/datasets, else in the user's cache directory."""
    root = os.environ.get("IALSPP_CACHE")
    if root:
        return Path(root).expanduser().absolute() / "datasets"
    from platformdirs import user_cache_path

    return user_cache_path("ialspp") / "datasets"


def fetch(remote: Remote) -> Path:
    """Return the file's path in the cache; download it first if it is not there."""
    target = cache_folder() / remote.name
    if remote.is_at(target):
        return target
    with locked(target):
        if not remote.is_at(target):  # another process may have fetched it while this one waited
            _download(remote, target)
    return target


def _download(remote: Remote, target: Path) -> None:
    partial = _PartialFile(target)
    try:
        with reporting(remote.name) as report:
            _receive(remote, partial, report)
        _check(remote, partial)
    except _FailedError as error:
        kept = f" ({partial.size:,} bytes are kept, and the next try resumes there)" if partial.size else ""
        wrong = f"; the file there now is not it: {remote.fault(target)}" if target.is_file() else ""
        raise DownloadError(
            f"cannot download {remote.url}: {error}{kept}. Try again, or put the file at {target} "
            f"yourself{wrong}, or pass path= if you have it elsewhere"
        ) from error
    replace_whole(partial.path, target)
    partial.remove()


def _receive(remote: Remote, partial: _PartialFile, report: Report) -> None:
    """Complete the partial file, over several connections if they break."""
    if partial.size and partial.size == remote.size:
        return  # the last download ended between its last byte and the check
    for tries_left in reversed(range(TRIES)):
        try:
            _append(remote.url, partial, report)
            return
        except _BrokenOffError:
            if not tries_left:
                raise
            time.sleep(PAUSE)


def _append(url: str, partial: _PartialFile, report: Report) -> None:
    """Append what one connection brings."""
    with _opened(url, partial) as response, partial.path.open("ab") as file:
        done = file.tell()
        length = response.headers.get("Content-Length")
        total = done + int(length) if length else None
        report(done, note=_megabytes(done, total), total=total)
        while chunk := _read(response):
            done += file.write(chunk)
            report(done, note=_megabytes(done, total), total=total)
    if total is not None and done < total:  # http.client treats an early close as the end of the file
        raise _BrokenOffError(f"the connection closed after {done:,} of {total:,} bytes")


def _megabytes(done: int, total: int | None) -> str:
    of_total = "" if total is None else f" of {total / 1e6:,.1f}"
    return f"{done / 1e6:,.1f}{of_total} MB"


def _check(remote: Remote, partial: _PartialFile) -> None:
    fault = remote.fault(partial.path) or remote.checksum_fault(partial.path)
    if fault:
        partial.remove()
        raise _FailedError(f"the server sent another file, which was removed: {fault}")


def _opened(url: str, partial: _PartialFile) -> Response:
    """Open a response whose body continues the partial file, which is emptied if it cannot be continued."""
    response = _request(url, partial.resume_headers())
    if response.status == PARTIAL and partial.is_continued_by(response.headers):
        return response
    if response.status in (PARTIAL, NO_SUCH_RANGE):  # the file on the server has changed
        response.close()
        partial.remove()
        response = _request(url, {})
    if response.status != OK:
        response.close()
        raise _FailedError(f"HTTP status {response.status} {response.reason}")
    partial.begin(response.headers)
    return response


def _request(url: str, headers: dict[str, str]) -> Response:
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    request = Request(url, headers={"User-Agent": "ialspp", "Accept-Encoding": "identity", **headers})
    try:
        response: HTTPResponse = urlopen(request, timeout=TIMEOUT)
        return response
    except HTTPError as error:  # a response too, of a status that urlopen does not like
        return error
    except URLError as error:
        raise _FailedError(error.reason) from error
    except (OSError, HTTPException) as error:
        raise _FailedError(error) from error


def _read(response: Response) -> bytes:
    from http.client import HTTPException

    try:
        return response.read(CHUNK)
    except (OSError, HTTPException) as error:
        raise _BrokenOffError(error) from error


class _PartialFile:
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
        return self._version_file.read_text(encoding="utf-8") if self._version_file.exists() else ""

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
    return etag if etag.startswith('"') else headers.get("Last-Modified") or ""
