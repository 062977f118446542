"""A format of ours: what the metadata of a file of arrays say of its kind and its version."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InvalidValueError
from ..system.checks import checked_integer
from .parsing import StoreError, parsed_object

KINDS = {  # of files, by the name of their format
    "ialspp": "a model of ialspp",
    "ialspp data": "prepared data of ialspp",
    "ialspp checkpoint": "a checkpoint of ialspp",
}
_START = re.compile(rb'.{8}\{"__metadata__":\{"format":"([^"]+)",', re.DOTALL)  # a length, then the header
ENOUGH = 64  # bytes of a file in which its format is named
VERIFIED = 64 * 2**20  # bytes: files up to this size are checked completely when they are opened


def name_in(start: bytes) -> str | None:
    """Return the name of the format of a file that begins so; None if it is none of ours."""
    found = _START.match(start)
    name = "" if found is None else found[1].decode(errors="replace")
    return name if name in KINDS else None


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file. Its errors do not name the file."""

    name: str  # in the metadata
    what: str  # such a file holds, in a word
    newest: int  # version that can be read

    def begins(self, path: Path) -> bool:
        """Tell whether a file begins like one of this kind, whatever follows."""
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return name_in(file.read(ENOUGH)) == self.name

    def require_own(self, path: Path) -> None:
        """Raise if there is a file of another kind, which would be lost. An empty one may be replaced."""
        if path.is_file() and path.stat().st_size > 0 and not self.begins(path):
            raise InvalidValueError(
                f"{path} exists and is not {KINDS[self.name]}; choose another name, or give force=True"
            )

    def metadata(self, description: Mapping[str, Any], version: int) -> dict[str, str]:
        """Return the metadata of a new file."""
        from importlib.metadata import version as version_of

        return {
            "format": self.name,
            "format_version": str(version),
            "written_by": f"ialspp {version_of('ialspp')}",
            "description": json.dumps(description),
        }

    def description_in(self, metadata: Mapping[str, str]) -> dict[str, Any]:
        """Parse the description in a file's metadata, if this version can read it."""
        if metadata.get("format") != self.name:
            kind = KINDS.get(metadata.get("format", ""), "a safetensors file")
            raise StoreError(f"is {kind}, not {KINDS[self.name]}")
        try:
            found = checked_integer("format_version", int(metadata["format_version"]), 1)
        except (KeyError, ValueError) as error:
            raise StoreError(f"does not say what format_version it has: {error}") from error
        if found > self.newest:
            raise StoreError(
                f"has format {found}, written by {metadata.get('written_by')}; this version reads formats up "
                f"to {self.newest}: a newer ialspp is required"
            )
        try:
            return parsed_object(metadata["description"])
        except (KeyError, StoreError) as error:
            raise StoreError(f"does not say what {self.what} it holds: {error}") from error
