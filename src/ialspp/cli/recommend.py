"""ialspp recommend: the best items for users, or for an unseen user with a history."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import typer

from ..errors import InvalidValueError
from ..model.model import ImplicitMF
from ..model.ranking import USERS_AT_ONCE
from .cluster import ClusterOptions
from .ours import ForceOption
from .output import JsonOption, Output, remark, show_line
from .queries import (
    MOST_TABLES,
    KOption,
    ModelArgument,
    SkipUnknownOption,
    TableOption,
    ThreadsOption,
    checked_k,
    checked_table,
    one_way,
    opened,
    require_histories,
    show_rankings,
    write_rankings,
)
from .reader import IdReader


@dataclass(frozen=True, slots=True)
class Who:
    """For whom to recommend: exactly one of these."""

    panel: ClassVar[str] = "For whom: one of these is required"

    user: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A user, by id or name; repeatable.")
    ] = None
    users: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Users, one id a line; - is standard input.")
    ] = None
    everyone: Annotated[bool, typer.Option("--all", help="All users.")] = False
    item: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID", help="An item, by id or name, in the history of an unseen user; repeatable."
        ),
    ] = None

    def check(self) -> None:
        """Raise unless exactly one of them was given."""
        one_way(user=self.user, users=self.users, all=self.everyone, item=self.item)

    def ids(self, model: ImplicitMF, reader: IdReader) -> list[Any] | None:
        """List the users; None for all of them."""
        if self.users is not None:
            return reader.listed("users", self.users, model.users)
        return None if self.everyone else reader.typed("users", self.user or [], model.users, "--user")


@dataclass(frozen=True, slots=True)
class Choice:
    """Which items may be recommended."""

    panel: ClassVar[str] = "Which items"

    include_seen: Annotated[
        bool, typer.Option("--include-seen", help="Also recommend items that the user has interacted with.")
    ] = False
    candidates: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The only items to recommend, one id a line.")
    ] = None
    exclude: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Items never to recommend, one id a line.")
    ] = None

    def options(self, model: ImplicitMF, reader: IdReader) -> dict[str, Any]:
        """Make the arguments of the methods of the model."""
        chosen: dict[str, Any] = {"exclude_seen": not self.include_seen}
        for name, file in (("candidates", self.candidates), ("exclude", self.exclude)):
            if file is not None:
                chosen[name] = reader.listed(name, file, model.items)
        return chosen


def recommend(
    model: ModelArgument,
    who: Who,
    choice: Choice,
    place: ClusterOptions,
    k: KOption = 10,
    skip_unknown: SkipUnknownOption = False,
    out: TableOption = None,
    force: ForceOption = False,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Recommend the best items for users of the training data, or for an unseen user with a history.

    --ray ranks for all users on a cluster, whose nodes read MODEL under the same path: --all -o FILE.

    Example: ialspp recommend films.ialspp --user 42 -k 5
    """
    who.check()
    checked_k(k)
    checked_table(out, force)
    cluster = place.make(threads)
    if cluster is not None and (out is None or not who.everyone):
        raise InvalidValueError("--ray ranks for all users and writes a table; add --all and -o FILE")
    loaded = opened(model, threads)
    reader = IdReader(loaded, skip_unknown=skip_unknown, quiet=as_json)
    options = choice.options(loaded, reader)
    if who.item:
        history = reader.typed("histories", who.item, loaded.items, "--item")
        rankings, about, left = loaded.recommend_for([history], k, **options), [history], 0
    else:
        if not choice.include_seen:
            require_histories(loaded, model, "use --include-seen, which needs no interactions")
        if out is not None and who.everyone:
            parts = loaded.recommend_in_parts(k, cluster=cluster, **options)
            write_rankings(parts, out, as_json, reader.skipped)
            return
        users, left = _first(who.ids(loaded, reader), loaded, out is None and not as_json)
        long = users is not None and len(users) > USERS_AT_ONCE and Output(stderr=True).is_terminal
        if users is not None:
            options["users"] = users
        rankings, about = loaded.recommend(k=k, progress=long or None, **options), None
    rankings = replace(rankings, skipped=reader.skipped)
    if out is not None:
        write_rankings([rankings], out, as_json, rankings.skipped)
        return
    show_rankings(rankings, as_json, about)
    is_empty = bool((rankings.rows[rankings.fallback] < 0).all())
    if rankings.fallback.any() and is_empty and not loaded.keeps_interactions and not as_json:
        remark(f"{model} was written with --no-interactions, so it does not know the most popular items")
    if left:
        show_line(f"... and {left:,} more users: -o FILE.csv writes all, --json prints all.")


def _first(users: list[Any] | None, model: ImplicitMF, are_shown: bool) -> tuple[list[Any] | None, int]:
    """Choose the users to rank for, and count the others: a terminal shows only a few of many."""
    total = len(model.users) if users is None else len(users)
    if not are_shown or total <= MOST_TABLES or not Output().is_terminal:
        return users, 0
    few = model.users.named(np.arange(MOST_TABLES)) if users is None else users[:MOST_TABLES]
    return few, total - MOST_TABLES
