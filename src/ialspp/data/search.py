"""Find rows by text that people type: part of a name or of an id, in any case, with or without accents.

The explorer's page searches alike (explorer/page/search.js).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from unicodedata import normalize

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidTypeError, InvalidValueError

Rows = NDArray[np.int64]
EXACT, STARTS, WORD, INSIDE, WORDS = range(5)  # how well a text matches, best first
BREAK = "\n"  # between texts
ACCENTS = re.compile("[\u0300-\u036f]+")  # of Latin, Greek and Cyrillic; other scripts' marks are letters


class TextSearch:
    """Texts of rows, joined into one string, which Python searches much faster than many strings."""

    __slots__ = ("_begins", "_joined", "_per_row", "_rows")

    def __init__(self, *columns: Iterable[str]) -> None:
        """Take one text per row in each column: the ids, and perhaps the names."""
        texts = [text for texts in zip(*columns, strict=True) for text in texts]
        joined = BREAK.join(["", *(text.replace(BREAK, " ") for text in texts), ""])
        self._joined = folded(joined)
        codes = np.frombuffer(self._joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        self._begins = np.flatnonzero(codes == ord(BREAK)) + 1
        self._per_row = len(columns)
        self._rows = len(texts) // len(columns)

    def rows(self, text: str, limit: int, popularity: ArrayLike | None) -> Rows:
        """Return the rows that match best: ties by popularity, then in row order."""
        if not isinstance(text, str):
            raise InvalidTypeError(f"the text to search for must be a string, got {text!r}")
        popular = _checked(popularity, self._rows)
        wanted = folded(text.replace(BREAK, " ")).strip()
        if not wanted or limit <= 0:
            return np.empty(0, dtype=np.int64)
        found = self._starting(wanted)
        if len(found) < limit:
            found = self._better(found, self._inside(wanted))
        if not found:
            found = self._with_all(wanted.split())
        rows, tiers = (np.array(list(part), dtype=np.int64) for part in (found.keys(), found.values()))
        return np.asarray(rows[np.lexsort((rows, -popular[rows], tiers))[:limit]])

    def _starting(self, wanted: str) -> dict[int, int]:
        """Return the rows with a text that starts with what is wanted, and how well each matches."""
        places = self._places(BREAK + wanted)
        ends = places + 1 + len(wanted)
        return self._best(places + 1, (EXACT if self._joined[end] == BREAK else STARTS for end in ends))

    def _inside(self, wanted: str) -> dict[int, int]:
        places = self._places(wanted)
        before = (self._joined[place - 1] for place in places)
        return self._best(places, (INSIDE if character.isalnum() else WORD for character in before))

    def _with_all(self, words: list[str]) -> dict[int, int]:
        """Return the rows with a text that has all of these words somewhere in it."""
        texts = np.unique(self._texts(self._places(words[0])))
        for word in words[1:]:
            texts = np.intersect1d(texts, self._texts(self._places(word)))
        return dict.fromkeys((texts // self._per_row).tolist(), WORDS)

    def _places(self, wanted: str) -> Rows:
        found: Iterator[int] = (match.start() for match in re.finditer(re.escape(wanted), self._joined))
        return np.fromiter(found, dtype=np.int64)

    def _best(self, places: Rows, tiers: Iterable[int]) -> dict[int, int]:
        rows = self._texts(places) // self._per_row
        best: dict[int, int] = {}
        for row, tier in zip(rows.tolist(), tiers, strict=True):
            best[row] = min(tier, best.get(row, tier))
        return best

    def _texts(self, places: Rows) -> Rows:
        """Return the number of the text that each place is in."""
        return np.searchsorted(self._begins, places, side="right") - 1

    @staticmethod
    def _better(one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
        return {row: min(tier, one.get(row, tier)) for row, tier in other.items()}


def folded(text: str) -> str:
    """Return text in which case, accents and the way in which letters are encoded make no difference."""
    if text.isascii():
        return text.casefold()
    apart = normalize("NFKD", normalize("NFKD", text).casefold())
    return normalize("NFC", ACCENTS.sub("", apart))


def _checked(popularity: ArrayLike | None, rows: int) -> NDArray[np.float64]:
    if popularity is None:
        return np.zeros(rows)
    numbers = np.asarray(popularity, dtype=np.float64)
    if numbers.shape != (rows,):
        raise InvalidValueError(
            f"popularity must have shape ({rows},), one number per row, got {numbers.shape}"
        )
    return numbers
