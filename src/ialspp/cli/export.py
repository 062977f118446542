"""ialspp export: write the vectors of a model for other programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

from ..errors import InvalidValueError
from ..model.model import ImplicitMF
from ..system.progress import reporting
from .options import given
from .ours import INDEX, VECTORS, require_ours
from .output import JsonOption, checked_target, show_facts, show_json, show_table, size
from .queries import ModelArgument, one_way, opened

if TYPE_CHECKING:
    from ..export import IndexReport

INDEXES: dict[str, Literal["usearch", "faiss"]] = {"usearch": "usearch", "faiss": "faiss"}
WAYS = "What to write: one of these is required"


@dataclass(frozen=True, slots=True)
class Index:
    """Where to write an index, and how to measure it; None where an option was not given."""

    panel: ClassVar[str] = "With --ann"

    out: Annotated[Path | None, typer.Option("-o", "--out", help="The file of the index.")] = None
    k: Annotated[
        int | None, typer.Option("-k", "--top", help="Measure the recall of this many items. Default: 10.")
    ] = None
    queries: Annotated[
        int | None, typer.Option(help="Measure the recall for this many users. Default: 1000.")
    ] = None
    threads: Annotated[
        int | None,
        typer.Option(help="Threads. Default: 1; with more, the index varies from run to run."),
    ] = None


def export(
    model: ModelArgument,
    *,
    parquet: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write ids and vectors as Parquet files to this folder.",
            rich_help_panel=WAYS,
        ),
    ] = None,
    numpy: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write ids and vectors as numpy files to this folder.",
            rich_help_panel=WAYS,
        ),
    ] = None,
    ann: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help=f"Build an index for approximate search: {' or '.join(INDEXES)}; needs -o.",
            rich_help_panel=WAYS,
        ),
    ] = None,
    index: Index,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files whatever they are, not only those of this command.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a model's vectors as Parquet or numpy files, or build an index for approximate search.

    Example: ialspp export films.ialspp --ann usearch -o films.usearch
    """
    from .. import export as exports
    from ..export.tables import NUMPY_FILES, PARQUET_FILES

    one_way(parquet=parquet, numpy=numpy, ann=ann)
    if ann is not None:
        show_index(_indexed(model, index, ann, force), as_json)
        return
    if given(index):
        flags = ", ".join("-k" if name == "k" else f"--{name}" for name in given(index))
        raise InvalidValueError(f"{flags} does not apply without --ann")
    write: Callable[[ImplicitMF, Any], list[Path]] = exports.to_parquet if parquet else exports.to_numpy
    folder = parquet or numpy
    assert folder is not None
    for name in PARQUET_FILES if parquet else NUMPY_FILES:
        require_ours(folder / name, VECTORS, force)
    with reporting("writing"):
        files = write(opened(model), folder)
    sizes = {str(file): file.stat().st_size for file in files}
    if as_json:
        show_json({"files": [{"file": file, "bytes": count} for file, count in sizes.items()]})
    else:
        rows = [[file, size(count)] for file, count in sizes.items()]
        show_table(f"Vectors of {model}", ["file", "size"], rows, words=["file"])


def _indexed(model: Path, index: Index, kind: str, force: bool) -> IndexReport:
    from ..export import build_index

    if kind not in INDEXES:
        raise InvalidValueError(f"--ann must be {' or '.join(INDEXES)}, got {kind!r}")
    if index.out is None:
        raise InvalidValueError("--ann needs -o, the file of the index")
    checked_target(index.out, kind=INDEX, force=force)
    loaded = opened(model, index.threads)
    return build_index(loaded, index.out, kind=INDEXES[kind], **given(index, "out"))


def show_index(report: IndexReport, as_json: bool) -> None:
    """Print what was built, its recall and its speed."""
    if as_json:
        show_json(report.as_dict())
        return
    facts = {
        "index": f"{report.path}, {size(report.bytes)}",
        "ids of its rows": report.ids_path,
        "items": report.items,
        "length of a query": f"{report.width}: a user's vector and one 0",
        f"recall@{report.k}": f"{report.recall:.4f}, over {report.queries:,} users, against exact search",
        "milliseconds per query": f"{report.ms_per_query:.3g}, exact search {report.exact_ms_per_query:.3g}",
        "seconds to build": report.build_seconds,
    }
    show_facts(report.kind, facts)
