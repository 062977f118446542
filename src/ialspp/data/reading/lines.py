"""Check lines of text: how many fields they have, and what their times look like."""

from __future__ import annotations

import re
from datetime import datetime

from ...errors import InvalidValueError
from .file_set import FileSet
from .text import Record, line_frame, shown

# Each character fits in one place only, or a long run of digits would be tried in all ways to divide it.
_NUMBER = re.compile(
    r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|infinity)", re.IGNORECASE
)

MOST_SHOWN = 20  # fields of a line in a message


def check_width(source: FileSet, rows: set[int] | None, width: int) -> None:
    """Raise unless these rows, or all rows if None, have `width` fields."""
    if rows is not None and all(_has_width(source, row, width) for row in rows):
        return
    for number, record in enumerate(source.records()):
        if (rows is None or number in rows) and len(record.fields) not in (0, width):
            raise wrong_width(record, width)


def _has_width(source: FileSet, row: int, width: int) -> bool:
    """Look at one line only, which is quick. If rows are not lines, this is False and all are checked."""
    if len(source.files) > 1:
        return False
    place = source.blanks[0] + source.header + row
    found = line_frame(source.files[0], lenient=True).slice(place, 1).collect()
    return len(found) == 1 and (found.item() or "").count(source.separator) == width - 1


def check_times(source: FileSet, column: str | int, place: int, *, guessed: bool) -> None:
    """Raise unless times that are not numbers are ISO dates: others, such as 01/02/2026, are ambiguous.

    guessed: polars takes them for dates, so the first one decides.
    """
    required = None
    for record in source.records():
        value = record.fields[place] if place < len(record.fields) else ""
        kind = kind_of(value)
        if value and (kind is None or kind != (required or kind)):
            wanted = required or "Unix seconds or an ISO date such as 2026-01-31"
            raise InvalidValueError(f"{record}: column {column!r} must be {wanted}, but is {shown(value)}")
        required = required or kind
        if required and guessed:
            return
    if required:
        raise InvalidValueError(
            f"{source.files[0]}: column {column!r} must be Unix seconds or dates, but is text"
        )


def kind_of(value: str) -> str | None:
    """What the text stands for, in the words of `Columns.required_text`; None if neither."""
    value = value.strip()
    if _NUMBER.fullmatch(value):
        return "a number"
    try:
        datetime.fromisoformat(value.removesuffix("Z"))
    except ValueError:
        return None
    return "a date" if len(value) == len("2026-01-01") else "a date and time"


def wrong_width(record: Record, width: int) -> InvalidValueError:
    """The error for a record with another number of fields."""
    fields = ", ".join(shown(field) for field in record.fields[: min(width, MOST_SHOWN) + 1])
    return InvalidValueError(f"{record}: {width} fields are required, got {len(record.fields)}: [{fields}]")
