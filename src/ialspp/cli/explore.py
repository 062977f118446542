"""ialspp explore: write a page on which people pick items and see what the model recommends, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..explorer import HISTORIES, write_page
from ..model.model import ImplicitMF
from ..system.progress import reporting
from .ours import PAGE, ForceOption
from .output import JsonOption, checked_target, remark, show_json, size
from .queries import ModelArgument, opened


def explore(
    model: ModelArgument,
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="The page to write: one HTML file.")],
    top: Annotated[
        int | None, typer.Option(help="Keep only the items with the most users. Default: all items.")
    ] = None,
    users: Annotated[
        int, typer.Option(help="Of how many users to keep the history, to start from; 0 keeps none.")
    ] = HISTORIES,
    title: Annotated[
        str | None, typer.Option(help="The heading of the page. Default: the name of the model file.")
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a page that explores a model in a browser: it needs no server and no network.

    Example: ialspp explore films.ialspp -o films.html
    """
    checked_page(out, force)
    loaded = opened(model)
    draw_page(loaded, out, top=top, users=users, title=title or model.stem)
    count = out.stat().st_size
    if as_json:
        show_json({"file": str(out), "bytes": count})
    else:
        remark(f"The page is in {out}, {size(count)}: open it in a browser")


def checked_page(out: Path, force: bool) -> None:
    """Check that the page can be written, before anything takes long."""
    checked_target(out, [".html", ".htm"], kind=PAGE, force=force)


def draw_page(model: ImplicitMF, out: Path, **options: Any) -> None:
    """Write the page, with a word while its map is computed."""
    with reporting("laying out the map"):
        write_page(model, out, **options)
