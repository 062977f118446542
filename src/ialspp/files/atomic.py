"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its name when the block ends well.

    Until then it has another name in the same folder; an error or Ctrl-C removes it, and what stood at
    `path` stays as it was. So it does where the process is killed, but a file `.*.part` is left over then.
    Errors are of the path that was given, not of the other name.

    Parameters
    ----------
    path
        Where the file goes. A link stays, and what it points to is replaced. A file that is there hands
        its permissions on.
    """
    mode = require_writable(path)
    target = Path(os.path.realpath(path))
    # A long name is cut: with what is added it could be longer than the file system allows.
    part = target.with_name(f".{target.name[:40]}.{os.getpid()}-{os.urandom(8).hex()}.part")
    raw: _Part | None = None
    try:
        raw = _Part(part, mode, path)
        file = io.BufferedWriter(raw)
        yield file
        with _errors_naming(path):
            file.flush()
            os.fsync(raw.fileno())
            raw.close()
            _rename(part, target)
    finally:
        with suppress(OSError):  # the error that led here matters more
            if raw is not None:
                raw.close()  # without the bytes that are still in the buffer
        with suppress(OSError):
            part.unlink(missing_ok=True)


def require_writable(path: Path) -> int | None:
    """Raise an OSError unless a file can be written at `path`, or what a link there points to be replaced.

    Returns the permissions of the file that would be replaced, or None if there is none.
    """
    with _errors_naming(path):
        return _replaceable(Path(os.path.realpath(path)))


def replace_whole(part: Path, target: Path) -> None:
    """Give a finished file its name, once its bytes are on the disk and not only on their way there."""
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    _rename(part, target)


class _Part(io.FileIO):
    """The file while it has its other name; its errors name the path that was given."""

    def __init__(self, part: Path, mode: int | None, path: Path) -> None:
        self._path = path
        with _errors_naming(path):
            super().__init__(part, "xb")
            # At once: no byte of a private file is public. Not where the file system knows no permissions.
            if mode is not None and mode != stat.S_IMODE(os.fstat(self.fileno()).st_mode):
                part.chmod(mode)

    def write(self, data: ReadableBuffer, /) -> int:
        with _errors_naming(self._path):
            return super().write(data)


@contextmanager
def _errors_naming(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _replaceable(target: Path) -> int | None:
    mode = _mode_of(target)
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, f"the folder {target.parent} cannot be written to")
    if mode is None:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "this is a folder; the name of a file is required")
    if not stat.S_ISREG(mode):  # a rename would put a file where a device or a pipe was
        raise OSError(errno.EINVAL, "only a regular file can be replaced")
    if not os.access(target, os.W_OK):  # which a rename does not check
        raise PermissionError(errno.EACCES, "this file may not be replaced")
    return stat.S_IMODE(mode)


def _mode_of(target: Path) -> int | None:
    try:
        return target.stat().st_mode
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, f"there is no folder {target.parent}") from None
        return None


def _rename(part: Path, target: Path) -> None:
    part.replace(target)
    with suppress(OSError):  # not every system opens folders, not every file system syncs them
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
