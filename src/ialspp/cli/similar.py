"""ialspp similar: the items most similar to items, the users most similar to users."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from ..errors import InvalidValueError
from .ours import ForceOption
from .output import JsonOption
from .queries import (
    KOption,
    ModelArgument,
    SkipUnknownOption,
    TableOption,
    ThreadsOption,
    checked_k,
    checked_table,
    one_way,
    opened,
    show_rankings,
    write_rankings,
)
from .reader import IdReader

OF = "Similar to what: one of these is required"


def similar(
    model: ModelArgument,
    item: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="An item, by id or name; repeatable.", rich_help_panel=OF),
    ] = None,
    user: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="A user, by id or name; repeatable.", rich_help_panel=OF),
    ] = None,
    k: KOption = 10,
    metric: Annotated[
        str,
        typer.Option(help="cosine: the direction alone. dot: also the length, which favours popular ones."),
    ] = "cosine",
    skip_unknown: SkipUnknownOption = False,
    out: TableOption = None,
    force: ForceOption = False,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the items most similar to an item, or the users most similar to a user.

    Example: ialspp similar films.ialspp --item "toy story 2" -k 5
    """
    of = one_way(item=item, user=user)
    checked_k(k)
    if metric not in ("cosine", "dot"):
        raise InvalidValueError(f"--metric must be cosine or dot, got {metric!r}")
    checked_table(out, force)
    loaded = opened(model, threads)
    options: dict[str, Any] = {"k": k, "metric": metric}
    reader = IdReader(loaded, skip_unknown=skip_unknown, quiet=as_json)
    if of == "item":
        found = loaded.similar_items(reader.typed("items", item or [], loaded.items, "--item"), **options)
    else:
        found = loaded.similar_users(reader.typed("users", user or [], loaded.users, "--user"), **options)
    rankings = replace(found, skipped=reader.skipped)
    if out is None:
        show_rankings(rankings, as_json)
    else:
        write_rankings([rankings], out, as_json, rankings.skipped)
