"""What is needed of a file: which column plays which part, as what type, and which rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .source import ROW, Source

if TYPE_CHECKING:
    import polars as pl

LAST = "#last"  # the last column of a text file: missing where a line was cut short
ROLES = ("user", "item", "label", "weight", "time")
NUMBERS = ("label", "weight", "rating")


@dataclass(frozen=True, slots=True)
class Columns:
    """The file's name for each part that was asked for, and the rows that were."""

    file_names: list[str]  # all columns of the file
    names: dict[str, str]  # role -> column
    kinds: dict[str, Any]  # role -> polars type, as the file has it
    last: str | None  # the last column of a text file

    @classmethod
    def of(cls, source: Source, wanted: dict[str, str | int | None]) -> Columns:
        """Every column asked for is there, and of a type that can play its part."""
        schema = source.scan().collect_schema()
        names = [name for name in schema if name != ROW][:: source.stride]
        found = {
            role: _named(source.files[0], role, column, names)
            for role, column in wanted.items()
            if column is not None
        }
        if found["user"] == found["item"]:
            raise ValueError(f"user and item must be two columns, got {found['user']!r} for both")
        kinds = {role: schema[name] for role, name in found.items()}
        columns = cls(names, found, kinds, names[-1] if source.is_text else None)
        for role, kind in kinds.items():
            columns._check_kind(source, role, kind)
        return columns

    def is_number(self, role: str) -> bool:
        """Whether the column of this part is read as numbers."""
        return role in NUMBERS or (role == "time" and self.kinds[role].is_numeric())

    def _check_kind(self, source: Source, role: str, kind: pl.DataType) -> None:
        import polars as pl

        if role in ("user", "item"):
            fits = source.is_text or kind.is_integer() or kind in (pl.String, pl.Categorical, pl.Enum)
            required = "integers or strings"
        elif role == "time":
            fits = kind.is_numeric() or kind in (pl.Date, pl.Datetime)
            required = "Unix seconds or dates"
        else:
            fits = source.is_text or kind.is_numeric()
            required = "numbers"
        if not fits:
            raise ValueError(
                f"{source.files[0]}: column {self.names[role]!r} must be {required}, but is {_plain(kind)}"
            )

    def types(self, in_filter: set[str]) -> dict[str, pl.DataType]:
        """Types to read a text file's columns as; None leaves a column to be guessed.

        Ids are text until all are known: that 007 is not 7 shows in the text alone. An id that a filter
        looks at is what the filter takes it for.
        """
        import polars as pl

        types: dict[str, pl.DataType] = {}
        for role, name in self.names.items():
            if role in ("user", "item"):
                if name not in in_filter:
                    types[name] = pl.String()
            elif self.is_number(role):
                types[name] = pl.Float64()
        if self.last is not None and self.last not in [*self.names.values(), *in_filter]:
            types[self.last] = pl.String()
        return types

    def needed(self, frame: pl.LazyFrame, min_rating: float | None, where: pl.Expr | None) -> pl.LazyFrame:
        """The rows and columns asked for, named by their parts; numbers and times as floats."""
        import polars as pl

        if where is not None:
            frame = frame.filter(where)
        if "rating" in self.names:
            rating = pl.col(self.names["rating"]).cast(pl.Float64)
            # A missing rating stays, to be complained about.
            frame = frame.filter((rating >= min_rating) | rating.is_null() | rating.is_nan())
        chosen = [self._expression(role).alias(role) for role in self.names]
        last = [] if self.last is None else [pl.col(self.last).is_null().alias(LAST)]
        return frame.select(ROW, *chosen, *last)

    def _expression(self, role: str) -> pl.Expr:
        import polars as pl

        column = pl.col(self.names[role])
        if self.is_number(role):
            return column.cast(pl.Float64)
        if role != "time":
            return column
        return column.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64) / 1e6


def expression_of(where: Any, file: Path) -> pl.Expr | None:
    """A polars expression as it is; a string as SQL, such as "rating >= 4 AND kind = 'buy'"."""
    import polars as pl

    if where is None or isinstance(where, pl.Expr):
        return where
    if not isinstance(where, str):
        raise TypeError(f"where must be a polars expression or SQL such as 'rating >= 4', got {where!r}")
    try:
        return pl.sql_expr(where)
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{file}: where is not an SQL expression: {where!r} ({error})") from error


def _named(file: Path, role: str, column: str | int, names: list[str]) -> str:
    if isinstance(column, int) and not isinstance(column, bool):
        if not 0 <= column < len(names):
            raise ValueError(f"{file}: {role} is column {column}, but there are {len(names)}, counted from 0")
        return names[column]
    if column not in names:
        raise ValueError(f"{file}: {role} column {column!r} is not in the file; it has {names}")
    return str(column)


def _plain(kind: pl.DataType) -> str:
    return "text" if str(kind) == "String" else str(kind)
