"""Tell by its looks whether the first record of a text file is a header."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ...errors import InvalidValueError
from .text import Record

SAMPLED = 100  # records after the first one


def look_like_names(fields: Sequence[str]) -> bool:
    """Tell whether these may be the names of columns: none of them is empty, a number, or there twice."""
    return len(set(fields)) == len(fields) and all(field and not _is_number(field) for field in fields)


def refuse_header(records: Iterable[Record], used: Iterable[int]) -> None:
    """Raise if the first record seems to be a header: in a column in use, a text stands over numbers alone.

    Otherwise the names of columns would become a user and an item, and turn integers into texts. A number is
    no name: where one of the columns in use begins with it, the first record is data.
    """
    found = list(islice(_sound(records), SAMPLED + 1))
    columns = list(zip(*(record.fields for record in found), strict=False))
    seen = [columns[place] for place in used if 0 <= place < len(columns)]
    if any(_is_number(first) for first, *_ in seen):
        return
    if any(_is_name_over_numbers(*column) for column in seen):
        raise InvalidValueError(
            f"{found[0]}: these look like names of columns: {found[0].fields}; give header=True if they are, "
            "or header=False if this is data"
        )


def _is_name_over_numbers(first: str, *below: str) -> bool:
    return bool(first and below) and not _is_number(first) and all(map(_is_number, below))


def _sound(records: Iterable[Record]) -> Iterator[Record]:
    """Yield records that are not blank, up to the first malformed one, of which others tell."""
    try:
        yield from (record for record in records if record.fields)
    except InvalidValueError:
        return


def _is_number(text: str) -> bool:
    try:
        return not math.isnan(float(text))
    except ValueError:
        return False
