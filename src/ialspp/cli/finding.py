"""Find users and items by their names where a text is not an id."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.id_values import INTEGER
from ..data.ids import IdMap
from ..data.search import TextSearch, folded
from ..errors import InvalidValueError
from ..model.model import ImplicitMF
from .output import remark, shown_name

MOST_CANDIDATES = 8  # in an error


class NameFinder:
    """Finds the one user or item that a text names. Ids always win over names."""

    def __init__(self, model: ImplicitMF, *, quiet: bool) -> None:
        self.model, self.quiet = model, quiet
        self._searches: dict[str, TextSearch] = {}

    def resolved(self, text: str, known: IdMap, where: str) -> str:
        """Return the id, as text, of the row that a text names; the text itself if it names none."""
        if known.names is None or self._is_id(text, known):
            return text
        rows = self._matching(text, known)
        if len(rows) > 1:
            raise self._several(text, known, where, rows)
        if len(rows) == 0:
            return text
        value = str(known[int(rows[0])])
        if not self.quiet:
            remark(
                f"{where}: {text!r} is {known.name} {shown_name(value)}, {shown_name(known.labels(rows)[0])}"
            )
        return value

    def _is_id(self, text: str, known: IdMap) -> bool:
        if known.is_text:
            return text in known
        return INTEGER.fullmatch(text) is not None and int(text) in known

    def _matching(self, text: str, known: IdMap) -> NDArray[np.int64]:
        """Return the rows with this very name, or else those whose name has the text in it.

        Text that could be an id must be the whole name: a mistyped id is not to find anything else.
        """
        if known.name not in self._searches:
            self._searches[known.name] = TextSearch(known.names or ())
        found = self._searches[known.name].rows(text, len(known), None)
        same = [folded(label) == folded(text.strip()) for label in known.labels(found)]
        if any(same):
            return found[same]
        is_like_an_id = not known.is_text and INTEGER.fullmatch(text) is not None
        return found[:0] if is_like_an_id else found

    def _popularity(self, known: IdMap) -> NDArray[np.int64] | None:
        """Count the interactions of each row."""
        data = self.model.trained_on if self.model.keeps_interactions else None
        if data is None:
            return None
        return data.by_user.counts if known.name == "user" else data.by_user.column_counts

    def _several(self, text: str, known: IdMap, where: str, rows: NDArray[np.int64]) -> InvalidValueError:
        popularity = self._popularity(known)
        if popularity is not None:
            rows = rows[np.argsort(-popularity[rows], kind="stable")]
        first = rows[:MOST_CANDIDATES]
        pairs: Any = zip(known.named(first), known.labels(first), strict=True)
        listed = ", ".join(f"{shown_name(str(value))} {shown_name(label)!r}" for value, label in pairs)
        more = f" and {len(rows) - len(first):,} more" if len(rows) > len(first) else ""
        return InvalidValueError(
            f"{where}: {text!r} is in the names of {len(rows):,} {known.name}s: {listed}{more}; "
            "give the id of one, or its whole name"
        )


def no_match(text: str, known: IdMap, where: str) -> InvalidValueError:
    """The error for a text that is neither an id nor in a name, where ids are integers."""
    if known.names is not None:
        return InvalidValueError(f"{where}: {text!r} is neither the id of any {known.name} nor in a name")
    return InvalidValueError(
        f"{where}: the {known.name}s of this model are integers and have no names, got {text!r}; "
        "`ialspp names` adds names"
    )
