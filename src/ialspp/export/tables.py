"""Ids and vectors as Parquet or numpy files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Floats
from ..data.ids import IdMap
from ..errors import InvalidTypeError, InvalidValueError
from ..files.atomic import whole_file
from ..model.model import ImplicitMF

if TYPE_CHECKING:
    import polars as pl

FLOATS_AT_ONCE = 2**22  # 16 MB of vectors in a row group, of which a few are in memory at a time
IDS_AT_ONCE = 2**16
WIDENED, SPARE = 8, 64 * 2**20  # numpy's strings may take 8 times their text and 64 MB


def to_parquet(model: ImplicitMF, folder: str | Path) -> list[Path]:
    """Write users.parquet and items.parquet, with the columns `id` and `vector`, and say where they are.

    Rows are in the model's order. Ids are integers of 64 bits or strings; integers beyond 64 bits are written
    as strings, and `id_kind` in the file's metadata says "integer" all the same. Vectors are arrays of `dim`
    32-bit floats. Both files are complete before either has its name; what stood there is replaced.

    Parameters
    ----------
    model
        A fitted one.
    folder
        Made if it does not exist.
    """
    sides = checked_model(model)
    for ids, _ in sides:
        refuse_half_characters(ids)
    paths = _paths(folder, [f"{ids.name}s.parquet" for ids, _ in sides])
    with whole_files(paths) as files:
        for file, path, (ids, vectors) in zip(files, paths, sides, strict=True):
            with polars_errors(path):
                _rows(ids, vectors).sink_parquet(
                    file,
                    row_group_size=_group(vectors),
                    metadata={**described(ids), "dim": str(vectors.shape[1])},
                )
    return paths


def to_numpy(model: ImplicitMF, folder: str | Path) -> list[Path]:
    """Write user_ids.npy, user_factors.npy, item_ids.npy and item_factors.npy, and say where they are.

    Nothing in them is pickled; `np.load(path, mmap_mode="r")` maps them. Ids are integers of 64 bits, or
    strings that all have the length of the longest; integers beyond 64 bits become strings. All files are
    complete before any has its name; what stood there is replaced.

    Parameters
    ----------
    model
        A fitted one.
    folder
        Made if it does not exist.
    """
    arrays = {}
    for ids, vectors in checked_model(model):
        arrays[f"{ids.name}_ids.npy"] = _fixed_width(ids) if _written_as_text(ids) else ids.ids
        arrays[f"{ids.name}_factors.npy"] = vectors
    paths = _paths(folder, arrays)
    with whole_files(paths) as files:
        for file, array in zip(files, arrays.values(), strict=True):
            # Not np.save: it writes past the file object, and of a full disk says only how much is missing.
            whole = np.ascontiguousarray(array)
            np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(whole))
            file.write(whole.view(np.uint8).data)
    return paths


def checked_model(model: ImplicitMF) -> list[tuple[IdMap, Floats]]:
    """The users and the items of a fitted model: ids and vectors."""
    if not isinstance(model, ImplicitMF):
        raise InvalidTypeError(f"an ImplicitMF is required, got {type(model).__name__}")
    state = model._fitted()  # once: an update may put another in its place
    return [(side.ids, side.vectors) for side in (state.users, state.items)]


def described(ids: IdMap) -> dict[str, str]:
    """Metadata of a file that has these ids."""
    kind = "string" if ids.is_text else "integer"
    return {"written_by": f"ialspp {version('ialspp')}", "axis": ids.name, "id_kind": kind}


def id_column(ids: IdMap, start: int, stop: int) -> pl.Series:
    """The ids of some rows: integers of 64 bits, or strings."""
    import polars as pl

    if not _written_as_text(ids):
        return pl.Series("id", ids.ids[start:stop])
    return pl.Series("id", [str(value) for value in ids.named(np.arange(start, stop))], dtype=pl.String)


def refuse_half_characters(ids: IdMap) -> None:
    """An id that UTF-8 cannot write is an error; polars would not say which one it is."""
    if not ids.is_text:
        return
    for start in range(0, len(ids), IDS_AT_ONCE):
        for value in ids.named(np.arange(start, min(start + IDS_AT_ONCE, len(ids)))):
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise InvalidValueError(
                    f"the {ids.name} id {value!r} has half of a surrogate pair, which is no character: "
                    "strings in Parquet cannot have it"
                ) from error


@contextmanager
def whole_files(paths: Sequence[Path]) -> Iterator[list[IO[bytes]]]:
    """Files to write to, which take their names, the last one first, when the block ends well."""
    with ExitStack() as stack:
        files = [stack.enter_context(whole_file(path)) for path in paths]
        yield files
        for path, file in zip(paths, files, strict=True):  # before the first takes its name
            file.flush()
            try:
                os.fsync(file.fileno())
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def polars_errors(path: Path) -> Iterator[None]:
    """What the system refuses while polars writes is an OSError of the path, as it is everywhere else."""
    import polars as pl

    try:
        yield
    except pl.exceptions.PolarsError as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from error


def _paths(folder: str | Path, names: Iterable[str]) -> list[Path]:
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return [folder / name for name in names]


def _group(vectors: Floats) -> int:
    return max(1, FLOATS_AT_ONCE // int(vectors.shape[1]))


def _rows(ids: IdMap, vectors: Floats) -> pl.LazyFrame:
    """Ids and vectors, a row group at a time."""
    import polars as pl
    from polars.io.plugins import register_io_source

    def groups(*_wishes: object) -> Iterator[pl.DataFrame]:  # all columns and rows are always wanted
        for start in range(0, len(ids), _group(vectors)):
            stop = min(start + _group(vectors), len(ids))
            yield pl.DataFrame([id_column(ids, start, stop), pl.Series("vector", vectors[start:stop])])

    schema = {"id": id_column(ids, 0, 0).dtype, "vector": pl.Array(pl.Float32, vectors.shape[1])}
    return register_io_source(groups, schema=schema)


def _written_as_text(ids: IdMap) -> bool:
    return ids.is_text or ids.ids.dtype == object


def _fixed_width(ids: IdMap) -> NDArray[np.str_]:
    """Strings of one length, as numpy has them."""
    texts = [str(value) for value in ids.ids.tolist()]
    for text in texts:
        if text.endswith("\0"):
            raise InvalidValueError(
                f"the {ids.name} id {text!r} ends with a NUL character, which numpy would cut off; "
                "Parquet files keep it (to_parquet)"
            )
    width = max(map(len, texts))
    needed, written = 4 * width * len(texts), sum(len(t.encode("utf-8", "surrogatepass")) for t in texts)
    if needed > WIDENED * written + SPARE:
        raise InvalidValueError(
            f"the longest {ids.name} id has {width:,} characters, and numpy would give each of the "
            f"{len(texts):,} ids as many: {needed:,} bytes for {written:,} bytes of text; "
            "Parquet has no such limit (to_parquet)"
        )
    return np.array(texts, dtype=f"<U{max(width, 1)}")
