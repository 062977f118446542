"""Files from the net into the cache: resumed where they broke off, checked, whole or not at all."""

from __future__ import annotations

import time
from pathlib import Path

from ..errors import IalsppError
from ..files.atomic import replace_whole
from ..system.progress import Report, reporting
from .cache import cache_folder, locked
from .part import Part
from .remote import Remote
from .server import BrokenOffError, FetchError, answer, read

TRIES = 3  # connections that break in the middle
PAUSE = 0.5  # seconds before the next
CHUNK = 1 << 16  # bytes between two looks of the bar; what a sudden end can cost


class DownloadError(IalsppError, OSError):
    """A file could not be had; the message names it and where to put it by hand."""


def fetch(remote: Remote) -> Path:
    """The file in the cache, downloaded now unless it is there."""
    target = cache_folder() / remote.name
    if remote.is_at(target):
        return target
    with locked(target):
        if not remote.is_at(target):  # else another process brought it meanwhile
            _download(remote, target)
    return target


def _download(remote: Remote, target: Path) -> None:
    part = Part(target)
    try:
        with reporting(remote.name) as report:
            _receive(remote, part, report)
        _check(remote, part)
    except FetchError as error:
        kept = f" ({part.size:,} bytes have come; the next try goes on from there)" if part.size else ""
        unfit = f"; the one there now is not it: {remote.fault(target)}" if target.is_file() else ""
        raise DownloadError(
            f"cannot download {remote.url}: {error}{kept}. Try again, or put the file at {target} "
            f"yourself{unfit}, or pass path= where you have it already"
        ) from error
    replace_whole(part.path, target)
    part.remove()  # what stood beside it


def _receive(remote: Remote, part: Part, report: Report) -> None:
    """Bring the part to its full length, over several connections where they break."""
    if part.size and part.size == remote.size:
        return  # the last time ended between the last byte and the check
    for left in reversed(range(TRIES)):
        try:
            _append(remote.url, part, report)
            return
        except BrokenOffError:
            if not left:
                raise
            time.sleep(PAUSE)


def _append(url: str, part: Part, report: Report) -> None:
    """Write what comes over one connection, to the end of the file."""
    with answer(url, part) as response, part.path.open("ab") as file:
        done = file.tell()
        length = response.headers.get("Content-Length")
        total = done + int(length) if length else None
        report(done, note=_amount(done, total), total=total)
        while chunk := read(response, CHUNK):
            done += file.write(chunk)
            report(done, note=_amount(done, total), total=total)
    if total is not None and done < total:  # http.client takes a connection closed early for the end
        raise BrokenOffError(f"the connection closed after {done:,} of {total:,} bytes")


def _check(remote: Remote, part: Part) -> None:
    fault = remote.fault(part.path) or remote.checksum_fault(part.path)
    if fault:
        part.remove()
        raise FetchError(f"what came is not the file that was asked for, and was removed: {fault}")


def _amount(done: int, total: int | None) -> str:
    of = "" if total is None else f" of {total / 1e6:,.1f}"
    return f"{done / 1e6:,.1f}{of} MB"
