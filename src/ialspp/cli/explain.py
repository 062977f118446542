"""ialspp explain: what of a user's past speaks for an item."""

from __future__ import annotations

from typing import Annotated

import typer

from ..model.explanation import Explanation
from ..system.printable import printable
from .asking import KOption, ModelArgument, ThreadsOption, checked_k, ids_of, opened, require_histories
from .output import JsonOption, show_json, show_line, show_table


def explain(
    model: ModelArgument,
    user: Annotated[str, typer.Option(metavar="ID", help="The user.")],
    item: Annotated[str, typer.Option(metavar="ID", help="The item.")],
    k: KOption = 10,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say how much each item of a user's past contributes to the score of an item.

    Example: ialspp explain films.ialspp --user 42 --item 260
    """
    checked_k(k)
    loaded = opened(model, threads)
    require_histories(loaded, model, "an explanation is made of what the user had before")
    [who] = ids_of([user], loaded.users, "--user")
    [what] = ids_of([item], loaded.items, "--item")
    found = loaded.explain(who, what)
    if not as_json:
        show(f"User {user}, item {item}", found, k)
        return
    parts = [{"item": past, "contribution": part, "share": _share(part, found)} for past, part in found]
    others = sum(part for _, part in found[k:])
    facts = {"past_items": len(found), "others": others, "rest": found.rest, "score": found.score}
    show_json({"user": who, "item": what, "contributions": parts[:k], **facts})


def show(title: str, found: Explanation, k: int) -> None:
    """A table of the largest, and what it all adds up to."""
    columns = ["past item", "contribution", "share"]
    rows = [
        [printable(str(past)), f"{part:.4f}", "" if share is None else f"{share:.1%}"]
        for past, part in found[:k]
        for share in [_share(part, found)]
    ]
    show_table(title, columns, rows, words=["past item"])
    others = found[k:]
    if others:
        show_line(f"{len(others):,} other past items: {sum(part for _, part in others):.4f}")
    show_line(f"Rest, which training has not settled: {found.rest:.4f}")
    show_line(f"Score: {found.score:.4f}")


def _share(part: float, found: Explanation) -> float | None:
    """Of the score; a score of zero has no shares."""
    return part / found.score if found.score else None
