"""JSON from a stranger, parsed within limits, and the error for a file that is not right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import InvalidValueError

MAX_LENGTH = 8_000_000  # bytes: the records of 25,000 epochs take 6.5 million
MAX_WIDE_LENGTH = 3_000_000  # bytes with a character beyond ASCII: each of them then takes 4 in memory
MAX_VALUES = 300_000  # in a header: those records have 225,000, and a value may take 200 bytes of memory
MAX_MESSAGE = 4000  # characters of an error, which may quote the file


class StoreError(InvalidValueError):
    """A file that is damaged or of another kind; the message names it and says what is wrong."""

    def __init__(self, message: str) -> None:
        super().__init__(message if len(message) <= MAX_MESSAGE else f"{message[:MAX_MESSAGE]} ...")


def corrupted_header(what: str) -> StoreError:
    """Make the error for a header that cannot be right."""
    return StoreError(f"has a corrupted header: {what}")


def parsed_object(text: str | bytes) -> dict[str, Any]:
    """Parse a JSON object. One that would take much more memory than its text is a `StoreError`."""
    fault = too_much(text)
    if fault is not None:
        raise corrupted_header(fault)
    try:
        content = json.loads(text if isinstance(text, str) else text.decode())
    except (ValueError, RecursionError) as error:
        raise corrupted_header(str(error)) from error
    if not isinstance(content, dict):
        raise corrupted_header(f"an object is required, got a {type(content).__name__}")
    return content


def too_much(text: str | bytes) -> str | None:
    """Say why parsed JSON could take much more memory than its text, or return None.

    Before each value there is a comma or a bracket, so that they can be counted without parsing.
    """
    marks: Any = ",[{" if isinstance(text, str) else (b",", b"[", b"{")
    values = sum(map(text.count, marks))
    if values > MAX_VALUES:
        return f"it may have {MAX_VALUES:,} values, got {values:,}"
    if len(text) > MAX_WIDE_LENGTH and not text.isascii():
        return f"it may have {MAX_WIDE_LENGTH:,} bytes unless all are ASCII, got {len(text):,}"
    return None


def part(described: Mapping[str, Any], name: str, *kinds: type) -> Any:
    """Return a part of a description, which must be there and of one of these types."""
    if name not in described:
        raise StoreError(f"its description has no {name!r}")
    value = described[name]
    if type(value) not in kinds:
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise StoreError(f"{name!r} of its description must be {wanted}, got {type(value).__name__}")
    return value


def check_values(name: str, values: Mapping[str, Any], but: tuple[str, ...] = ()) -> None:
    """Raise unless each name can be one of Python's, and each value is a number, a text or nothing."""
    for key, value in values.items():
        if not key.isidentifier():
            raise StoreError(f"{name!r} of its description has a strange name: {key[:50]!r}")
        if key not in but and type(value) not in (bool, int, float, str, type(None)):
            raise StoreError(
                f"{key!r} of its {name} must be a number, a text or null, got {type(value).__name__}"
            )
