"""ialspp names: give names to the items or users of a model; and the options of names that commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from ..data.ids import IdMap
from ..data.interactions import Interactions
from ..data.naming import NameTable
from ..data.reading.names import read_names
from ..errors import InvalidValueError
from ..model.model import ImplicitMF
from .ours import MODEL, ForceOption
from .output import JsonOption, checked_target, remark, show_facts, show_json, size
from .queries import ModelArgument, opened
from .signals import keep_signals_from_polars, signals_kept
from .source import column_of, separator_of

FEW = 0.5  # share of items with a name below which a remark says so


@dataclass(frozen=True, slots=True)
class NameOptions:
    """Files of names, and how they are read."""

    panel: ClassVar[str] = "Names"

    item_names: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Names of items: a file with a column of ids and one of names."),
    ] = None
    user_names: Annotated[Path | None, typer.Option(metavar="FILE", help="Names of users.")] = None
    name_columns: Annotated[
        str | None,
        typer.Option(
            metavar="ID,NAME",
            help="The columns in files of names: their names, or positions from 0. Default: the first two.",
        ),
    ] = None
    name_encoding: Annotated[
        str | None, typer.Option(help="Encoding of files of names, such as latin-1. Default: utf-8.")
    ] = None
    name_separator: Annotated[
        str | None, typer.Option(help="Separator in files of names. Default: from the suffix or first line.")
    ] = None

    def check(self, *, required: bool = False) -> None:
        """Raise if options are given that no file of names can use."""
        options = {
            "--name-columns": self.name_columns,
            "--name-encoding": self.name_encoding,
            "--name-separator": self.name_separator,
        }
        given = [flag for flag, value in options.items() if value is not None]
        if self.item_names is None and self.user_names is None and (given or required):
            needing = f"{given[0]} needs" if given else "names need"
            raise InvalidValueError(f"{needing} a file of names: --item-names or --user-names is required")
        self._columns()

    def attached(self, data: Interactions) -> Interactions:
        """Return data with the names of the files."""
        tables = self.tables()
        with _naming_file("--user-names", self.user_names):
            data = data.with_names(users=tables["users"])
        with _naming_file("--item-names", self.item_names):
            return data.with_names(items=tables["items"])

    def set_for(self, model: ImplicitMF, tables: dict[str, NameTable | None]) -> None:
        """Give the names of the files to a model."""
        with _naming_file("--user-names", self.user_names):
            model.set_names(users=tables["users"])
        with _naming_file("--item-names", self.item_names):
            model.set_names(items=tables["items"])

    def tables(self) -> dict[str, NameTable | None]:
        """Read the files."""
        with signals_kept():
            keep_signals_from_polars()
            return {"items": self._read(self.item_names), "users": self._read(self.user_names)}

    def _read(self, file: Path | None) -> NameTable | None:
        if file is None:
            return None
        columns: dict[str, Any] = dict(zip(("id", "name"), self._columns(), strict=True))
        encoding, separator = self.name_encoding or "utf-8", separator_of(self.name_separator)
        return read_names(file, **columns, encoding=encoding, separator=separator)

    def _columns(self) -> tuple[str | int, str | int]:
        if self.name_columns is None:
            return 0, 1
        parts = [part.strip() for part in self.name_columns.split(",")]
        if len(parts) != 2 or not all(parts):
            raise InvalidValueError(
                f"--name-columns must be two columns, such as id,title or 0,1; got {self.name_columns!r}"
            )
        return column_of(parts[0]), column_of(parts[1])


@contextmanager
def _naming_file(option: str, file: Path | None) -> Iterator[None]:
    """Let errors about names in the block say which option they are about."""
    try:
        yield
    except InvalidValueError as error:
        raise InvalidValueError(f"{option} {file}: {error}") from error


def named_facts(*axes: IdMap) -> dict[str, Any]:
    """Count the rows of each axis that have a name, by axis; axes without names are left out."""
    return {
        f"{ids.name}s": {"named": ids.names.filled, "of": len(ids)} for ids in axes if ids.names is not None
    }


def shown_names(facts: dict[str, Any]) -> dict[str, str]:
    """Say how many items and users have names, as a line of a table; no line if none has."""
    parts = [f"for {count['named']:,} of {count['of']:,} {axis}" for axis, count in facts.items()]
    return {"names": ", ".join(parts)} if parts else {}


def remark_on_few(facts: dict[str, Any], given: NameOptions) -> None:
    """Print a line about each file of names in which most ids of the data have none."""
    for axis, file in (("items", given.item_names), ("users", given.user_names)):
        count = facts.get(axis)
        if file is not None and count is not None and count["named"] < FEW * count["of"]:
            missing = count["of"] - count["named"]
            words = f"{missing:,} of {count['of']:,} {axis} have no name"
            remark(f"{words}; are the ids in {file} those of the data?")


def names(
    model: ModelArgument,
    options: NameOptions,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="The file of the new model. Default: replace MODEL.")
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Give names to the items or users of a model. Vectors and answers stay as they are.

    Names that a model already has are replaced where the file has another one.

    Example: ialspp names films.ialspp --item-names movies.csv --name-columns movieId,title
    """
    options.check(required=True)
    target = model if out is None else out
    checked_target(target, kind=None if out is None else MODEL, force=force)
    tables = options.tables()
    loaded = opened(model)
    options.set_for(loaded, tables)
    loaded.save(target, interactions=loaded.keeps_interactions, progress=None, force=force)
    facts = named_facts(loaded.users, loaded.items)
    if as_json:
        show_json({"model": str(model), "names": facts, "file": str(target), "bytes": target.stat().st_size})
        return
    show_facts(str(model), {**shown_names(facts), "file": f"{target}, {size(target.stat().st_size)}"})
    remark_on_few(facts, options)
