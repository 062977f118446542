"""The one file that is needed: in a folder, in an archive, or still on the net."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InvalidValueError
from ..files.atomic import whole_file
from .cache import cache_folder, locked
from .download import fetch
from .remote import Remote

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

MOST_LISTED = 20  # names in an error


def located(path: str | Path | None, name: str, remote: Remote | None = None) -> Path:
    """The file called `name` of a data set.

    Parameters
    ----------
    path
        The file itself under any name, or the folder or zip archive it is in. None: from `remote`.
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
        raise FileNotFoundError(f"{folder}: {name} is required here, the folder has {_listed(there)}")
    return file


def extracted(archive: Path, name: str) -> Path:
    """The archive's one file of that name, unpacked into the cache; the work is done once."""
    import zlib
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(archive) as opened:
            member = _member(opened, archive, name)
            # Named by its content: another archive of the same name has its own place.
            target = cache_folder() / f"{archive.stem}-{member.CRC:08x}" / name
            if not _is_whole(target, member):
                with locked(target):
                    if not _is_whole(target, member):  # else another process unpacked it meanwhile
                        _unpack(opened, member, target)
            return target
    except (BadZipFile, EOFError, zlib.error, RuntimeError, NotImplementedError) as error:
        raise InvalidValueError(
            f"{archive} is not a sound zip archive: {error}; remove it and get it again"
        ) from error


def _member(opened: ZipFile, archive: Path, name: str) -> ZipInfo:
    names = [info.filename for info in opened.infolist() if not info.is_dir()]
    found = [path for path in names if path.rpartition("/")[2] == name and not path.startswith("__MACOSX/")]
    if not found:
        raise FileNotFoundError(f"{archive}: {name} is required in it, the archive has {_listed(names)}")
    if len(found) > 1:
        raise InvalidValueError(f"{archive}: one {name} is required in it, the archive has {_listed(found)}")
    return opened.getinfo(found[0])


def _is_whole(file: Path, member: ZipInfo) -> bool:
    return file.is_file() and file.stat().st_size == member.file_size


def _unpack(opened: ZipFile, member: ZipInfo, target: Path) -> None:
    """Whole or not at all; the archive's checksum of the member is checked as its last byte is read."""
    from shutil import copyfileobj

    with opened.open(member) as packed, whole_file(target) as file:
        copyfileobj(packed, file, 1 << 20)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return (", ".join(names[:MOST_LISTED]) or "nothing") + more
