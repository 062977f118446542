"""Write polars frames to files, with the system's own error if a write fails."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from queue import Full, Queue
from typing import IO, TYPE_CHECKING, Any

from .atomic import whole_file

if TYPE_CHECKING:
    import polars as pl

WRITERS = {  # the method of a data frame for each suffix
    ".parquet": "write_parquet",
    ".csv": "write_csv",
    ".jsonl": "write_ndjson",
    ".ndjson": "write_ndjson",
}


def write_frames(frames: Iterable[pl.DataFrame], path: Path) -> None:
    """Write data frames of the same columns as one, atomically; no more than a few are in memory at once."""
    suffix = path.suffix.lower()
    with whole_file(path) as file, polars_sink(file) as sink:
        if suffix == ".parquet":
            _write_parquet(iter(frames), sink)
            return
        for number, frame in enumerate(frames):
            options = {"include_header": number == 0} if suffix == ".csv" else {}
            getattr(frame, WRITERS[suffix])(sink, **options)


def _write_parquet(frames: Iterator[pl.DataFrame], sink: IO[bytes]) -> None:
    """Write frames from a second thread: polars pulls them out of a query, and this thread heeds signals."""
    from polars.io.plugins import register_io_source

    first = next(frames)
    waiting: Queue[pl.DataFrame | None] = Queue(maxsize=1)

    def pulled(*_options: Any) -> Iterator[pl.DataFrame]:
        while (frame := waiting.get()) is not None:
            yield frame

    query = register_io_source(pulled, schema=first.schema)
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(query.sink_parquet, sink)
        try:
            for frame in chain([first], frames):
                if not _put(frame, waiting, writing):
                    writing.result()  # raises what went wrong
                    raise InterruptedError(errno.EINTR, "writing was interrupted")
        finally:
            _put(None, waiting, writing)  # after an error, too, or polars would wait for ever
        writing.result()


def _put(frame: pl.DataFrame | None, waiting: Queue[Any], writing: Future[Any]) -> bool:
    """Hand over a frame; return False if writing has ended, which it does early if it failed."""
    while not writing.done():
        try:
            waiting.put(frame, timeout=0.1)
            return True
        except Full:
            pass
    return False


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
