"""Text in any encoding, as files in UTF-8: polars reads nothing else."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ...errors import IalsppError, InvalidValueError
from .file_set import COMPRESSED
from .limits import check_lines
from .pieces import pieces_of

UTF8 = "utf-8"


def checked_encoding(encoding: str) -> str:
    """Return Python's name of an encoding of text."""
    try:
        "".encode(encoding)  # which refuses codecs that are not encodings of text
        return codecs.lookup(encoding).name
    except (LookupError, TypeError, ValueError) as error:
        raise InvalidValueError(
            f"encoding must be one that Python knows, such as utf-8, latin-1, cp1252 or utf-16, "
            f"got {encoding!r}"
        ) from error


@contextmanager
def in_utf8(files: tuple[Path, ...], encoding: str) -> Iterator[tuple[Path, ...]]:
    """Give files with the same text in UTF-8, which are copies unless they already are; errors name yours."""
    if encoding == UTF8:
        for file in files:
            for _ in _decoded(file, encoding):
                pass
        yield files
        return
    with TemporaryDirectory(prefix="ialspp-") as folder:
        copies = tuple(_copied(file, encoding, Path(folder, str(n))) for n, file in enumerate(files))
        try:
            yield copies
        except IalsppError as error:
            error.args = tuple(_renamed(part, copies, files) for part in error.args)
            raise


def _copied(file: Path, encoding: str, folder: Path) -> Path:
    check_lines(file)
    folder.mkdir()
    name = file.with_suffix("").name if file.suffix.lower() in COMPRESSED else file.name
    copy = folder / name
    with copy.open("w", encoding=UTF8, newline="") as target:
        for text in _decoded(file, encoding):
            try:
                target.write(text)
            except UnicodeEncodeError as error:  # half of a pair, which UTF-7 can write
                raise InvalidValueError(f"{file}: text must be valid Unicode, but {error}") from error
    return copy


def _decoded(file: Path, encoding: str) -> Iterator[str]:
    """Yield the text of a file; raise at what is not text in this encoding."""
    decoder, line = codecs.getincrementaldecoder(encoding)(), 1
    try:
        for piece in pieces_of(file):
            text = decoder.decode(piece)
            line += text.count("\n")
            yield text
        yield decoder.decode(b"", True)
    except UnicodeDecodeError as error:
        line += error.object[: error.start].count(b"\n")
        wrong = error.object[error.start : error.start + 1]
        raise InvalidValueError(
            f"{file}, line {line}: text must be {encoding}, but {wrong!r} is not; if it is in another "
            'encoding, name that: encoding="latin-1", or --name-encoding latin-1 on the command line'
        ) from error
    except UnicodeError as error:  # of UTF-16 without the mark that says in which order its bytes are
        raise InvalidValueError(f"{file}, line {line}: text must be {encoding}: {error}") from error


def _renamed(part: object, copies: tuple[Path, ...], files: tuple[Path, ...]) -> object:
    if isinstance(part, str):
        for copy, file in zip(copies, files, strict=True):
            part = part.replace(str(copy), str(file))
    return part
