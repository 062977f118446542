"""Download files into the cache: resume, retry, check the hash, and rename once complete."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import IalsppError
from ..files.atomic import replace_whole, whole_file
from ..files.lock import locked
from ..system.progress import Report, reporting
from .dataset import Remote, digests
from .partial import PartialFile
from .request import BrokenOffError, FailedError, length_of, read, request

if TYPE_CHECKING:
    from .request import Response

TRIES = 3  # how often a connection may break before we give up
PAUSE = 0.5  # seconds between two tries
OK, PARTIAL, NO_SUCH_RANGE = 200, 206, 416  # http.HTTPStatus is slow to import


class DownloadError(IalsppError, OSError):
    """A download failed; the message names the file and says where to put it by hand."""


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
    partial = PartialFile(target)
    try:
        with reporting(remote.name) as report:
            _receive(remote, partial, report)
        _check(remote, partial)
        _compare_with_first(remote, partial, target.with_name(f"{target.name}.sha256"))
    except FailedError as error:
        kept = f" ({partial.size:,} bytes are kept, and the next try resumes there)" if partial.size else ""
        wrong = f"; the file there now is not it: {remote.fault(target)}" if target.is_file() else ""
        raise DownloadError(
            f"cannot download {remote.url}: {error}{kept}. Try again, or put the file at {target} "
            f"yourself{wrong}, or pass path= if you have it elsewhere"
        ) from error
    replace_whole(partial.path, target)
    partial.remove()


def _receive(remote: Remote, partial: PartialFile, report: Report) -> None:
    """Complete the partial file, over several connections if they break."""
    if partial.size and partial.size == remote.size:
        return  # the last download ended between its last byte and the check
    for tries_left in reversed(range(TRIES)):
        try:
            _append(remote, partial, report)
            return
        except BrokenOffError:
            if not tries_left:
                raise
            time.sleep(PAUSE)


def _append(remote: Remote, partial: PartialFile, report: Report) -> None:
    """Append what one connection brings."""
    with _opened(remote.url, partial) as response, partial.path.open("ab") as file:
        done = file.tell()
        length = length_of(response)
        total = None if length is None else done + length
        _require_room(remote, partial, done if total is None else total)
        report(done, note=_megabytes(done, total), total=total)
        while chunk := read(response):
            _require_room(remote, partial, done + len(chunk))
            done += file.write(chunk)
            report(done, note=_megabytes(done, total), total=total)
    if total is not None and done < total:  # http.client treats an early close as the end of the file
        raise BrokenOffError(f"the connection closed after {done:,} of {total:,} bytes")


def _require_room(remote: Remote, partial: PartialFile, size: int) -> None:
    """Raise an error if so many bytes are more than the file may have."""
    if size > remote.limit:
        partial.remove()
        what = "are published" if remote.size is not None else "are the most that is accepted"
        raise FailedError(
            f"the server sends {size:,} bytes or more, but {remote.limit:,} {what}; they were removed"
        )


def _megabytes(done: int, total: int | None) -> str:
    of_total = "" if total is None else f" of {total / 1e6:,.1f}"
    return f"{done / 1e6:,.1f}{of_total} MB"


def _check(remote: Remote, partial: PartialFile) -> None:
    fault = remote.fault(partial.path) or remote.checksum_fault(partial.path)
    if fault:
        partial.remove()
        raise FailedError(f"the server sent another file, which was removed: {fault}")


def _compare_with_first(remote: Remote, partial: PartialFile, record: Path) -> None:
    """Where no SHA-256 is known, note that of the first download, and require it of later ones."""
    if remote.has_sha256:
        return
    found = digests(partial.path, ["sha256"])["sha256"]
    if not record.exists():
        with whole_file(record) as file:
            file.write(f"{found}  {remote.name}\n".encode())
        return
    first = record.read_text(encoding="utf-8", errors="replace").partition(" ")[0].strip()
    if found != first:
        partial.remove()
        raise FailedError(
            f"the server sent another file, which was removed: its sha256 is {found}, but that of the first "
            f"download was {first[:64]}. Delete {record} if the file was changed for a good reason"
        )


def _opened(url: str, partial: PartialFile) -> Response:
    """Open a response whose body continues the partial file, which is emptied if it cannot be continued."""
    response = request(url, partial.resume_headers())
    if response.status == PARTIAL and partial.is_continued_by(response.headers):
        return response
    if response.status in (PARTIAL, NO_SUCH_RANGE):  # the file on the server has changed
        response.close()
        partial.remove()
        response = request(url, {})
    if response.status != OK:
        response.close()
        raise FailedError(f"HTTP status {response.status} {response.reason}")
    partial.begin(response.headers)
    return response
