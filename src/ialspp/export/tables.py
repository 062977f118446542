"""Export ids and vectors as Parquet or numpy files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Floats
from ..data.ids import IdMap
from ..errors import InvalidTypeError, InvalidValueError
from ..files.atomic import whole_files
from ..files.frames import polars_sink
from ..model.model import ImplicitMF

if TYPE_CHECKING:
    import polars as pl

FLOATS_AT_ONCE = 2**22  # 16 MB of vectors per row group; a few groups are in memory at a time
IDS_AT_ONCE = 2**16
PARQUET_FILES = ("users.parquet", "items.parquet")
NUMPY_FILES = ("user_ids.npy", "user_factors.npy", "item_ids.npy", "item_factors.npy")
WIDENED, SPARE = 8, 64 * 2**20  # numpy's strings may take 8 times the bytes of their text, plus 64 MB


def to_parquet(model: ImplicitMF, folder: str | Path) -> list[Path]:
    """Write users.parquet and items.parquet, with the columns `id` and `vector`, and return their paths.

    Users or items that have names have a third column, `name`, which is null where one has none. Rows are in
    the model's order. Ids are 64-bit integers or strings; larger integers are written as strings, but
    `id_kind` in the file's metadata still says "integer". Vectors are arrays of `dim` 32-bit floats. Both
    files are complete before either gets its name; existing files are replaced.

    Parameters
    ----------
    model
        A fitted model.
    folder
        Created if it does not exist.

    Examples
    --------
    >>> [path.name for path in to_parquet(model, "vectors")]
    ['users.parquet', 'items.parquet']
    >>> frame = pl.read_parquet("vectors/items.parquet")
    >>> frame.columns, frame["id"].to_list()
    (['id', 'vector'], ['beans', 'milk', 'rice', 'sugar', 'tea'])
    """
    sides = checked_model(model)
    for ids, _ in sides:
        refuse_half_characters(ids)
    paths = _paths(folder, PARQUET_FILES)
    with whole_files(paths) as files:
        for file, (ids, vectors) in zip(files, sides, strict=True):
            with polars_sink(file) as sink:
                _rows(ids, vectors).sink_parquet(
                    sink,
                    row_group_size=_group(vectors),
                    metadata={**described(ids), "dim": str(vectors.shape[1])},
                )
    return paths


def to_numpy(model: ImplicitMF, folder: str | Path) -> list[Path]:
    """Write user_ids.npy, user_factors.npy, item_ids.npy and item_factors.npy, and return their paths.

    Nothing in them is pickled; `np.load(path, mmap_mode="r")` maps them. Ids are 64-bit integers, or strings
    that all take the space of the longest; larger integers become strings. All files are complete before any
    gets its name; existing files are replaced.

    Parameters
    ----------
    model
        A fitted model.
    folder
        Created if it does not exist.

    Examples
    --------
    >>> [path.name for path in to_numpy(model, "vectors")]
    ['user_ids.npy', 'user_factors.npy', 'item_ids.npy', 'item_factors.npy']
    >>> np.load("vectors/item_factors.npy", mmap_mode="r").shape
    (5, 2)
    """
    arrays: list[NDArray[Any]] = []
    for ids, vectors in checked_model(model):
        arrays += [_fixed_width(ids) if _written_as_text(ids) else ids.ids, vectors]
    paths = _paths(folder, NUMPY_FILES)
    with whole_files(paths) as files:
        for file, array in zip(files, arrays, strict=True):
            # Not np.save, which bypasses the file object and hides the system's error if the disk is full.
            whole = np.ascontiguousarray(array)
            np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(whole))
            file.write(whole.view(np.uint8).data)
    return paths


def checked_model(model: ImplicitMF) -> list[tuple[IdMap, Floats]]:
    """Return the ids and vectors of the users and of the items; raise unless the model is fitted."""
    if not isinstance(model, ImplicitMF):
        raise InvalidTypeError(f"an ImplicitMF is required, got {type(model).__name__}")
    # Ids and vectors of one moment: an update may replace them meanwhile. The copy also verifies the file of
    # a model that was not verified yet: damaged vectors would look sound in another file.
    kept = copy(model)
    return [(kept.users, kept.user_factors), (kept.items, kept.item_factors)]


def described(ids: IdMap) -> dict[str, str]:
    """Return the metadata of a file with these ids."""
    kind = "string" if ids.is_text else "integer"
    return {"written_by": f"ialspp {version('ialspp')}", "axis": ids.name, "id_kind": kind}


def _id_column(ids: IdMap, start: int, stop: int) -> pl.Series:
    """Return the ids of some rows: 64-bit integers, or strings."""
    import polars as pl

    if not _written_as_text(ids):
        return pl.Series("id", ids.ids[start:stop])
    return pl.Series("id", [str(value) for value in ids.named(np.arange(start, stop))], dtype=pl.String)


def id_columns(ids: IdMap, start: int, stop: int) -> list[pl.Series]:
    """Return the ids of some rows, and their names if there are any."""
    import polars as pl

    columns = [_id_column(ids, start, stop)]
    if ids.names is not None:
        columns.append(pl.Series("name", ids.names_of(np.arange(start, stop)), dtype=pl.String))
    return columns


def refuse_half_characters(ids: IdMap) -> None:
    """Raise if UTF-8 cannot encode an id; polars would not say which one it is."""
    if not ids.is_text:
        return
    for start in range(0, len(ids), IDS_AT_ONCE):
        for value in ids.named(np.arange(start, min(start + IDS_AT_ONCE, len(ids)))):
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise InvalidValueError(
                    f"the {ids.name} id {value!r} has half of a surrogate pair, which is not a character: "
                    "Parquet cannot store it"
                ) from error


def _paths(folder: str | Path, names: Iterable[str]) -> list[Path]:
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return [folder / name for name in names]


def _group(vectors: Floats) -> int:
    return max(1, FLOATS_AT_ONCE // int(vectors.shape[1]))


def _rows(ids: IdMap, vectors: Floats) -> pl.LazyFrame:
    """Query ids and vectors, produced one row group at a time."""
    import polars as pl
    from polars.io.plugins import register_io_source

    def groups(*_pushdown: object) -> Iterator[pl.DataFrame]:  # every column and row is needed
        for start in range(0, len(ids), _group(vectors)):
            stop = min(start + _group(vectors), len(ids))
            yield pl.DataFrame([*id_columns(ids, start, stop), pl.Series("vector", vectors[start:stop])])

    kinds: dict[str, Any] = {column.name: column.dtype for column in id_columns(ids, 0, 0)}
    schema = {**kinds, "vector": pl.Array(pl.Float32, vectors.shape[1])}
    return register_io_source(groups, schema=schema)


def _written_as_text(ids: IdMap) -> bool:
    return ids.is_text or ids.ids.dtype == object


def _fixed_width(ids: IdMap) -> NDArray[np.str_]:
    """Return the ids as numpy strings of one length; raise if numpy would cut or bloat them."""
    texts = [str(value) for value in ids.ids.tolist()]
    for text in texts:
        if text.endswith("\0"):
            raise InvalidValueError(
                f"the {ids.name} id {text!r} ends with a NUL character, which numpy would cut off; "
                "Parquet keeps it (to_parquet)"
            )
    width = max(map(len, texts))
    needed, written = 4 * width * len(texts), sum(len(t.encode("utf-8", "surrogatepass")) for t in texts)
    if needed > WIDENED * written + SPARE:
        raise InvalidValueError(
            f"the longest {ids.name} id has {width:,} characters, and numpy would reserve as many for each "
            f"of the {len(texts):,} ids: {needed:,} bytes for {written:,} bytes of text; "
            "Parquet has no such limit (to_parquet)"
        )
    return np.array(texts, dtype=f"<U{max(width, 1)}")
