"""Find the one file that is needed: in a folder, in a zip archive, or on a server."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InvalidValueError
from ..files.atomic import whole_file
from ..files.lock import locked
from .dataset import Remote
from .fetch import cache_folder, fetch

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

MOST_NAMES = 20  # in an error message
MOST_BYTES = 2**34  # of a file that is unpacked: five times the largest of the known data sets
MOST_RATIO = 100  # of the sizes after and before unpacking; ratings have 3 to 6
RATIO_FROM = 2**26  # bytes: smaller files may have any ratio


def located(path: str | Path | None, name: str, remote: Remote | None = None) -> Path:
    """Find the file called `name` of a data set.

    Parameters
    ----------
    path
        The file itself, under any name, or the folder or zip archive it is in. None: download `remote`.
    """
    if path is None:
        if remote is None:
            raise InvalidValueError(f"path must say where {name} is, got None; it cannot be downloaded")
        return extracted(fetch(remote), name)
    place = Path(path).expanduser()
    if place.is_dir():
        return _in_folder(place, name)
    if not place.is_file():
        raise FileNotFoundError(
            f"{place}: no such file; {name}, or the folder or zip archive it is in, is required"
        )
    return extracted(place, name) if place.suffix.lower() == ".zip" else place


def beside(path: str | Path | None, found: Path, name: str, remote: Remote | None = None) -> Path | None:
    """Find another file of the same data set, or return None if there is no such file.

    Parameters
    ----------
    path
        What `located` was given.
    found
        What `located` returned.
    name
        The name of the other file.
    remote
        What `located` was given.
    """
    archive = fetch(remote) if path is None and remote is not None else Path(path or "").expanduser()
    if archive.is_file() and archive.suffix.lower() == ".zip":
        try:
            return extracted(archive, name)
        except FileNotFoundError:
            return None
    other = found.with_name(name)
    return other if other.is_file() else None


def _in_folder(folder: Path, name: str) -> Path:
    file = folder / name
    if not file.is_file():
        there = sorted(entry.name for entry in folder.iterdir())
        raise FileNotFoundError(f"{folder}: {name} is required in this folder, which has {_joined(there)}")
    return file


def extracted(archive: Path, name: str) -> Path:
    """Unpack the archive's one file of that name into the cache, unless it is there."""
    from zipfile import ZipFile

    with _errors_naming(archive), ZipFile(archive) as opened:
        member = _member(opened, archive, name)
        _check_size(archive, member)
        # Named by its checksum: another archive of the same name gets a folder of its own.
        target = cache_folder() / f"{archive.stem}-{member.CRC:08x}" / name
        if not _is_unpacked(target, member):
            with locked(target):
                if not _is_unpacked(target, member):  # another process may have unpacked it meanwhile
                    _unpack(opened, member, target)
        return target


@contextmanager
def _errors_naming(archive: Path) -> Iterator[None]:
    """Turn whatever zipfile and the decompressors raise for a damaged archive into one error."""
    import zlib
    from lzma import LZMAError
    from zipfile import BadZipFile

    damaged = (
        BadZipFile,
        EOFError,
        zlib.error,
        LZMAError,
        RuntimeError,
        NotImplementedError,
        UnicodeDecodeError,
    )
    try:
        yield
    except damaged as error:
        raise _unsound(archive, error) from error
    except OSError as error:
        # bz2 raises one without a number, and a place before the start of the file is an invalid argument.
        if isinstance(error, FileNotFoundError) or error.errno not in (None, errno.EINVAL):
            raise
        raise _unsound(archive, error) from error


def _unsound(archive: Path, error: Exception) -> InvalidValueError:
    return InvalidValueError(f"{archive} is not a sound zip archive: {error}; delete it and fetch it again")


def _check_size(archive: Path, member: ZipInfo) -> None:
    """Raise an error before a file is unpacked that is too large. zipfile unpacks no more than it says."""
    size, packed = member.file_size, min(member.compress_size, archive.stat().st_size)
    if size > MOST_BYTES or size > max(MOST_RATIO * packed, RATIO_FROM):
        raise InvalidValueError(
            f"{archive}: {member.filename} has {size:,} bytes, packed into {packed:,}; at most "
            f"{MOST_BYTES:,} are unpacked, and at most {MOST_RATIO} times as many as packed. If you trust "
            "it, unpack it yourself and pass path="
        )


def _member(opened: ZipFile, archive: Path, name: str) -> ZipInfo:
    names = [info.filename for info in opened.infolist() if not info.is_dir()]
    found = [path for path in names if path.rpartition("/")[2] == name and not path.startswith("__MACOSX/")]
    if not found:
        raise FileNotFoundError(f"{archive}: {name} is required in this archive, which has {_joined(names)}")
    if len(found) > 1:
        raise InvalidValueError(
            f"{archive}: one {name} is required in this archive, which has {_joined(found)}"
        )
    return opened.getinfo(found[0])


def _is_unpacked(file: Path, member: ZipInfo) -> bool:
    return file.is_file() and file.stat().st_size == member.file_size


def _unpack(opened: ZipFile, member: ZipInfo, target: Path) -> None:
    """Write the file atomically; zipfile checks its checksum as it reads the last byte."""
    from shutil import copyfileobj

    with opened.open(member) as packed, whole_file(target) as file:
        copyfileobj(packed, file, 1 << 20)


def _joined(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return (", ".join(names[:MOST_NAMES]) or "nothing") + more
