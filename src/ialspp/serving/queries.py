"""The other questions about users and items, each answered from one model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..data.ids import IdMap
from ..errors import InvalidValueError, UnknownIdError
from ..model.ranking import Ranking
from .answering import check_who, explanations, parts_of, skipped_features
from .ids import checked_ids, divided, id_of_path
from .schema import (
    DescribedItem,
    Explain,
    Explained,
    FoundItem,
    FoundItems,
    FoundUser,
    FoundUsers,
    Map,
    Metric,
    Named,
    Past,
    Placed,
    Scored,
    Similar,
    SimilarToNew,
    UserHistory,
)
from .served import Counts, Served, best_matches
from .settings import Limits

if TYPE_CHECKING:
    from ..explorer.places import ItemMap


def similar(served: Served, text: str, k: int, metric: Metric) -> Similar:
    """Find the items most similar to one."""
    item = id_of_path("item", text, served.model.items)
    found = served.model.similar_items(item, k, metric=metric)
    return Similar(item=_named(served, item), items=_scored(found))


def similar_to_new(served: Served, request: DescribedItem) -> SimilarToNew:
    """Find the items most similar to one that the model has not seen."""
    known = served.item_features
    row, skipped = known.row_of(request.features), known.unknown_in(request.features)
    [found] = served.model.similar_items_for(features=row, k=request.k, metric=request.metric)
    return SimilarToNew(items=_scored(found), skipped={"features": skipped} if skipped else {})


def _scored(found: Ranking) -> list[Scored]:
    return [
        Scored(id=each, name=name, score=score)
        for each, name, score in zip(found, found.names, found.scores, strict=True)
    ]


def explained(served: Served, request: Explain, limits: Limits) -> Explained:
    """Explain the score of an item."""
    check_who(request)
    items = served.model.items
    checked_ids("item", [request.item], items, 1)
    skipped = skipped_features(served, request)
    if request.user is not None:
        checked_ids("user", [request.user], served.model.users, 1)
        if not served.model.keeps_interactions:
            raise InvalidValueError("items are required: this model's file has no interactions of users")
    elif request.items is not None:
        ids = checked_ids("items", divided(request.items)[0], items, limits.ids)
        unknown = items.find(ids).unknown
        if len(ids) == len(unknown) == 1:
            raise UnknownIdError(f"unknown item: {unknown[0]!r}")
        skipped |= {"items": len(unknown)} if unknown else {}
    [found] = explanations(served, request, [request.item])
    return Explained(
        item=_named(served, request.item),
        score=found.score,
        parts=parts_of(found),
        rest=found.rest,
        skipped=skipped,
    )


def found_items(served: Served, text: str, limit: int) -> FoundItems:
    """Find items by a part of their name or id."""
    found = _matches(served.model.items, text, limit, served.item_counts)
    return FoundItems(items=[FoundItem(id=item, name=name, users=users) for item, name, users in found])


def found_users(served: Served, text: str, limit: int) -> FoundUsers:
    """Find users by a part of their name or id."""
    found = _matches(served.model.users, text, limit, served.user_counts)
    return FoundUsers(users=[FoundUser(id=user, name=name, items=items) for user, name, items in found])


def _matches(
    known: IdMap, text: str, limit: int, counts: Counts | None
) -> Iterator[tuple[int | str, str | None, int | None]]:
    """List the id, the name and the count of each row that matches a text, best first."""
    rows = best_matches(known, text, limit, counts)
    return zip(*_ids_and_names(known, rows), _counts(counts, rows), strict=True)


def history(served: Served, text: str) -> UserHistory:
    """List the items of a user."""
    users = served.model.users
    if not served.model.keeps_interactions:
        raise UnknownIdError("this model's file has no interactions, so it has no histories")
    row = users.rows([id_of_path("user", text, users)], served.model.items)
    [user], [name] = _ids_and_names(users, row)
    items, weights = served.history_of(int(row[0]))
    return UserHistory(
        user=Named(id=user, name=name),
        items=[
            Past(id=item, name=each, weight=weight)
            for item, each, weight in zip(
                *_ids_and_names(served.model.items, items), weights.tolist(), strict=True
            )
        ],
    )


def placed(served: Served, found: ItemMap) -> Map:
    """Return the items of a map with what the page shows of them."""
    counts = _counts(served.item_counts, found.rows)
    ids, names = _ids_and_names(served.model.items, found.rows)
    return Map(
        items=[
            Placed(id=item, name=name, users=users, x=x, y=y)
            for item, name, users, x, y in zip(
                ids, names, counts, found.x.tolist(), found.y.tolist(), strict=True
            )
        ]
    )


def _named(served: Served, item: int | str) -> Named:
    known = served.model.items
    return Named(id=item, name=known.names_of(known.rows([item]))[0])


def _ids_and_names(known: IdMap, rows: NDArray[np.integer[Any]]) -> tuple[list[int | str], list[str | None]]:
    return known.named(rows), [*known.names_of(rows)]


def _counts(counts: Counts | None, rows: Counts) -> list[int | None]:
    return [None] * len(rows) if counts is None else counts[np.asarray(rows)].tolist()
