"""What a report is made of, whatever it is written as: sections of words, tables, pictures and commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..figures import Picture

Kind = Literal["strong", "formula", "holds", "fails", "unmeasured"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that is more than plain text: a formula is not broken, the others stand out.

    `detail` follows in plain text.
    """

    text: str
    kind: Kind
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text.

    Parameters
    ----------
    title
        What is above it.
    columns
        Their names.
    rows
        A cell for each column.
    note
        What a reader must know to understand it; below.
    words
        Columns of words, not of numbers: they start on the left and may be broken.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | Cell, ...], ...]
    note: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Items:
    """A list with a line above it."""

    title: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Commands:
    """Lines to type, as they are."""

    lines: tuple[str, ...]


Part = str | Table | Items | Commands | Picture


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what is below it; `anchor` is what links point to."""

    anchor: str
    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report; `summary` is what a reader in a hurry reads, a paragraph each."""

    title: str
    summary: tuple[str, ...]
    sections: tuple[Section, ...]
