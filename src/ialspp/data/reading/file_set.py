"""The files to read, and their format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InvalidValueError
from .text import Record, first_line, leading_blanks, line_frame, records

if TYPE_CHECKING:
    import polars as pl

ROW = "#row"  # the number of a row, counted over all files
EXTRA = "#extra"  # what follows the last field of a line
FORMATS = ("csv", "parquet", "arrow")
SEPARATORS = ("::", "\t", ",", ";", "|", " ")  # tried on the first line, in this order
SAMPLE_ROWS = 10_000  # from which polars guesses the types of columns
_FORMAT_OF = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
}
_SEPARATOR_OF = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
COMPRESSED = (".gz", ".zst", ".zstd")


@dataclass(frozen=True, slots=True)
class FileSet:
    """Files of one format that are read as one table; for text also its separator, header and quote."""

    files: tuple[Path, ...]
    format: str
    separator: str = ","
    header: bool = False
    quote: str | None = '"'
    blanks: tuple[int, ...] = ()  # of each file: the number of blank lines at its start

    @classmethod
    def of(
        cls,
        path: str | Path,
        format: str | None,
        separator: str | None,
        header: bool | None,
        quote: str | None,
        named: bool,
    ) -> FileSet:
        """Find the files of a path, a folder or a pattern, and their format.

        named: whether columns are requested by name. If `header` is None, there is a header if so.
        """
        if format not in (None, *FORMATS):
            raise InvalidValueError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
        files = tuple(files_of(path))
        formats = {format or _FORMAT_OF.get(file.suffix.lower(), "csv") for file in files}
        if len(formats) > 1:
            raise InvalidValueError(
                f"{path}: files of one format are required, got {', '.join(sorted(formats))}"
            )
        found = formats.pop()
        if found != "csv":
            if separator is not None or header is False:
                raise InvalidValueError(
                    f"{files[0]} is read as {found}, which has no separator and always has names of columns"
                )
            return cls(files, found)
        one = separator in (None, "::") or len((separator or "").encode()) == 1
        if not one or (separator is not None and separator in ("\n", "\r", "\0", quote)):
            raise InvalidValueError(
                f'separator must be "::" or one character, neither the quote ({quote}) nor the end of a '
                f"line, got {separator!r}"
            )
        separator = separator or separator_of(files[0])
        blanks = tuple(leading_blanks(file) for file in files)
        return cls(files, found, separator, named if header is None else bool(header), quote, blanks)

    @property
    def is_text(self) -> bool:
        """Whether errors can name lines; other formats have rows only."""
        return self.format == "csv"

    def each_file(self) -> list[FileSet]:
        """Split into one `FileSet` per file."""
        blanks = self.blanks or (0,) * len(self.files)
        return [replace(self, files=(file,), blanks=(n,)) for file, n in zip(self.files, blanks, strict=True)]

    def first_record(self) -> Record:
        """Return the header of the first file, or its first record if it has no header."""
        for record in records(self.files[0], self.separator, self.quote):
            if record.fields:
                return record
        raise InvalidValueError(f"{self.files[0]}: the file is empty")

    def records(self) -> Iterator[Record]:
        """Yield all records of all files except headers, as polars counts rows; raise at a malformed one."""
        for file in self.files:
            yield from _without_header(records(file, self.separator, self.quote), self.header)

    def schema(self) -> dict[str, Any]:
        """Names and types of the columns of the first file; types of text are guessed."""
        import polars as pl

        first = self.each_file()[0]
        kinds = {
            name: kind for name, kind in first.scan().collect_schema().items() if name not in (ROW, EXTRA)
        }
        if self.separator == "::" and self.is_text:
            sample = first.scan().head(SAMPLE_ROWS).collect()
            for name in kinds:
                for kind in (pl.Float64(), pl.Int64()):
                    if sample[name].cast(kind, strict=False).null_count() == sample[name].null_count():
                        kinds[name] = kind
        return kinds

    def scan(self, types: dict[str, Any] | None = None) -> pl.LazyFrame:
        """Query all rows, numbered."""
        import polars as pl

        files = list(self.files)
        if self.format == "parquet":
            return pl.scan_parquet(files, row_index_name=ROW, glob=False, extra_columns="ignore")
        if self.format == "arrow":
            return pl.concat(map(_scan_arrow, files), how="diagonal").with_row_index(ROW)
        if self.separator == "::":
            return self._scan_double_colons(types or {})
        if len(set(self.blanks)) > 1:
            return pl.concat(one.scan(types).drop(ROW) for one in self.each_file()).with_row_index(ROW)
        return pl.scan_csv(
            files,
            separator=self.separator,
            has_header=self.header,
            quote_char=self.quote,
            schema_overrides=types,
            infer_schema_length=SAMPLE_ROWS,
            try_parse_dates=True,
            row_index_name=ROW,
            skip_lines=self.blanks[0],
            with_column_names=None if self.header else _by_position,
            glob=False,
        )

    def _scan_double_colons(self, types: dict[str, Any]) -> pl.LazyFrame:
        """Query text with "::" between its fields: polars only knows separators of one character."""
        import polars as pl

        first = self.first_record().fields
        names = first if self.header else _by_position(first)
        if len(set(names)) < len(names):
            raise InvalidValueError(f"{self.files[0]}: the names of columns must differ, got {names}")
        frames = [
            line_frame(file, skip=blanks + self.header)
            for file, blanks in zip(self.files, self.blanks, strict=True)
        ]
        lines = pl.concat(frames).with_row_index(ROW)
        fields = pl.col("line").str.split_exact("::", len(names)).struct.rename_fields([*names, EXTRA])
        frame = lines.select(ROW, fields.alias("fields")).unnest("fields")
        empty_is_missing = [pl.when(pl.col(name) != "").then(pl.col(name)).alias(name) for name in names]
        return frame.with_columns(empty_is_missing).with_columns(
            pl.col(name).cast(kind) for name, kind in types.items()
        )


def files_of(path: str | Path) -> list[Path]:
    """Return the files of a path, a folder or a pattern, sorted by name."""
    whole = Path(path).expanduser()
    if whole.is_file():
        return [whole]
    if whole.is_dir():
        found = [p for p in sorted(whole.rglob("*")) if p.is_file() and not _is_hidden(p.relative_to(whole))]
        if not found:
            raise FileNotFoundError(f"{whole}: the folder has no files to read")
        return found
    if not any(sign in str(whole) for sign in "*?["):
        raise FileNotFoundError(f"{whole}: no such file")
    root = Path(whole.anchor)
    found = [p for p in sorted(root.glob(str(whole.relative_to(root)))) if p.is_file()]
    if not found:
        raise FileNotFoundError(f"{whole}: no file matches")
    return found


def _is_hidden(path: Path) -> bool:
    """Whether other programs made this for themselves, such as .ipynb_checkpoints and _temporary."""
    return any(part.startswith((".", "_")) for part in path.parts)


def _by_position(names: list[str]) -> list[str]:
    """Make names for columns that have none."""
    return [f"column_{place}" for place in range(len(names))]


def separator_of(file: Path) -> str:
    """Tell the separator from the suffix, or else find the first usual one in the first line."""
    suffixes = [s.lower() for s in file.suffixes if s.lower() not in COMPRESSED]
    if suffixes and suffixes[-1] in _SEPARATOR_OF:
        return _SEPARATOR_OF[suffixes[-1]]
    first = first_line(file)
    for separator in SEPARATORS:
        if separator in first:
            return separator
    raise InvalidValueError(
        f"{file}: the first line has none of the usual separators {SEPARATORS}: {first[:80]!r}; pass "
        f"separator=, or format= ({', '.join(FORMATS)}) if it is not text"
    )


def _scan_arrow(file: Path) -> pl.LazyFrame:
    import polars as pl

    with file.open("rb") as opened:
        is_stream = opened.read(6) != b"ARROW1"
    return pl.read_ipc_stream(file).lazy() if is_stream else pl.scan_ipc(file, glob=False)


def _without_header(found: Iterator[Record], header: bool) -> Iterator[Record]:
    started = False
    for record in found:
        if started or (record.fields and not header):
            yield record
        started = started or bool(record.fields)
