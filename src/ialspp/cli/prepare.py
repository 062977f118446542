"""ialspp prepare: read files once, and keep the interactions in a file that training maps."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from .names import NameOptions, named_facts, remark_on_few, shown_names
from .options import given
from .ours import PREPARED, ForceOption, require_data
from .output import JsonOption, checked_target, show_facts, show_json, size
from .source import MinItemOption, MinUserOption, Source


def prepare(
    source: Source,
    names: NameOptions,
    out: Annotated[Path, typer.Option("-o", "--out", help="The file to write, such as events.ialsdata.")],
    more: Annotated[
        list[str] | None, typer.Argument(help="More files, folders or patterns with the same columns.")
    ] = None,
    min_user: MinUserOption = 0,
    min_item: MinItemOption = 0,
    memory: Annotated[
        str, typer.Option(help="Memory for sorting, such as 512M or 4G. Less takes more passes.")
    ] = "2G",
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Read data of any size once, in bounded memory, into a file that other commands open in milliseconds.

    Training on the file keeps the vectors in memory, but not the interactions. Give the file to fit,
    evaluate, update and data show in place of the data, without the options that read it.

    Example: ialspp prepare 'events/*.parquet' --user user_id --item item_id -o events.ialsdata --memory 4G
    """
    for one in (source.source, *(more or [])):
        require_data(one, "prepare")
    source.refuse_target(out, more or [])
    checked_target(out, kind=PREPARED, force=force)
    names.check()
    start = time.perf_counter()
    data = source.prepare(more or [], out, memory, min_user, min_item, names.tables(), force)
    named = named_facts(data.users, data.items)
    facts: dict[str, Any] = {**data.statistics(), "file": str(out), "bytes": out.stat().st_size}
    facts["seconds"] = time.perf_counter() - start
    if as_json:
        show_json({"source": {**given(source), "more": more or []}, **facts, "names": named})
    else:
        show_facts(source.source, {**facts, **shown_names(named), "bytes": size(facts["bytes"])})
        remark_on_few(named, names)
