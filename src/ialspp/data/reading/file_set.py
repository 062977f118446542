"""The files to read, and their format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InvalidValueError
from .arrow_layout import MAGIC, check_arrow
from .limits import check_text
from .opening import address
from .parquet_layout import check_parquet
from .text import Record, first_line, leading_blanks, line_frame, records

if TYPE_CHECKING:
    import polars as pl

ROW = "#row"  # the number of a row, counted over all files
EXTRA = "#extra"  # what follows the last field of a line
FORMATS = ("csv", "parquet", "arrow")
SEPARATORS = ("::", "\t", ",", ";", "|", " ")  # tried on the first line, in this order
MOST_COLUMNS = 10_000  # of text; polars takes a tenth of a millisecond for each
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
        files: tuple[Path, ...],
        format: str | None,
        separator: str | None,
        header: bool | None,
        quote: str | None,
        named: bool,
    ) -> FileSet:
        """Tell the format of these files, and for text its separator, and whether it has a header.

        named: whether columns are requested by name. If `header` is None, there is a header if so.
        """
        found = tell_format(files, format)
        if found != "csv":
            if separator is not None or header is False:
                raise InvalidValueError(
                    f"{files[0]} is read as {found}, which has no separator and always has names of columns"
                )
            for file in files:
                (check_arrow if found == "arrow" else check_parquet)(file)
            return cls(files, found)
        one = separator in (None, "::") or len((separator or "").encode()) == 1
        if not one or (separator is not None and separator in ("\n", "\r", "\0", quote)):
            raise InvalidValueError(
                f'separator must be "::" or one character, neither the quote ({quote}) nor the end of a '
                f"line, got {separator!r}"
            )
        for file in files:
            check_text(file)
        separator = separator or separator_of(files[0])
        width = first_line(files[0]).count(separator) + 1
        if width > MOST_COLUMNS:
            raise InvalidValueError(
                f"{files[0]}: {MOST_COLUMNS:,} columns can be read, but there are {width:,}"
            )
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

        files = [address(file) for file in self.files]
        if self.format == "parquet":
            return pl.scan_parquet(files, row_index_name=ROW, glob=False, extra_columns="ignore")
        if self.format == "arrow":
            return pl.concat(map(_scan_arrow, self.files), how="diagonal").with_row_index(ROW)
        if self.separator == "::":
            return self._scan_double_colons(types or {})
        if len(set(self.blanks)) > 1:
            return pl.concat(one.scan(types).drop(ROW) for one in self.each_file()).with_row_index(ROW)
        if self.header:
            return self._scan_text(files, types)
        # polars counts columns without names from 0 or from 1, depending on its version.
        names = [name for name in self._scan_text(files[:1]).collect_schema() if name != ROW]
        own = dict(zip(_by_position(names), names, strict=True))
        if missing := [name for name in types or () if name not in own]:  # the first file has them
            raise pl.exceptions.ColumnNotFoundError(f"there is no {missing[0]}, which the first file has")
        frame = self._scan_text(files, {own[name]: kind for name, kind in (types or {}).items()})
        return frame.rename({name: place for place, name in own.items()})

    def _scan_text(self, files: list[str], types: dict[str, Any] | None = None) -> pl.LazyFrame:
        """Query text; without a header the columns have the names that polars makes up."""
        import polars as pl

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


def tell_format(files: tuple[Path, ...], format: str | None) -> str:
    """Tell the format of files from their suffixes, unless it is given; text is "csv"."""
    if format not in (None, *FORMATS):
        raise InvalidValueError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    formats = {format or _FORMAT_OF.get(file.suffix.lower(), "csv"): file.name for file in reversed(files)}
    if len(formats) > 1:
        found = ", ".join(f"{each} ({name})" for each, name in sorted(formats.items()))
        raise InvalidValueError(f"{files[0].parent}: files of one format are required, got {found}")
    return formats.popitem()[0]


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
        is_stream = opened.read(len(MAGIC)) != MAGIC
    return pl.read_ipc_stream(file).lazy() if is_stream else pl.scan_ipc(address(file), glob=False)


def _without_header(found: Iterator[Record], header: bool) -> Iterator[Record]:
    started = False
    for record in found:
        if started or (record.fields and not header):
            yield record
        started = started or bool(record.fields)
