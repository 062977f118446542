"""Answers as JSON."""

from __future__ import annotations

import json
from typing import Any

import msgspec


def encoded(content: Any) -> bytes:
    """Encode an answer. An id with half of a surrogate pair, which UTF-8 lacks, is escaped as in JSON."""
    try:
        return msgspec.json.encode(content)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(content), allow_nan=False).encode("ascii")
