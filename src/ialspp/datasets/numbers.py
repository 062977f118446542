"""Text of whole numbers, some on each line, read without a step of Python for each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValueError

MOST_DIGITS = 8  # these numbers are rows of a matrix, and a mistyped one must not ask for billions
NEWLINE = ord("\n")


@dataclass(frozen=True, slots=True, eq=False)
class NumberLines:
    """All numbers of a file in order, and the line of each, counted from 0."""

    values: NDArray[np.int64]
    lines: NDArray[np.int64]

    @property
    def places(self) -> NDArray[np.int64]:
        """The place of each number in its line: 0 for the first."""
        starts = np.flatnonzero(
            np.concatenate([[True], self.lines[1:] != self.lines[:-1]])[: len(self.lines)]
        )
        counts = np.diff(np.append(starts, len(self.lines)))
        return np.arange(len(self.lines)) - np.repeat(starts, counts)

    @classmethod
    def read(cls, file: Path, *, between: bytes = b" \t\r") -> NumberLines:
        """Read a file whose numbers are separated by any of these characters; lines may be empty."""
        text = np.frombuffer(file.read_bytes(), dtype=np.uint8)
        gaps = np.zeros(256, dtype=bool)
        gaps[list(between + b"\n")] = True
        gap = gaps[text]
        digit = (text >= ord("0")) & (text <= ord("9"))
        _refuse_first(file, text, gap, ~(gap | digit), "a whole number")

        edges = np.flatnonzero(np.diff(digit, prepend=False, append=False))
        starts, lengths = edges[::2], edges[1::2] - edges[::2]
        too_long = np.zeros(len(text), dtype=bool)
        too_long[starts[lengths > MOST_DIGITS]] = True
        _refuse_first(file, text, gap, too_long, f"a number of at most {MOST_DIGITS} digits")
        lines = np.searchsorted(np.flatnonzero(text == NEWLINE), starts)
        return cls(_values(text, starts, lengths), lines)


def _values(
    text: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Digit by digit, the first of all numbers, the second of all that have one, and so on."""
    values = np.zeros(len(starts), dtype=np.int64)
    for place in range(int(lengths.max(initial=0))):
        has = lengths > place
        values[has] = 10 * values[has] + text[starts[has] + place] - ord("0")
    return values


def _refuse_first(
    file: Path, text: NDArray[np.uint8], gap: NDArray[np.bool_], bad: NDArray[np.bool_], required: str
) -> None:
    """An error with the line and the word that the first bad character is in."""
    if not bad.any():
        return
    place = int(np.argmax(bad))
    before, after = np.flatnonzero(gap[:place]), np.flatnonzero(gap[place:])
    start = int(before[-1]) + 1 if len(before) else 0
    stop = place + int(after[0]) if len(after) else len(text)
    word = text[start:stop].tobytes().decode(errors="replace")
    line = 1 + np.count_nonzero(text[:place] == NEWLINE)
    raise InvalidValueError(f"{file}, line {line}: {required} is required, got {word[:40]!r}")
