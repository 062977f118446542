"""Find the one file that is needed: in a folder, in a zip archive, or on a server."""

from __future__ import annotations

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


def _in_folder(folder: Path, name: str) -> Path:
    file = folder / name
    if not file.is_file():
        there = sorted(entry.name for entry in folder.iterdir())
        raise FileNotFoundError(f"{folder}: {name} is required in this folder, which has {_joined(there)}")
    return file


def extracted(archive: Path, name: str) -> Path:
    """Unpack the archive's one file of that name into the cache, unless it is there."""
    import zlib
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(archive) as opened:
            member = _member(opened, archive, name)
            # Named by its checksum: another archive of the same name gets a folder of its own.
            target = cache_folder() / f"{archive.stem}-{member.CRC:08x}" / name
            if not _is_unpacked(target, member):
                with locked(target):
                    if not _is_unpacked(target, member):  # another process may have unpacked it meanwhile
                        _unpack(opened, member, target)
            return target
    except (BadZipFile, EOFError, zlib.error, RuntimeError, NotImplementedError) as error:
        raise InvalidValueError(
            f"{archive} is not a sound zip archive: {error}; delete it and fetch it again"
        ) from error


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
