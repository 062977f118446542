"""ialspp explain: how much each item of a user's history adds to a score."""

from __future__ import annotations

from typing import Annotated

import typer

from ..model.explanation import Explanation
from ..system.printable import printable
from .output import JsonOption, show_json, show_line, show_table
from .queries import KOption, ModelArgument, ThreadsOption, checked_k, ids_of, opened, require_histories


def explain(
    model: ModelArgument,
    user: Annotated[str, typer.Option(metavar="ID", help="The user.")],
    item: Annotated[str, typer.Option(metavar="ID", help="The item.")],
    k: KOption = 10,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how much each item in a user's history contributes to the score of an item.

    Example: ialspp explain films.ialspp --user 42 --item 260
    """
    checked_k(k)
    loaded = opened(model, threads)
    require_histories(loaded, model, "an explanation needs the history of the user")
    [who] = ids_of([user], loaded.users, "--user")
    [what] = ids_of([item], loaded.items, "--item")
    found = loaded.explain(who, what)
    if not as_json:
        show_explanation(f"User {user}, item {item}", found, k)
        return
    parts = [{"item": past, "contribution": part, "share": _share(part, found)} for past, part in found]
    others = sum(part for _, part in found[k:])
    facts = {"past_items": len(found), "others": others, "rest": found.rest, "score": found.score}
    show_json({"user": who, "item": what, "contributions": parts[:k], **facts})


def show_explanation(title: str, found: Explanation, k: int) -> None:
    """Print the largest contributions as a table, and the sums."""
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
    show_line(f"Remainder, the error of stopping before convergence: {found.rest:.4f}")
    show_line(f"Score: {found.score:.4f}")


def _share(part: float, found: Explanation) -> float | None:
    """Compute the share of the score; a score of zero has no shares."""
    return part / found.score if found.score else None
