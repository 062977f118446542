"""Read features of users or items from a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InvalidValueError
from ..features import DEFAULT_REGULARIZATION, Features
from ..id_values import INTEGER
from .catalogues import columns_in, read_catalogue
from .columns import named_column
from .encoding import UTF8
from .file_set import FileSet
from .limits import check_rows

if TYPE_CHECKING:
    import polars as pl


def read_features(
    path: str | Path,
    *,
    columns: Sequence[str | int] | None = None,
    lists: str | None = None,
    regularization: float = DEFAULT_REGULARIZATION,
    encoding: str = UTF8,
    format: str | None = None,
    separator: str | None = None,
) -> Features:
    """Read features from a file: text in any encoding, Parquet or Arrow, one row per id.

    Give what it returns to `ImplicitMF.fit`. In text, a column is one of numbers if every field of it is a
    number, and ids are integers if every one is written as an integer. Other columns give a feature for each
    string; see `Features.from_frame`.

    Parameters
    ----------
    path
        A file, a folder of files, or a pattern such as "catalogue/*.csv". Text may be compressed.
    columns
        The column of ids, and after it those of the features: by name, or by position, counted from 0. Text
        whose columns are all given by position has no header. Default: all, the first has the ids.
    lists
        Split strings into several at this text, such as "|" in "Action|Comedy".
    regularization
        How strongly the weights of features are pulled to zero; see `Features`.
    encoding
        The encoding of text: "utf-8", "latin-1", "cp1252", or any other that Python knows.
    format
        "csv", "parquet" or "arrow". If not given, the suffix says it; an unknown suffix is text.
    separator
        Between fields of text: one character or "::". If not given, the suffix or the first line says it.

    Examples
    --------
    >>> read_features("products.csv", columns=["product", "price", "kind"], lists="|")
    Features(3 ids x 4 features: price, kind=dairy, kind=drink, ...)
    """
    if columns is not None and len(columns) < 2:
        raise InvalidValueError(f"columns must be that of ids and at least one more, got {list(columns)}")
    frame = read_catalogue(
        path,
        lambda source: _frame(source, columns),
        encoding=encoding,
        format=format,
        separator=separator,
        header=None,
        named=columns is None or any(isinstance(column, str) for column in columns),
    )
    try:
        return Features.from_frame(frame, id=frame.columns[0], separator=lists, regularization=regularization)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{path}: {error}") from None


def _frame(source: FileSet, columns: Sequence[str | int] | None) -> pl.DataFrame:
    """Read the columns, the ids first. Text becomes numbers where all of a column are numbers."""
    import polars as pl

    there = columns_in(source)
    chosen = (
        list(there)
        if columns is None
        else [named_column(source.files[0], "feature", column, list(there)) for column in columns]
    )
    if not source.is_text:
        check_rows(source.files, int(source.scan().select(pl.len()).collect().item()))
        return source.scan().select(chosen).collect()
    texts = source.scan(dict.fromkeys(there, pl.String())).select(chosen).collect()
    return texts.with_columns(_ids(texts[chosen[0]]), *(_numbers(texts[name]) for name in chosen[1:]))


def _ids(texts: pl.Series) -> pl.Series:
    import polars as pl

    if not all(text is not None and INTEGER.fullmatch(text) for text in texts):
        return texts
    numbers = texts.cast(pl.Int64, strict=False)
    is_large = numbers.null_count() > 0  # some have more than 64 bits
    return pl.Series(texts.name, list(map(int, texts)), dtype=pl.Object) if is_large else numbers


def _numbers(texts: pl.Series) -> pl.Series:
    import polars as pl

    numbers = texts.cast(pl.Float64, strict=False)
    is_number = numbers.null_count() == texts.null_count() < len(texts)
    return numbers if is_number else texts
