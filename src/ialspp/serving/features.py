"""Features in requests: a value for each column, as a file of features has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidValueError
from ..model.feature_map import FeatureMap
from .schema import Value

SHOWN = 10  # columns that an error lists


class KnownFeatures:
    """The features of users, or of items, that a model was trained with.

    The feature "genre=comedy" is the value "comedy" of the column "genre"; "length" is a column of numbers.
    """

    def __init__(self, side: str, known: FeatureMap | None) -> None:
        self._side = side
        self._numbers = {} if known is None else {name: number for number, name in enumerate(known.names)}
        self.columns = list(dict.fromkeys(name.partition("=")[0] for name in self._numbers))
        self._usable = {*self.columns, *self._numbers}

    def row_of(self, described: Mapping[str, Value]) -> NDArray[np.float64]:
        """Return one row of features for the model.

        A string that the training has not seen counts nothing. A column that it has not seen is an error: it
        is misspelt, or meant for another model.
        """
        if not self._numbers:
            raise InvalidValueError(
                f"features: this model was trained without features of {self._side}s, and cannot use them"
            )
        row = np.zeros((1, len(self._numbers)))
        for name, value in self._entries(described):
            if name in self._numbers:
                row[0, self._numbers[name]] = value
        return row

    def unknown_in(self, described: Mapping[str, Value]) -> int:
        """Count the strings that the training has not seen."""
        return sum(name not in self._numbers for name, _ in self._entries(described))

    def _entries(self, described: Mapping[str, Value]) -> Iterator[tuple[str, float]]:
        for column, value in described.items():
            if column not in self._usable:
                raise self._unknown(column)
            if isinstance(value, (int, float)):
                yield column, value
            elif value is not None:
                for text in [value] if isinstance(value, str) else value:
                    yield f"{column}={text}", 1.0

    def _unknown(self, column: str) -> InvalidValueError:
        listed = ", ".join(self.columns[:SHOWN]) + (", ..." if len(self.columns) > SHOWN else "")
        return InvalidValueError(
            f"features: one of this model's features of {self._side}s is required, {listed}; got "
            f"{column[:100]!r}"
        )
