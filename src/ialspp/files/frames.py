"""Write polars frames to files, with the system's own error if a write fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from .atomic import whole_file

if TYPE_CHECKING:
    import polars as pl

WRITERS = {  # the method of a data frame for each suffix
    ".parquet": "write_parquet",
    ".csv": "write_csv",
    ".jsonl": "write_ndjson",
    ".ndjson": "write_ndjson",
}


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    """Write a data frame atomically, in the format that the path's suffix names."""
    with whole_file(path) as file, polars_sink(file) as sink:
        getattr(frame, WRITERS[path.suffix.lower()])(sink)


@contextmanager
def polars_sink(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Give polars a file to write to; if a write fails, raise the OSError that polars only mentions."""
    sink = _Sink(file)
    try:
        yield sink  # type: ignore[misc]  # polars needs no more of a file
    except Exception as error:  # a PolarsError, or an OSError without a number
        raise (sink.error or error) from error


class _Sink:
    """Passes bytes on, and remembers the error if that fails."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        with self._remembering():
            return self._file.write(data)

    def flush(self) -> None:
        with self._remembering():
            self._file.flush()

    @contextmanager
    def _remembering(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.error = error
            raise
