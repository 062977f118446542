"""Ids of a query that the model does not know: an error, or skipped and counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..data.ids import IdMap
from ..errors import InvalidValueError

Unknown = Literal["error", "skip"]
MOST_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class SkippedIds:
    """The unknown ids of one argument.

    Attributes
    ----------
    count
        How many were skipped. An id that was given twice counts twice.
    total
        How many ids were given, known and unknown.
    examples
        Up to three of the ids that were skipped.
    """

    count: int = 0
    total: int = 0
    examples: tuple[Any, ...] = ()

    @classmethod
    def of(cls, unknown: Sequence[Any], total: int) -> SkippedIds:
        """Count unknown ids, and keep the first few different ones."""
        return cls(len(unknown), total, tuple(dict.fromkeys(unknown))[:MOST_EXAMPLES])

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {"count": self.count, "total": self.total, "examples": list(self.examples)}


@dataclass(frozen=True, slots=True)
class Skipped:
    """The unknown ids that a query with `unknown="skip"` left out, by argument.

    `bool(skipped)` is False if nothing was skipped.

    Attributes
    ----------
    users, items
        Of the ids that were queried.
    histories
        Of the items in all histories.
    candidates, exclude
        Of the items in these arguments.
    """

    users: SkippedIds = SkippedIds()
    items: SkippedIds = SkippedIds()
    histories: SkippedIds = SkippedIds()
    candidates: SkippedIds = SkippedIds()
    exclude: SkippedIds = SkippedIds()

    @property
    def count(self) -> int:
        """How many ids were skipped in all."""
        return sum(ids.count for _, ids in self)

    def __bool__(self) -> bool:
        return any(True for _ in self)

    def __iter__(self) -> Iterator[tuple[str, SkippedIds]]:
        """Give each argument with unknown ids, and these."""
        for field in fields(self):
            ids = getattr(self, field.name)
            if ids.count:
                yield field.name, ids

    def __str__(self) -> str:
        return "\n".join(_sentence(argument, ids) for argument, ids in self) or "nothing was skipped"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON: the arguments with unknown ids."""
        return {argument: ids.as_dict() for argument, ids in self}


WORDS = {"histories": "items in histories", "exclude": "excluded items"}
NOTHING_SKIPPED = Skipped()


def _sentence(argument: str, ids: SkippedIds) -> str:
    verbs = "is unknown and was skipped" if ids.count == 1 else "are unknown and were skipped"
    listed = ", ".join(map(repr, ids.examples))
    shown = f": {listed}" if ids.count <= len(ids.examples) else f", such as {listed}"
    return f"{ids.count:,} of {ids.total:,} {WORDS.get(argument, argument)} {verbs}{shown}"


class Lookup:
    """Finds the rows of the ids in the arguments of one query, and counts those that it skips."""

    def __init__(self, unknown: Unknown) -> None:
        if unknown not in ("error", "skip"):
            raise InvalidValueError(f'unknown must be "error" or "skip", got {unknown!r}')
        self.skips = unknown == "skip"
        self.skipped = NOTHING_SKIPPED

    def rows(
        self, argument: str, values: Iterable[Any], ids: IdMap, other: IdMap | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
        """Return the rows of the known ids, and which ids are known: None if all of them are.

        Parameters
        ----------
        argument
            The field of `Skipped` that counts the unknown ids.
        values
            The ids of the query.
        ids
            The axis that they belong to.
        other
            The other axis, so that an error can say that the ids belong there.
        """
        if not self.skips:
            return ids.rows(values, other), None
        found = ids.find(values)
        if not found.unknown:
            return found.rows, None
        skipped = SkippedIds.of(found.unknown, len(found.known))
        self.skipped = replace(self.skipped, **{argument: skipped})
        return found.rows, found.known
