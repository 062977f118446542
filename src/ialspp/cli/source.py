"""The options for the data of a command: a file, or a known data set by its name."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from ..data.interactions import Interactions
from ..data.naming import NameTable
from ..data.prepared import is_prepared
from ..data.reading.opening import refuse_replacing
from ..data.spread import spread_advice
from ..datasets import KNOWN, load
from ..errors import InvalidValueError
from ..split import Split
from .config import COLUMN
from .messages import in_options
from .options import given
from .output import remark
from .signals import keep_signals_from_polars, signals_kept

MinUserOption = Annotated[int, typer.Option(help="Leave out users with fewer items.", rich_help_panel="Data")]
MinItemOption = Annotated[int, typer.Option(help="Leave out items with fewer users.", rich_help_panel="Data")]
COLUMNS = ("user", "item", "label", "weight", "time", "rating")


def _is_position(column: str) -> bool:
    return re.fullmatch("[0-9]+", column) is not None


def separator_of(text: str | None) -> str | None:
    """Return the separator that an option means: a shell passes on a tab as two characters."""
    return "\t" if text == "\\t" else text


def column_of(text: str) -> str | int:
    """Return what an option says of a column: its position, or its name."""
    return int(text) if _is_position(text) else text


def _column_option(help: str) -> Any:
    return typer.Option(metavar=COLUMN, help=f"{help}: its name, or its position from 0.")


@dataclass(frozen=True, slots=True)
class Source:
    """The data of a command; None where an option was not given."""

    panel: ClassVar[str] = "Data"
    unread: ClassVar[tuple[str, ...]] = ("source", "path")  # fields that `Interactions.read` does not take

    source: Annotated[
        str,
        typer.Argument(
            help="A file, a folder or a pattern, the file of `ialspp prepare`, or the name of a known data "
            "set: see `ialspp data list`."
        ),
    ]
    path: Annotated[
        Path | None, typer.Option(help="Your copy of a known data set. Default: it is downloaded.")
    ] = None
    user: Annotated[str | None, _column_option("Required for files. Column of users")] = None
    item: Annotated[str | None, _column_option("Required for files. Column of items")] = None
    label: Annotated[str | None, _column_option("Column of labels")] = None
    weight: Annotated[
        str | None,
        typer.Option(
            metavar=COLUMN, help='Column of weights, or weights computed from columns: "1 + log(plays)".'
        ),
    ] = None
    time: Annotated[str | None, _column_option("Column of times, Unix seconds or dates")] = None
    half_life: Annotated[
        str | None,
        typer.Option(
            help='Halve the weight of a row for each such time, such as "30d" or "12h", of its age.'
        ),
    ] = None
    rating: Annotated[str | None, _column_option("Column that --min-rating compares")] = None
    min_rating: Annotated[float | None, typer.Option(help="Leave out rows with a lower rating.")] = None
    where: Annotated[str | None, typer.Option(help="Rows to keep, in SQL: \"kind = 'buy' AND n > 2\".")] = (
        None
    )
    format: Annotated[
        str | None, typer.Option(help="csv (any text), parquet or arrow. Default: from the suffix.")
    ] = None
    separator: Annotated[
        str | None, typer.Option(help='Separator of fields in text: one character or "::".')
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line is a header. Default: if columns are given by name.",
        ),
    ] = None

    @property
    def is_known(self) -> bool:
        """Whether the source is a known data set, and not a file of that name."""
        return self.source in KNOWN and not Path(self.source).exists()

    @property
    def is_prepared(self) -> bool:
        """Whether the source is a file of prepared data."""
        return is_prepared(Path(self.source))

    @property
    def _weight(self) -> str | None:
        return KNOWN[self.source].weight if self.is_known and self.weight is None else self.weight

    @property
    def weighting(self) -> str | None:
        """What the weights are, in words of the options; None if all pairs weigh the same."""
        weight = self._weight
        if weight is not None and _is_position(weight):
            weight = f"column {weight}"
        if self.half_life is None:
            return weight
        return f"{weight or 1}, halved every {self.half_life}"

    def load(self, **defaults: Any) -> Interactions | Split:
        """Read the data, and download it first if needed; `defaults` are for options that were not given."""
        with signals_kept():
            return self._load(defaults)

    def _load(self, defaults: dict[str, Any]) -> Interactions | Split:
        options = {**defaults, **self._given()}
        if self.is_known:
            return load(self.source, self.path, **self.checked_for(self.source, options))
        if self.is_prepared:
            return self._opened()
        self._check_columns(options)
        keep_signals_from_polars()
        return Interactions.read(self.source, **options)

    def prepare(
        self,
        more: list[str],
        out: Path,
        memory: str,
        min_user: int,
        min_item: int,
        names: dict[str, NameTable | None],
        force: bool,
    ) -> Interactions:
        """Write the data of this source, and of more files, to a file of prepared data, and open it."""
        if self.is_known or self.is_prepared:
            if more:
                raise InvalidValueError(
                    f"{self.source} is no file of rows, and cannot be joined with {more[0]}"
                )
            data = self.interactions("prepare").core(min_user, min_item)
            self.require_some(data, min_user, min_item)
            data.with_names(**names).save(out, progress=None, force=force)
            return Interactions.open(out)
        with signals_kept():
            options = self._given()
            self._check_columns(options)
            keep_signals_from_polars()
            options |= {"min_user": min_user, "min_item": min_item}
            options |= {"user_names": names["users"], "item_names": names["items"], "force": force}
            return Interactions.prepare([self.source, *more], out, memory=memory, **options)

    def _given(self) -> dict[str, Any]:
        """Return the options for reading that were given, as `Interactions.read` takes them."""
        options = given(self, *self.unread)
        for role in COLUMNS:
            if role in options:
                options[role] = column_of(options[role])
        if "separator" in options:
            options["separator"] = separator_of(options["separator"])
        return options

    def _opened(self) -> Interactions:
        """Open prepared data, for which nothing is left to say."""
        refused = [f"--{option.replace('_', '-')}" for option in given(self, "source")]
        if refused:
            raise InvalidValueError(f"{self.source} is prepared data; leave out {', '.join(refused)}")
        return Interactions.open(self.source)

    def _check_columns(self, options: dict[str, Any]) -> None:
        """Raise unless there is a file to read, and its columns are given."""
        if self.path is not None:
            raise InvalidValueError(
                f"--path is for known data sets ({', '.join(KNOWN)}), and {self.source} is not one"
            )
        missing = [f"--{role}" for role in ("user", "item") if role not in options]
        if missing and not os.path.lexists(self.source) and not any(sign in self.source for sign in "*?["):
            raise InvalidValueError(
                f"{self.source}: no such file, and not a known data set ({', '.join(KNOWN)})"
            )
        if missing:
            raise InvalidValueError(f"{' and '.join(missing)} must name the columns of {self.source} to read")

    def remark_on_weights(self, data: Interactions) -> None:
        """Say on stderr if the weights or the labels should be dampened, and with which option."""
        advice = spread_advice(data, self._called(self._weight), self._called(self.label))
        if advice is not None:
            remark(f"Warning: {in_options(advice, ['weight'])}.")

    def _called(self, column: str | None) -> str:
        """Return how an expression calls a column, or names one that somebody may have."""
        if column is not None and not _is_position(column):
            return column
        has_no_names = column is not None and self.user is not None and _is_position(self.user)
        return f"column_{column}" if has_no_names else "plays"

    def require_some(self, data: Interactions, min_user: int, min_item: int) -> None:
        """Raise if no interactions are left to train on, and say what may have left them out."""
        if len(data) > 0:
            return
        filters = {
            "--min-rating": self.min_rating is not None,
            "--where": self.where is not None,
            "--min-user": min_user > 1,
            "--min-item": min_item > 1,
        }
        used = ", ".join(name for name, is_used in filters.items() if is_used)
        cause = f"no row is left after {used}" if used else "it has no rows"
        raise InvalidValueError(f"{self.source} has no interactions to train on: {cause}")

    def refuse_target(self, target: Path, more: Sequence[str] = ()) -> None:
        """Raise if the result would replace a file of the data."""
        if not self.is_known:
            refuse_replacing([self.source, *more], target)

    def interactions(self, command: str) -> Interactions:
        """Read the data for a command that cannot use a split."""
        loaded = self.load()
        if isinstance(loaded, Split):
            raise InvalidValueError(
                f"{self.source} is a published split, which only ialspp evaluate can use; "
                f"{command} needs interactions"
            )
        return loaded

    @staticmethod
    def checked_for(name: str, options: dict[str, Any]) -> dict[str, Any]:
        """Check that a known data set can use all these options, and return them."""
        known = KNOWN[name].options
        refused = [f"--{option.replace('_', '-')}" for option in options if option not in known]
        if refused:
            raise InvalidValueError(f"{name} is a known data set; leave out {', '.join(refused)}")
        return options
