"""ialspp similar: the items most similar to items, the users most similar to users."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..errors import InvalidValueError
from .output import JsonOption
from .queries import (
    KOption,
    ModelArgument,
    TableOption,
    ThreadsOption,
    checked_k,
    checked_table,
    ids_of,
    one_way,
    opened,
    show_rankings,
    write_rankings,
)


def similar(
    model: ModelArgument,
    item: Annotated[list[str] | None, typer.Option(metavar="ID", help="An item; repeatable.")] = None,
    user: Annotated[list[str] | None, typer.Option(metavar="ID", help="A user; repeatable.")] = None,
    k: KOption = 10,
    metric: Annotated[
        str,
        typer.Option(help="cosine: the direction alone. dot: also the length, which favours popular ones."),
    ] = "cosine",
    out: TableOption = None,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the items most similar to an item, or the users most similar to a user.

    Example: ialspp similar films.ialspp --item 260 -k 5
    """
    of = one_way(item=item, user=user)
    checked_k(k)
    if metric not in ("cosine", "dot"):
        raise InvalidValueError(f"--metric must be cosine or dot, got {metric!r}")
    checked_table(out)
    loaded = opened(model, threads)
    options: dict[str, Any] = {"k": k, "metric": metric}
    if of == "item":
        rankings = loaded.similar_items(ids_of(item or [], loaded.items, "--item"), **options)
    else:
        rankings = loaded.similar_users(ids_of(user or [], loaded.users, "--user"), **options)
    if out is None:
        show_rankings(rankings, as_json)
    else:
        write_rankings(rankings, out, as_json)
