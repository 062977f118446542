"""Where to read, and how it is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

ROW = "#row"  # the number of a row, counted over all files
FORMATS = ("csv", "parquet", "arrow")
SEPARATORS = ("::", "\t", ",", ";", "|", " ")  # looked for in the first line, in this order
SAMPLE_ROWS = 10_000  # what types of columns other than ids are guessed from
_FORMAT_OF = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
}
_SEPARATOR_OF = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_COMPRESSED = (".gz", ".zst", ".zstd")
_ONE_FIELD = "\x01"  # a separator that does not occur: the whole line is one field


@dataclass(frozen=True, slots=True)
class Source:
    """Files of one format; for text also what stands between its fields."""

    files: tuple[Path, ...]
    format: str
    separator: str = ","
    header: bool = False
    quote: str | None = '"'

    @classmethod
    def of(
        cls, path: str | Path, format: str | None, separator: str | None, header: bool, quote: str | None
    ) -> Source:
        """The files a path, a folder or a pattern stands for, and their format."""
        if format not in (None, *FORMATS):
            raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
        files = tuple(files_of(path))
        formats = {format or _FORMAT_OF.get(file.suffix.lower(), "csv") for file in files}
        if len(formats) > 1:
            raise ValueError(f"{path}: files of one format are required, got {', '.join(sorted(formats))}")
        found = formats.pop()
        if found != "csv":
            if separator is not None:
                raise ValueError(f"separator is for text, but {files[0]} is read as {found}")
            return cls(files, found)
        if separator is not None and separator != "::" and len(separator.encode()) != 1:
            raise ValueError(f'separator must be one character or "::", got {separator!r}')
        return cls(files, found, separator or separator_of(files[0]), header, quote)

    @property
    def is_text(self) -> bool:
        """Text has lines to name in errors; other formats have rows."""
        return self.format == "csv"

    @property
    def stride(self) -> int:
        """Fields a column takes: "::" is read as two separators around an empty field."""
        return 2 if self.separator == "::" else 1

    def scan(self, types: dict[str, Any] | None = None) -> pl.LazyFrame:
        """All rows, numbered."""
        import polars as pl

        files = list(self.files)
        if self.format == "parquet":
            return pl.scan_parquet(files, row_index_name=ROW)
        if self.format == "arrow":
            return pl.concat(map(_scan_arrow, files)).with_row_index(ROW)
        return pl.scan_csv(
            files,
            separator=self.separator[0],
            has_header=self.header,
            quote_char=self.quote,
            schema_overrides=types,
            infer_schema_length=SAMPLE_ROWS,
            try_parse_dates=True,
            row_index_name=ROW,
        )

    def lines(self, file: Path) -> Iterator[str]:
        """The lines of one text file; what is not UTF-8 in them is replaced."""
        for batch in _lines(file).collect_batches(maintain_order=True):
            for line in batch.to_series().to_list():
                yield "" if line is None else line


def files_of(path: str | Path) -> list[Path]:
    """The files themselves, in the order of their names."""
    whole = Path(path).expanduser()
    if whole.is_file():
        return [whole]
    if whole.is_dir():
        found = [p for p in sorted(whole.rglob("*")) if p.is_file() and not p.name.startswith((".", "_"))]
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


def separator_of(file: Path) -> str:
    """By the name's suffix, or else the first of the usual separators that the first line has."""
    suffixes = [s.lower() for s in file.suffixes if s.lower() not in _COMPRESSED]
    if suffixes and suffixes[-1] in _SEPARATOR_OF:
        return _SEPARATOR_OF[suffixes[-1]]
    first = first_line(file)
    for separator in SEPARATORS:
        if separator in first:
            return separator
    raise ValueError(
        f"{file}: line 1 has none of the usual separators {SEPARATORS}: {first[:80]!r}; pass separator=, or "
        f"format= ({', '.join(FORMATS)}) where it is not text"
    )


def first_line(file: Path) -> str:
    """Line 1; an empty file is an error."""
    frame = _lines(file).head(1).collect()
    if len(frame) == 0:
        raise ValueError(f"{file}: the file is empty")
    return frame.item() or ""


def _scan_arrow(file: Path) -> pl.LazyFrame:
    import polars as pl

    with file.open("rb") as opened:
        is_stream = opened.read(6) != b"ARROW1"
    return pl.read_ipc_stream(file).lazy() if is_stream else pl.scan_ipc(file)


def _lines(file: Path) -> pl.LazyFrame:
    import polars as pl

    return pl.scan_csv(
        file,
        separator=_ONE_FIELD,
        has_header=False,
        quote_char=None,
        schema={"line": pl.String},
        encoding="utf8-lossy",
        raise_if_empty=False,
    )
