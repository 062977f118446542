"""ialspp explain: how much each item of a user's history adds to a score."""

from __future__ import annotations

from typing import Annotated

import typer

from ..model.explanation import Explanation
from .output import JsonOption, show_json, show_line
from .queries import (
    NAME,
    About,
    KOption,
    ModelArgument,
    ThreadsOption,
    checked_k,
    opened,
    require_histories,
    show_named,
)
from .reader import IdReader


def explain(
    model: ModelArgument,
    user: Annotated[str, typer.Option(metavar="ID", help="The user, by id or name.")],
    item: Annotated[str, typer.Option(metavar="ID", help="The item, by id or name.")],
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
    reader = IdReader(loaded, quiet=as_json)
    [who] = reader.typed("users", [user], loaded.users, "--user")
    [what] = reader.typed("items", [item], loaded.items, "--item")
    found = loaded.explain(who, what)
    asked = {
        ids.name: About.each(ids, ids.rows([value]))[0]
        for ids, value in ((loaded.users, who), (loaded.items, what))
    }
    has_names = loaded.items.names is not None
    if not as_json:
        between = "; " if any(any(about.names) for about in asked.values()) else ", "
        title = between.join(f"{axis} {about}" for axis, about in asked.items())
        show_explanation(f"{title[0].upper()}{title[1:]}", found, k, has_names)
        features = "what features of the user add, and " if loaded.user_features is not None else ""
        show_line(f"Remainder, {features}the error of stopping before convergence: {found.rest:.4f}")
        show_line(f"Score: {found.score:.4f}")
        return
    parts = [
        {
            "item": past,
            **({"item_name": name} if has_names else {}),
            "contribution": part,
            "share": _share(part, found),
        }
        for (past, part), name in zip(found[:k], found.names, strict=False)
    ]
    others = sum(part for _, part in found[k:])
    facts = {"past_items": len(found), "others": others, "rest": found.rest, "score": found.score}
    about = {key: value for axis, one in asked.items() for key, value in one.as_dict(axis).items()}
    show_json({**about, "contributions": parts, **facts})


def show_explanation(title: str, found: Explanation, k: int, has_names: bool) -> None:
    """Print the largest contributions as a table, and the sums."""
    rows = [
        [past, name, f"{part:.4f}", "" if share is None else f"{share:.1%}"]
        for (past, part), name in zip(found[:k], found.names, strict=False)
        for share in [_share(part, found)]
    ]
    show_named(title, ["past item", NAME, "contribution", "share"], rows, has_names)
    others = found[k:]
    if others:
        show_line(f"{len(others):,} other past items: {sum(part for _, part in others):.4f}")


def _share(part: float, found: Explanation) -> float | None:
    """Compute the share of the score; a score of zero has no shares."""
    return part / found.score if found.score else None
