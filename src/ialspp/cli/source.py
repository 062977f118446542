"""Where a command's data comes from: a file, or a known data set by its name. The same options everywhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from ..data.interactions import Interactions
from ..datasets import KNOWN, load
from ..errors import InvalidValueError
from ..split import Split
from .config import COLUMN
from .options import given

COLUMNS = ("user", "item", "label", "weight", "time", "rating")


def _column(help: str) -> Any:
    return typer.Option(metavar=COLUMN, help=f"{help}: its name, or its position from 0.")


@dataclass(frozen=True, slots=True)
class Source:
    """What the options say of the data; None where nothing was said."""

    panel: ClassVar[str] = "Data"
    unread: ClassVar[tuple[str, ...]] = ("source", "path")  # fields that are no options of reading

    source: Annotated[
        str,
        typer.Argument(
            help="A file, a folder or a pattern; or the name of a known data set: see `ialspp data list`."
        ),
    ]
    path: Annotated[
        Path | None, typer.Option(help="Where you have a known data set; else it is fetched.")
    ] = None
    user: Annotated[str | None, _column("Column of users")] = None
    item: Annotated[str | None, _column("Column of items")] = None
    label: Annotated[str | None, _column("Column of labels")] = None
    weight: Annotated[str | None, _column("Column of weights")] = None
    time: Annotated[str | None, _column("Column of times, Unix seconds or dates")] = None
    rating: Annotated[str | None, _column("Column that --min-rating looks at")] = None
    min_rating: Annotated[float | None, typer.Option(help="Leave out ratings below.")] = None
    where: Annotated[str | None, typer.Option(help="Rows to keep, in SQL: \"kind = 'buy' AND n > 2\".")] = (
        None
    )
    format: Annotated[
        str | None, typer.Option(help="csv (any text), parquet or arrow. Default: by the suffix.")
    ] = None
    separator: Annotated[str | None, typer.Option(help='Between fields of text: one character or "::".')] = (
        None
    )
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Default: if columns are named.")
    ] = None

    @property
    def is_known(self) -> bool:
        """A name of `KNOWN`, and not a file that is called so."""
        return self.source in KNOWN and not Path(self.source).exists()

    def load(self, **defaults: Any) -> Interactions | Split:
        """Read, or fetch and read; `defaults` are for what was not said."""
        options = {**defaults, **given(self, *self.unread)}
        if self.is_known:
            return load(self.source, self.path, **self.checked_for(self.source, options))
        if self.path is not None:
            raise InvalidValueError(
                f"--path is for known data sets ({', '.join(KNOWN)}), and {self.source} is none"
            )
        missing = [f"--{role}" for role in ("user", "item") if role not in options]
        if missing and not Path(self.source).exists() and not any(sign in self.source for sign in "*?["):
            raise InvalidValueError(
                f"{self.source}: no such file, and no known data set ({', '.join(KNOWN)})"
            )
        if missing:
            raise InvalidValueError(
                f"{' and '.join(missing)} must say which columns of {self.source} to read"
            )
        for role in COLUMNS:
            if role in options and re.fullmatch("[0-9]+", options[role]):
                options[role] = int(options[role])
        if options.get("separator") == "\\t":  # as a shell passes it
            options["separator"] = "\t"
        return Interactions.read(self.source, **options)

    def refuse_target(self, target: Path) -> None:
        """An error where a model would take the place of the data."""
        if target.exists() and Path(self.source).exists() and target.samefile(self.source):
            raise InvalidValueError(f"--out must not be the file of the data, {self.source}")

    def interactions(self, command: str) -> Interactions:
        """The same for a command that has no use for a split."""
        loaded = self.load()
        if isinstance(loaded, Split):
            raise InvalidValueError(
                f"{self.source} is a published split, and {command} takes interactions; "
                "ialspp evaluate takes splits"
            )
        return loaded

    @staticmethod
    def checked_for(name: str, options: dict[str, Any]) -> dict[str, Any]:
        """The options, an error where a known data set of that name has no use for one."""
        known = {"min_rating"} if name.startswith("ml-") else set()
        refused = [f"--{option.replace('_', '-')}" for option in options if option not in known]
        if refused:
            raise InvalidValueError(f"{name} is a known data set; leave out {', '.join(refused)}")
        return options
