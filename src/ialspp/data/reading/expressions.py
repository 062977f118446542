"""Expressions over the columns of a file: which rows to keep, and how much they weigh."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InvalidTypeError, InvalidValueError

if TYPE_CHECKING:
    import polars as pl

_LOG = re.compile(r"""'[^']*'|"[^"]*"|\b(log)\s*\(""", re.IGNORECASE)  # quotes are skipped
_POSITION = re.compile(r"\bcolumn_[0-9]+\b")


@dataclass(frozen=True, slots=True)
class Expression:
    """What to compute for each row, and the columns that it takes."""

    role: str  # "where" or "weight"
    given: str  # what the caller wrote
    value: pl.Expr
    columns: frozenset[str]

    @classmethod
    def of(cls, role: str, given: Any, file: Path, names: list[str]) -> Expression:
        """Parse a string as SQL, or take a polars expression; check that the file has its columns."""
        import polars as pl

        if not isinstance(given, (str, pl.Expr)):
            example = "rating >= 4" if role == "where" else "1 + log(plays)"
            raise InvalidTypeError(
                f"{role} must be a polars expression or SQL such as {example!r}, got {given!r}"
            )
        value = given if isinstance(given, pl.Expr) else _parsed(role, given, file, names)
        if value.meta.has_multiple_outputs():
            raise InvalidValueError(f"{file}: {role} must be one value for each row, got {given}")
        columns = frozenset(value.meta.root_names())
        unknown = sorted(columns - set(names))
        if unknown:
            raise InvalidValueError(f"{file}: {role} names {unknown}, but the file has {names}")
        return cls(role, str(given), value, columns)


def is_expression(weight: Any, names: list[str]) -> bool:
    """Whether a weight is to be computed: it is neither a position nor the name of a column nor like one."""
    if not isinstance(weight, str):
        return _is_polars(weight)
    return weight not in names and not weight.isidentifier()


def needs_header(column: Any) -> bool:
    """Whether a column is given by a name that only a header can hold; column_2 names a position."""
    if not isinstance(column, str):
        return _is_polars(column) and not any(map(_POSITION.fullmatch, column.meta.root_names()))
    return column.isidentifier() or _POSITION.search(column) is None


def _is_polars(value: Any) -> bool:
    import polars as pl

    return isinstance(value, pl.Expr)


def _parsed(role: str, text: str, file: Path, names: list[str]) -> pl.Expr:
    import polars as pl

    try:
        return pl.sql_expr(_with_natural_log(text))
    except pl.exceptions.PolarsError as error:
        raise InvalidValueError(
            f"{file}: {role} is not an SQL expression: {text!r} ({error}); the file has {names}"
        ) from error


def _with_natural_log(text: str) -> str:
    """Write log(x) as ln(x): the log of polars' SQL needs a base, log(x, 2)."""
    for found in reversed(list(_LOG.finditer(text))):
        if found[1] and not _has_comma(text, found.end()):
            text = f"{text[: found.start(1)]}ln{text[found.end(1) :]}"
    return text


def _has_comma(text: str, begin: int) -> bool:
    """Whether a comma separates arguments between `begin` and the parenthesis that closes them."""
    depth = 0
    for part in re.finditer(r"""'[^']*'|"[^"]*"|[(),]""", text[begin:]):
        if part[0] == "," and depth == 0:
            return True
        depth += {"(": 1, ")": -1}.get(part[0], 0)
        if depth < 0:
            break
    return False
