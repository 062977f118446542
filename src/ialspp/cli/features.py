"""The options of features: files that describe items or users, and how they are read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from ..data.features import DEFAULT_REGULARIZATION, Features
from ..data.reading.features import read_features
from ..errors import InvalidValueError
from ..model.model import ImplicitMF
from ..model.side_features import SideFeatures
from .options import given
from .signals import keep_signals_from_polars, signals_kept
from .source import column_of, separator_of


@dataclass(frozen=True, slots=True)
class FeatureFiles:
    """Files of features, and how they are read."""

    panel: ClassVar[str] = "Features"

    item_features: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Features of items: a file with a column of ids, and numbers or strings."
        ),
    ] = None
    user_features: Annotated[Path | None, typer.Option(metavar="FILE", help="Features of users.")] = None
    feature_columns: Annotated[
        str | None,
        typer.Option(
            metavar="ID,COLUMN,...",
            help="The columns to use: their names, or positions from 0. Default: all, the first has the ids.",
        ),
    ] = None
    feature_lists: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Split strings at this text, such as | in Action|Comedy."),
    ] = None
    feature_encoding: Annotated[
        str | None, typer.Option(help="Encoding of files of features, such as latin-1. Default: utf-8.")
    ] = None
    feature_separator: Annotated[
        str | None,
        typer.Option(help="Separator in files of features. Default: from the suffix or first line."),
    ] = None

    def check(self) -> None:
        """Raise if options are given that no file of features can use."""
        unused = list(given(self, "item_features", "user_features"))
        if self.item_features is None and self.user_features is None and unused:
            flag = f"--{unused[0].replace('_', '-')}"
            raise InvalidValueError(
                f"{flag} needs a file of features: --item-features or --user-features is required"
            )
        self._columns()

    def read(self) -> SideFeatures:
        """Read the files."""
        with signals_kept():
            keep_signals_from_polars()
            return SideFeatures(self._read(self.user_features), self._read(self.item_features))

    def _read(self, file: Path | None) -> Features | None:
        if file is None:
            return None
        return read_features(
            file,
            columns=self._columns(),
            lists=self.feature_lists,
            regularization=self._strength,
            encoding=self.feature_encoding or "utf-8",
            separator=separator_of(self.feature_separator),
        )

    @property
    def _strength(self) -> float:
        """The regularization of the features: only a training uses it."""
        return DEFAULT_REGULARIZATION

    def _columns(self) -> list[str | int] | None:
        if self.feature_columns is None:
            return None
        parts = [part.strip() for part in self.feature_columns.split(",")]
        if len(parts) < 2 or not all(parts):
            raise InvalidValueError(
                "--feature-columns must be the column of ids and others, such as id,genre; got "
                f"{self.feature_columns!r}"
            )
        return [column_of(part) for part in parts]


@dataclass(frozen=True, slots=True)
class FeatureOptions(FeatureFiles):
    """Files of features for a training, and how strongly their weights are regularized."""

    feature_regularization: Annotated[
        float | None,
        typer.Option(
            help=f"Pull of their weights to zero, counted in rows. Default: {DEFAULT_REGULARIZATION:g}."
        ),
    ] = None

    @property
    def _strength(self) -> float:
        rho = self.feature_regularization
        return DEFAULT_REGULARIZATION if rho is None else rho


def feature_facts(model: ImplicitMF, users: int, items: int) -> dict[str, Any]:
    """Count features, and rows that came from features alone; users, items: how many rows the data has."""
    sides = {
        "users": (model.user_features, len(model.users) - users),
        "items": (model.item_features, len(model.items) - items),
    }
    return {
        axis: {"features": len(known.names), "new": new}
        for axis, (known, new) in sides.items()
        if known is not None
    }


def shown_features(facts: dict[str, Any]) -> dict[str, str]:
    """Say how many features there are, as a line of a table; no line if there are none."""
    parts = [f"{count['features']:,} of {axis}, {count['new']:,} new {axis}" for axis, count in facts.items()]
    return {"features": "; ".join(parts)} if parts else {}
