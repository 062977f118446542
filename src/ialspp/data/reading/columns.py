"""Choose and check what is read: the column of each role, its type, and which rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InvalidTypeError, InvalidValueError
from .expressions import Expression, is_expression
from .file_set import EXTRA, ROW, SEPARATORS, FileSet
from .headers import look_like_names
from .lines import check_times, check_width

if TYPE_CHECKING:
    import polars as pl

BLANK = "#blank"  # whether a row of text has no values
BROKEN = "#broken"  # whether a row of text may have too few or too many fields
NUMBERS = ("label", "weight", "rating")
MOST_CHECKED = 16  # columns in which a blank line is looked for, besides those that are read


@dataclass(frozen=True, slots=True)
class Columns:
    """The column of each role (user, item, label, ...) that was requested."""

    requested: dict[str, str | int]  # role -> name or position of its column, as the caller gave it
    file_names: list[str]  # of all columns in the file
    names: dict[str, str]  # role -> name of its column
    kinds: dict[str, Any]  # name of a column -> polars type
    where: Expression | None = None  # which rows to keep
    weight: Expression | None = None  # where weights are computed and are not a column

    @classmethod
    def of(cls, source: FileSet, wanted: dict[str, Any], where: Any = None) -> Columns:
        """Find the requested columns; check that every file has them, with a suitable type."""
        kinds = source.schema()
        names = list(kinds)
        if source.is_text:
            width = len(source.first_record().fields)
            if len(names) != width:  # a later line has more fields than the first
                check_width(source, None, width)
        file = source.files[0]
        requested = {role: column for role, column in wanted.items() if column is not None}
        condition = None if where is None else Expression.of("where", where, file, names)
        weight = None
        if is_expression(requested.get("weight"), names):
            weight = Expression.of("weight", requested["weight"], file, names)
            requested["weight"] = weight.given
        found = {
            role: named_column(file, role, column, names)
            for role, column in requested.items()
            if role != "weight" or weight is None
        }
        for role in ("user", "item"):
            others = [other for other, name in found.items() if name == found[role] and other != role]
            if others:
                raise InvalidValueError(
                    f"{role} must be a column of its own, but {requested[role]!r} is also {others[0]}"
                )
        columns = cls(requested, names, found, kinds, condition, weight)
        for role in found:
            columns._check_kind(source, role)
        columns._check_weight(source)
        for other in source.each_file()[1:]:
            columns._check_same(source, other)
        return columns

    def is_number(self, role: str) -> bool:
        """Whether the column of this role is read as numbers."""
        return role in NUMBERS or (role == "time" and self.kinds[self.names[role]].is_numeric())

    def described(self, role: str) -> str:
        """Name what a role's values come from, for errors."""
        what = "column" if role in self.names else role
        return f"{what} {self.requested[role]!r}"

    def required_texts(self) -> list[tuple[str | int, str, str]]:
        """List columns of numbers and dates: as the caller gave each, its name, and what it must hold."""
        roles = [(role, name) for role, name in self.names.items() if role not in ("user", "item")]
        computed = [name for name in sorted(self.in_expressions) if self.kinds[name].is_numeric()]
        return [(self.requested[role], name, self._required_text(role)) for role, name in roles] + [
            (name, name, "a number") for name in computed if name not in self.names.values()
        ]

    def _required_text(self, role: str) -> str:
        if self.is_number(role):
            return "a number"
        return "a date" if str(self.kinds[self.names[role]]) == "Date" else "a date and time"

    def _check_kind(self, source: FileSet, role: str) -> None:
        import polars as pl

        name = self.names[role]
        kind = self.kinds[name]
        if role in ("user", "item"):
            integer = kind.is_integer() and kind not in (pl.Int128, getattr(pl, "UInt128", pl.Int128))
            fits = source.is_text or integer or kind in (pl.String, pl.Categorical, pl.Enum)
            required = "integers of up to 64 bits, or strings"
        elif role == "time":
            fits = kind.is_numeric() or kind in (pl.Date, pl.Datetime)
            required = "Unix seconds or dates"
            if source.is_text and not kind.is_numeric():
                check_times(source, self.requested[role], self.file_names.index(name), guessed=fits)
                fits = True
        else:
            fits = source.is_text or kind.is_numeric()
            required = "numbers"
        if not fits:
            raise InvalidValueError(
                f"{source.files[0]}: column {self.requested[role]!r} must be {required}, but is {kind}"
            )

    def _check_weight(self, source: FileSet) -> None:
        """Raise unless the expression of the weights gives numbers."""
        import polars as pl

        if self.weight is None:
            return
        try:
            kind = pl.LazyFrame(schema=self.kinds).select(self.weight.value).collect_schema().dtypes()[0]
        except pl.exceptions.PolarsError as error:
            raise InvalidValueError(
                f"{source.files[0]}: weight {self.weight.given!r} cannot be computed: "
                f"{str(error).splitlines()[0]}; the columns are {self._described(self.weight)}"
            ) from error
        if not (kind.is_numeric() or kind == pl.Boolean):
            raise InvalidValueError(
                f"{source.files[0]}: weight {self.weight.given!r} must give numbers, but gives {kind}"
            )

    def _described(self, expression: Expression) -> str:
        return ", ".join(f"{name!r} ({self.kinds[name]})" for name in sorted(expression.columns))

    @property
    def in_expressions(self) -> frozenset[str]:
        """The columns that the filter and the weights are computed from."""
        return frozenset().union(*(one.columns for one in (self.where, self.weight) if one is not None))

    def _check_same(self, source: FileSet, other: FileSet) -> None:
        """Check another file: text needs the same columns in the same order, other formats the same types."""
        kinds = other.schema()
        if source.is_text and list(kinds) != self.file_names:
            raise InvalidValueError(
                f"{other.files[0]}: the columns must be those of {source.files[0]}, {self.file_names}, "
                f"got {list(kinds)}"
            )
        computed = [] if self.weight is None else [("weight", name) for name in sorted(self.weight.columns)]
        for role, name in [*self.names.items(), *computed]:
            if name not in kinds:
                raise InvalidValueError(
                    f"{other.files[0]}: {role} column {name!r} is not in the file; it has {list(kinds)}"
                )
            if not source.is_text and kinds[name] != self.kinds[name]:
                before = f"in {source.files[0]} it is {self.kinds[name]}"
                raise InvalidValueError(
                    f"{other.files[0]}: column {self.shown(role, name)!r} is {kinds[name]}, but {before}"
                )

    def shown(self, role: str, name: str) -> str | int:
        """How errors call a column: as it was requested, or by its name if it is part of an expression."""
        return self.requested[role] if role in self.names else name

    def types(self) -> dict[str, pl.DataType]:
        """Types to read a text file's columns as; polars guesses those that are not listed.

        Ids are read as text: only the text shows that 007 is not 7. Numbers are read as floats, because the
        first thousands may look like integers when a later one does not.
        """
        import polars as pl

        roles = {name: role for role, name in self.names.items()}
        types: dict[str, pl.DataType] = {}
        for name in self.file_names:
            role = roles.get(name)
            number = self.is_number(role) if role else self.kinds[name].is_numeric()
            if role in ("user", "item") or (role is None and name not in self.in_expressions):
                types[name] = pl.String()
            elif number:
                types[name] = pl.Float64()
        return types

    def needed(self, source: FileSet, min_rating: float | None) -> pl.LazyFrame:
        """Query the requested rows and columns, named by role; numbers and times become floats."""
        import polars as pl

        frame = source.scan(self.types() if source.is_text else None)
        ids = {role: self.names[role] for role in ("user", "item")}
        if self.where is not None or self.weight is not None:
            # Expressions see an id as what it looks like, and leave the id itself as it is written.
            seen = [
                pl.col(name).cast(self.kinds[name]) for name in ids.values() if name in self.in_expressions
            ]
            kept = [pl.col(name).alias(f"#{role}") for role, name in ids.items()]
            frame = frame.with_columns(*kept).with_columns(*seen)
            ids = {role: f"#{role}" for role in ids}
        if self.where is not None:
            frame = frame.filter(self.where.value)
        if "rating" in self.names:
            rating = pl.col(self.names["rating"]).cast(pl.Float64)
            # A missing rating stays, to be complained about.
            frame = frame.filter((rating >= min_rating) | rating.is_null() | rating.is_nan())
        numbers = [self._expression(role).alias(role) for role in self.requested if role not in ids]
        chosen = [pl.col(name).alias(role) for role, name in ids.items()]
        return frame.select(ROW, *chosen, *numbers, *(self._line_checks(source) if source.is_text else []))

    def _expression(self, role: str) -> pl.Expr:
        import polars as pl

        if role == "weight" and self.weight is not None:
            return self.weight.value.cast(pl.Float64)
        column = pl.col(self.names[role])
        if self.is_number(role):
            return column.cast(pl.Float64)
        kind = self.kinds[self.names[role]]
        if kind != pl.Datetime:
            return column.cast(pl.Int64).cast(pl.Float64) * 86_400  # days
        # Not by dt.epoch: it panics where the time is out of the range of dates.
        ticks = column.cast(pl.Int64)
        if kind.time_unit == "ns":
            ticks, per_second = ticks // 1000, 1e6
        else:
            per_second = {"us": 1e6, "ms": 1e3}[kind.time_unit]
        return ticks.cast(pl.Float64) / per_second

    def _line_checks(self, source: FileSet) -> list[pl.Expr]:
        """Columns that say whether a line is blank, and whether it may have too few or too many fields.

        polars reports a field too many only if all columns are read.
        """
        import polars as pl

        *others, last = self.file_names
        looked_at = dict.fromkeys((*self.names.values(), *others[: MOST_CHECKED - 1], last))
        blank = pl.all_horizontal(pl.col(name).is_null() for name in looked_at)
        broken = pl.col(last).is_null()
        if source.separator == "::":
            broken = broken | pl.col(EXTRA).is_not_null()
        return [blank.alias(BLANK), broken.alias(BROKEN)]


def named_column(file: Path, role: str, column: str | int, names: list[str]) -> str:
    """Return the name of the column of a role, which is given by its name or its position."""
    if isinstance(column, bool) or not isinstance(column, (str, int)):
        raise InvalidTypeError(f"{role} must be the name or the position of a column, got {column!r}")
    if isinstance(column, int):
        if not 0 <= column < len(names):
            raise InvalidValueError(
                f"{file}: {role} is column {column}, but there are {len(names)}, counted from 0"
            )
        return names[column]
    if column not in names:
        raise InvalidValueError(
            f"{file}: {role} column {column!r} is not in the file; it has {names}{_way_out(role, names)}"
        )
    if f"{column}_duplicated_0" in names:
        raise InvalidValueError(
            f"{file}: {role} column {column!r} is there more than once; give its position"
        )
    return column


def _way_out(role: str, names: list[str]) -> str:
    """Say what to do where the names that were found are not names."""
    if len(names) == 1 and (separators := [sign for sign in SEPARATORS if sign in names[0]]):
        return f"; if fields are separated otherwise, give separator={separators[0]!r}, for instance"
    if not look_like_names(names):
        return f"; if the first line is data, give positions, counted from 0, such as {role}=0"
    return ""
