"""The files of a path: which there are, why one cannot be read, and whether one changed while it was read."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ...errors import InvalidTypeError, InvalidValueError

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device or terminal",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


_ADDRESS = re.compile("(https?|ftp|s3|gs|gcs|az|abfss?|hdfs):/", re.IGNORECASE)  # Path leaves out a slash

Paths = str | Path | Sequence[str | Path]


def files_of(path: Paths) -> tuple[Path, ...]:
    """Return the files of a path, a folder or a pattern, sorted by name; or of several, one after another."""
    if not isinstance(path, (str, Path)):
        is_frame = hasattr(path, "columns")
        if is_frame or not isinstance(path, Iterable):
            hint = "; from_dataframe takes a data frame" if is_frame else ""
            raise InvalidTypeError(f"a path or a list of paths is required, got {type(path).__name__}{hint}")
        path = list(path)
        if not path:
            raise InvalidValueError("at least one file is required, got none")
        return tuple(file for one in path for file in files_of(one))
    if _ADDRESS.match(str(path)):
        raise InvalidValueError(f"{path}: only files are read; download it first")
    whole = Path(path).expanduser()
    if "\0" in str(whole):
        raise InvalidValueError(f"{str(whole)!r}: the name of a file has no NUL")
    try:
        status = whole.stat()
    except FileNotFoundError:
        found = _matching(whole)
    else:
        found = _in_folder(whole) if stat.S_ISDIR(status.st_mode) else [whole]
    for file in found:
        _check_readable(file)
    return tuple(found)


def refuse_replacing(path: Paths, target: Path) -> None:
    """Raise if a file that is to be written is one of those of a path."""
    if not target.exists():
        return
    try:
        files = files_of(path)
    except OSError:  # which those who read the path will meet, too
        return
    if any(target.samefile(file) for file in files):
        raise InvalidValueError(f"out must not be a file of the data, got {target}")


def _matching(pattern: Path) -> list[Path]:
    if not any(sign in str(pattern) for sign in "*?["):
        target = f": it is a link to {pattern.readlink()}" if pattern.is_symlink() else ""
        raise FileNotFoundError(f"{pattern}: no such file{target}")
    root = Path(pattern.anchor)
    found = [p for p in sorted(root.glob(str(pattern.relative_to(root)))) if p.is_file()]
    if not found:
        raise FileNotFoundError(f"{pattern}: no file matches")
    return found


def _in_folder(folder: Path) -> list[Path]:
    os.scandir(folder).close()  # raises if the folder may not be listed, where rglob finds nothing
    found = [p for p in sorted(folder.rglob("*")) if p.is_file() and not _is_hidden(p.relative_to(folder))]
    if not found:
        raise FileNotFoundError(f"{folder}: the folder has no files to read")
    return found


def _is_hidden(path: Path) -> bool:
    """Whether other programs made this for themselves, such as .ipynb_checkpoints and _temporary."""
    return any(part.startswith((".", "_")) for part in path.parts)


def _check_readable(file: Path) -> None:
    """Raise unless this is a regular file, which can be read twice, and we may read it."""
    kind = stat.S_IFMT(file.stat().st_mode)
    if kind != stat.S_IFREG:
        raise InvalidValueError(
            f"{file}: a regular file is required, but this is {_KINDS.get(kind, 'something else')}"
        )
    try:
        str(file).encode()
    except UnicodeEncodeError:
        raise InvalidValueError(f"{str(file)!r}: the name of a file must be UTF-8") from None
    file.open("rb").close()


def address(file: Path) -> str:
    """How to name a file to polars, so that it reads the file instead of mapping it.

    Who truncates a mapped file kills the process that reads it (SIGBUS). polars maps a path, but reads
    what has the scheme file://. There it takes %41 for A, and refuses control characters.
    """
    whole = str(file.resolve())
    is_plain = os.name == "posix" and not re.search(r"[%\x00-\x1f\x7f]", whole)
    return f"file://{whole}" if is_plain else whole


@contextmanager
def unchanged(files: Sequence[Path]) -> Iterator[None]:
    """Raise if a file changes during the block: what was read of it may be half old, half new."""
    before = [_state(file) for file in files]
    try:
        yield
    except Exception as error:
        _check_states(files, before, error)  # the change may be what the error comes from
        raise
    _check_states(files, before, None)


def _state(file: Path) -> tuple[int, ...] | None:
    """What differs after a file was written to or replaced; None if it is gone."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _check_states(
    files: Sequence[Path], before: list[tuple[int, ...] | None], error: Exception | None
) -> None:
    for file, state in zip(files, before, strict=True):
        if _state(file) != state:
            raise InvalidValueError(f"{file}: the file changed while it was read; read it again") from error
