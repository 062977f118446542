"""ialspp report: write a page that shows what a model learned."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..reporting import write_report
from ..system.progress import reporting
from .ours import MODEL_REPORT, ForceOption
from .output import JsonOption, checked_target, remark, show_json, size
from .queries import ModelArgument, opened


def report(
    model: ModelArgument,
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="The page to write: one HTML file.")],
    k: Annotated[int, typer.Option("-k", "--k", help="How many items each user is recommended.")] = 10,
    title: Annotated[
        str | None, typer.Option(help="The heading of the page. Default: the name of the model file.")
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a page about a model: loss, popularity, coverage, spectrum, neighbours and a map of the items.

    Example: ialspp report films.ialspp -o report.html
    """
    checked_target(out, [".html", ".htm"], kind=MODEL_REPORT, force=force)
    loaded = opened(model)
    with reporting("writing the report"):
        write_report(loaded, out, k=k, title=title or model.stem)
    count = out.stat().st_size
    if as_json:
        show_json({"file": str(out), "bytes": count})
    else:
        remark(f"The report is in {out}, {size(count)}: open it in a browser")
