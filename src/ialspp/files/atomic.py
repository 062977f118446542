"""Files that are written atomically: completely, or not at all."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from .leftovers import sweep, unfinished_name
from .lock import is_named, lock_if_possible, replacing, unlock
from .version import FileVersion, require_version

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


@contextmanager
def whole_file(path: Path, *, instead_of: Collection[FileVersion] | None = None) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces `path` when the block ends without an error.

    Until then the file has another name in the same folder. An error or Ctrl-C removes it and leaves `path`
    untouched. If the process is killed, `path` is untouched, but a file `.*.part` remains, which the next
    write to `path` removes. Errors name the path that was given, not the other name.

    Parameters
    ----------
    path
        The file to write. If it is a link, its target is replaced. A file that is there passes on its
        permissions, and its owner and group as far as the system allows.
    instead_of
        The versions of the file that may be replaced. Another one at `path` is a `FileChangedError`.
    """
    replaced = _status_to_keep(path)
    target = Path(os.path.realpath(path))
    sweep(target)
    part = unfinished_name(target)
    raw: _Part | None = None
    try:  # before the file is there: Ctrl-C may come as soon as it is
        raw = _Part(part, replaced, path)
        file = io.BufferedWriter(raw)
        yield file
        with errors_naming(path):
            file.flush()
            os.fsync(raw.fileno())
            if os.name == "nt":  # Windows renames no open file; elsewhere it stays open, to stay locked
                raw.close()
            with replacing(target):
                if instead_of is not None:
                    require_version(target, instead_of)
                part.replace(target)
            raw.abandon()
            _sync_folder(target)
    finally:
        if raw is not None:
            raw.abandon()
        with suppress(OSError):  # the first error matters more
            part.unlink(missing_ok=True)


def require_writable(path: Path) -> None:
    """Raise an OSError unless a file can be written at `path`, or what a link there points to be replaced."""
    _status_to_keep(path)


def _status_to_keep(path: Path) -> os.stat_result | None:
    """Return the status of the file that would be replaced, or None if there is none."""
    with errors_naming(path):
        return _replaceable(Path(os.path.realpath(path)))


@contextmanager
def whole_files(paths: Sequence[Path]) -> Iterator[list[IO[bytes]]]:
    """Open files that get their names, the last one first, when the block ends without an error."""
    with ExitStack() as stack:
        files = [stack.enter_context(whole_file(path)) for path in paths]
        yield files
        for path, file in zip(paths, files, strict=True):  # before the first gets its name
            with errors_naming(path):
                file.flush()
                os.fsync(file.fileno())


def replace_whole(part: Path, target: Path) -> None:
    """Rename a finished file to its target, after its bytes are on the disk."""
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    part.replace(target)
    _sync_folder(target)


class _Part(io.FileIO):
    """The file under its temporary name, locked. Its errors name the path that was given."""

    def __init__(self, part: Path, replaced: os.stat_result | None, path: Path) -> None:
        self._path = path
        with errors_naming(path):
            self._create(part)
            if replaced is not None:
                self._take_over(part, replaced)

    def _take_over(self, part: Path, replaced: os.stat_result) -> None:
        """Take over who may read the file, before any byte is written: a private file is never public.

        All of it is done to the open file. In a folder of somebody else's, its name may by now be a link to a
        file that must not change hands. What would change nothing is skipped, because some file systems have
        neither owners nor permissions.
        """
        own, mode = os.fstat(self.fileno()), stat.S_IMODE(replaced.st_mode)
        if os.name == "nt":  # which has no owners, and changes permissions by name alone
            if mode != stat.S_IMODE(own.st_mode):
                part.chmod(mode)
            return
        if own.st_gid != replaced.st_gid and not self._give_to(group=replaced.st_gid):
            mode &= ~stat.S_IRWXG | (mode & stat.S_IRWXO) << 3  # another group may do what everyone may
        if mode != stat.S_IMODE(own.st_mode):
            os.fchmod(self.fileno(), mode)
        if own.st_uid != replaced.st_uid:  # last: who gives a file away may not change it any more
            self._give_to(owner=replaced.st_uid)

    def _give_to(self, owner: int = -1, group: int = -1) -> bool:
        """Change the owner or the group if the system allows it: to root, or to members of the group."""
        try:
            os.fchown(self.fileno(), owner, group)
        except OSError:
            return False
        return True

    def _create(self, part: Path) -> None:
        """Create the file. Before it is locked, another process may take it for a leftover and remove it."""
        while True:
            super().__init__(part, "xb")
            lock_if_possible(self.fileno())
            if is_named(self.fileno(), part):
                return

    def write(self, data: ReadableBuffer, /) -> int:
        with errors_naming(self._path):
            return super().write(data)

    def abandon(self) -> None:
        """Close the file. The bytes that are still in the buffer are dropped."""
        if not self.closed:
            unlock(self.fileno())
            with suppress(OSError):  # everything that matters is on the disk
                self.close()


@contextmanager
def errors_naming(path: Path) -> Iterator[None]:
    """Let the system's errors in the block name this path, whichever file or number they are about."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _replaceable(target: Path) -> os.stat_result | None:
    """Return the status of the file to replace, or None; raise an error where open() would too."""
    status = _status_of(target)
    mode = None if status is None else status.st_mode
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "this is a folder; the name of a file is required")
    if mode is not None and not stat.S_ISREG(mode):  # a rename would replace a device or a pipe
        raise OSError(errno.EINVAL, "only a regular file can be replaced")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, f"the folder {target.parent} cannot be written to")
    if mode is not None and not os.access(target, os.W_OK):  # which a rename does not check
        raise PermissionError(errno.EACCES, "this file may not be replaced")
    return status


def _status_of(target: Path) -> os.stat_result | None:
    try:
        return target.stat()
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, f"there is no folder {target.parent}") from None
        return None


def _sync_folder(target: Path) -> None:
    with suppress(OSError):  # not every system opens folders, not every file system syncs them
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
