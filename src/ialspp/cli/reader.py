"""Reads ids from options and files; unknown ones are errors, or skipped and counted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import Any

from ..data.id_values import INTEGER
from ..data.ids import IdMap
from ..errors import InvalidValueError, UnknownIdError
from ..model.model import ImplicitMF
from ..model.skipped import NOTHING_SKIPPED, SkippedIds
from .finding import NameFinder, no_match
from .queries import ids_of


class IdReader:
    """Reads the ids that a user typed or listed in files, and counts the unknown ones that it skips."""

    def __init__(self, model: ImplicitMF, *, skip_unknown: bool = False, quiet: bool = False) -> None:
        self.names = NameFinder(model, quiet=quiet)
        self.skips = skip_unknown
        self.skipped = NOTHING_SKIPPED

    def typed(self, argument: str, texts: Sequence[str], known: IdMap, where: str) -> list[Any]:
        """Convert text to ids of the model, without unknown ones if these are skipped.

        Text that is not an id may be part of a name. argument: the field of `Skipped` that counts unknown
        ids.
        """
        found = [self.names.resolved(text, known, where) for text in texts]
        for text in found:
            if not self.skips and not known.is_text and not INTEGER.fullmatch(text):
                raise no_match(text, known, where)
        return self._ids_of(argument, found, known, where)

    def _ids_of(self, argument: str, texts: Sequence[str], known: IdMap, where: str) -> list[Any]:
        if not self.skips:
            return ids_of(texts, known, where)
        strange = [] if known.is_text else [text for text in texts if not INTEGER.fullmatch(text)]
        others = [text for text in texts if INTEGER.fullmatch(text)] if strange else texts
        ids = ids_of(others or texts, known, where)  # if all are strange, the kind of id is wrong
        found = known.find(ids)
        unknown = SkippedIds.of([*strange, *found.unknown], len(texts))
        self.skipped = replace(self.skipped, **{argument: unknown})
        return list(compress(ids, found.known))

    def listed(self, argument: str, file: Path, known: IdMap) -> list[Any]:
        """Read ids from a file, one a line, or from stdin if it is "-". Empty lines are skipped."""
        name, lines = _lines_of(file)
        if not lines:
            raise InvalidValueError(f"{name}: no ids; one a line is required")
        texts = lines if known.is_text else list(map(str.strip, lines))
        ids = self._ids_of(argument, texts, known, name)
        if not self.skips:
            _require_known(ids, known, name)
        return ids


def _require_known(ids: list[Any], known: IdMap, name: str) -> None:
    try:
        known.rows(ids)
    except UnknownIdError as error:
        raise UnknownIdError(f"{name}: {error}") from error


def _lines_of(file: Path) -> tuple[str, list[str]]:
    """Return the name of a file for messages, and its lines without empty ones."""
    is_stdin = file == Path("-")
    if is_stdin and sys.stdin is None:
        raise InvalidValueError("-: standard input is closed")
    name, content = ("stdin", sys.stdin.buffer.read()) if is_stdin else (str(file), file.read_bytes())
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidValueError(f"{name}, line {line}: not UTF-8") from error
    return name, [line.rstrip("\r") for line in lines if line.rstrip("\r")]
