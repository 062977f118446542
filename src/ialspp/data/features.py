"""Features: what is known of users or items beside their interactions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidTypeError, InvalidValueError
from ..files.arrays import is_finite
from ..system.checks import checked_number
from .csr import Csr
from .feature_rows import rows_of_matrix
from .frame_features import encoded
from .ids import Found, IdMap

DEFAULT_REGULARIZATION = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Numbers that describe users or items, by id: genres, a price, the country of a user.

    Make them with `from_frame` or `from_matrix`, and give them to `ImplicitMF.fit`.

    Attributes
    ----------
    ids
        The users or items that are described. There may be more of them than in the interactions.
    names
        The name of each feature.
    rows
        The numbers, sparse: one row per id, one column per feature. Its labels are the values, which are 1 if
        there are none.
    regularization
        How strongly the weights of features are pulled to zero, counted in rows: a feature that n rows have
        keeps about n / (n + regularization) of its weight.
    """

    ids: IdMap
    names: tuple[str, ...]
    rows: Csr
    regularization: float = DEFAULT_REGULARIZATION

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", checked_names(self.names))
        if self.rows.n_columns != len(self.names):
            raise InvalidValueError(
                f"features need one name each: {self.rows.n_columns} are required, got {len(self.names)}"
            )
        if len(self.rows) != len(self.ids):
            raise InvalidValueError(f"features need one row per id, {len(self.ids)}, got {len(self.rows)}")
        self._check_values()
        number = checked_number("regularization", self.regularization)
        if number == 0:
            raise InvalidValueError("the regularization of features must be > 0, got 0")
        object.__setattr__(self, "regularization", number)

    def _check_values(self) -> None:
        values = self.rows.labels
        if values is not None and not is_finite(values):
            entry = int(np.flatnonzero(~np.isfinite(values))[0])
            row = int(np.searchsorted(self.rows.offsets, entry, side="right")) - 1
            raise InvalidValueError(
                f"features must be finite in single precision, but {self.names[self.rows.columns[entry]]!r} "
                f"of {self.ids[row]!r} is {values[entry]}"
            )

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:3]) + (", ..." if len(self.names) > 3 else "")
        return f"Features({len(self)} {self.ids.name}s x {len(self.names)} features: {shown})"

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        id: str,
        columns: Sequence[str] | None = None,
        separator: str | None = None,
        regularization: float = DEFAULT_REGULARIZATION,
    ) -> Features:
        """Make features from the columns of a pandas or polars data frame, one row per id.

        A column of numbers is one feature, used as it is; scale it to about 1. A column of strings or of
        lists of strings gives one feature for each string, such as "genre=Comedy", which is 1 where a row has
        it. A missing string, or an empty list, has none of them. A missing number is an error.

        Parameters
        ----------
        frame
            The data frame.
        id
            The column of ids.
        columns
            The columns to use. Default: all others.
        separator
            Split strings into several at this text, such as "|" in "Action|Comedy".
        regularization
            How strongly weights are pulled to zero; see `Features`.

        Examples
        --------
        >>> features = Features.from_frame(products, id="product", columns=["price", "kind"], separator="|")
        >>> features.names
        ('price', 'kind=dairy', 'kind=drink', 'kind=grain')
        """
        ids, names, rows = encoded(frame, id, columns, separator)
        return cls(IdMap(ids), names, rows, regularization)

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        *,
        ids: Iterable[Any] | None = None,
        names: Sequence[str] | None = None,
        regularization: float = DEFAULT_REGULARIZATION,
    ) -> Features:
        """Make features from a scipy.sparse or numpy matrix, one row per id and one column per feature.

        Parameters
        ----------
        matrix
            The numbers. Zeros take no memory.
        ids
            The id of each row. Default: 0, 1, 2, ...
        names
            The name of each column. Default: "0", "1", "2", ...
        regularization
            How strongly weights are pulled to zero; see `Features`.

        Examples
        --------
        >>> Features.from_matrix(np.array([[1, 0], [1, 1]]), ids=["tea", "milk"], names=["drink", "dairy"])
        Features(2 ids x 2 features: drink, dairy)
        """
        rows = rows_of_matrix(matrix)
        known = ids if isinstance(ids, IdMap) else IdMap(np.arange(len(rows)) if ids is None else ids)
        return cls(
            known, tuple(map(str, range(rows.n_columns)) if names is None else names), rows, regularization
        )

    def rows_of(self, ids: IdMap) -> Csr:
        """Return the features of these ids, of which some may have none. Raise if all of them have none."""
        if self.ids is ids:
            return self.rows
        found = self._found(ids)
        places = np.full(len(ids), len(self))  # an empty row, added behind the others
        places[found.rows] = np.flatnonzero(found.known)
        return self.rows.extended(len(self) + 1).take(places)

    def _found(self, ids: IdMap) -> Found:
        """Look up the ids that have features. Raise if none of them is known."""
        found = ids.find(self.ids.ids)
        if len(found.rows) == 0 and len(ids) and len(self):
            raise InvalidValueError(
                f"none of the {len(self):,} ids that have features is the id of one of the {len(ids):,} "
                f"{ids.name}s: {self.ids[0]!r} is not, for example"
            )
        return found

    def of(self, ids: IdMap, rows: NDArray[np.int64]) -> Features:
        """Return the features of some rows of `ids`, of which some may have none."""
        found = self.rows_of(ids).take(rows)
        return Features(ids.selected(rows), self.names, found, self.regularization)

    def known_to(self, ids: IdMap) -> Features:
        """Return the features of those ids that are among `ids`. Raise if none of them is.

        Examples
        --------
        >>> two = Features.from_matrix(np.array([[1], [2]]), ids=["tea", "salt"], names=["price"])
        >>> two.known_to(data.items)
        Features(1 ids x 1 features: price)
        """
        return self._selected(self._found(ids).known)

    def unknown_to(self, ids: IdMap) -> Features:
        """Return the features of those ids that are not among `ids`."""
        return self._selected(~ids.find(self.ids.ids).known)

    def _selected(self, mask: NDArray[np.bool_]) -> Features:
        places = np.flatnonzero(mask)
        return Features(self.ids.selected(places), self.names, self.rows.take(places), self.regularization)


def features_of(given: Any, ids: IdMap) -> Features | None:
    """Return features as a user gives them to `fit`: `Features`, or a matrix with a row for each of `ids`."""
    if given is None or isinstance(given, Features):
        return given
    if hasattr(given, "columns"):
        raise InvalidTypeError(
            f"{ids.name}_features as a data frame must say which column has the ids: "
            "Features.from_frame(frame, id=...)"
        )
    if len(getattr(given, "shape", ())) == 2 and given.shape[0] != len(ids):
        raise InvalidValueError(
            f"{ids.name}_features as a matrix must have a row for each of the {len(ids)} {ids.name}s, got "
            f"{given.shape[0]} rows; Features.from_matrix(matrix, ids=...) can describe others"
        )
    return Features.from_matrix(given, ids=ids)


def checked_names(names: Iterable[Any]) -> tuple[str, ...]:
    """Return distinct names of features."""
    listed = tuple(names)
    if not all(isinstance(name, str) for name in listed):
        raise InvalidTypeError("names of features must be strings")
    if len(set(listed)) < len(listed):
        twice = next(name for name in listed if listed.count(name) > 1)
        raise InvalidValueError(f"the feature {twice!r} is named more than once")
    return listed
