"""Requests for recommendations to answers. Many requests are ranked together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import IalsppError, InvalidValueError, UnknownIdError
from ..model.asking import Query
from ..model.explanation import Explanation
from ..model.ranking import Ranking
from ..model.skipped import NOTHING_SKIPPED, Skipped
from .ids import checked_ids, divided
from .problems import Problem
from .schema import Explain, Part, Recommend, Recommendations, Recommended
from .served import Served
from .settings import Limits

REASONS = 3  # for each item, where a request says `true`
LOOK_UP = 2**15  # multiplications in the time that one id takes
EXPLAIN = 2**25  # so much that a thread gives the reasons: it reads a whole history, which may be long


class Asked(NamedTuple):
    """A request. Alone, an unknown user is an error; in a batch they get the most popular items."""

    request: Recommend
    is_alone: bool = True


def work_of(served: Served, asked: Sequence[Asked]) -> int:
    """Estimate the work of answering requests, in multiplications."""
    dim, items = served.model.dim, len(served.model.items)
    work = 0
    for request, _ in asked:
        history = 0 if request.items is None else len(request.items)
        ids = history + len(request.exclude) + len(request.candidates or ())
        solve = 0 if request.user is not None else dim**3 + history * dim**2
        work += items * dim + solve + ids * LOOK_UP + (EXPLAIN if request.explain else 0)
    return work


def answered(served: Served, asked: Sequence[Asked], limits: Limits) -> list[Recommendations | IalsppError]:
    """Answer requests together. A request that cannot be answered gets its error, the others their answer.

    Past the time limit, all who sent these requests have had an error by now, so that the work stops.
    """
    until = time.monotonic() + limits.seconds
    answers: dict[int, Recommendations | IalsppError] = {}
    queries: dict[int, Query] = {}
    for number, each in enumerate(asked):
        try:
            queries[number] = _query_of(served, each, limits)
        except IalsppError as error:
            answers[number] = error
    for number, ranking in _ranked(served, queries).items():
        if time.monotonic() > until:
            raise Problem(503, f"no answer within {limits.seconds:g} seconds; try again later")
        answers[number] = _answer_of(served, asked[number].request, ranking)
    return [answers[number] for number in range(len(asked))]


def _ranked(served: Served, queries: dict[int, Query]) -> dict[int, Ranking | IalsppError]:
    """Rank together. A history without a finite solution spoils that for all: then rank one by one."""
    try:
        return dict(zip(queries, served.model.answer(list(queries.values())), strict=True))
    except IalsppError:
        return {number: _ranked_alone(served, query) for number, query in queries.items()}


def _ranked_alone(served: Served, query: Query) -> Ranking | IalsppError:
    try:
        return served.model.answer([query])[0]
    except IalsppError as error:
        return error


def _query_of(served: Served, asked: Asked, limits: Limits) -> Query:
    model, request = served.model, asked.request
    check_who(request)
    if request.offset + request.k > limits.k:
        raise InvalidValueError(f"offset + k may be at most {limits.k:,}, got {request.offset} + {request.k}")
    if request.user is not None and not request.include_seen and not model.keeps_interactions:
        raise InvalidValueError(
            "include_seen must be true: this model's file has no interactions, so it does not know which "
            "items a user has seen"
        )
    ids, weights = ([], None) if request.items is None else divided(request.items)
    if request.user is not None:
        checked_ids("user", [request.user], model.users, 1)
    for name, some in (
        ("items", ids),
        ("exclude", request.exclude),
        ("candidates", request.candidates or ()),
    ):
        checked_ids(name, some, model.items, limits.ids)
    query = model.query(
        request.user,
        history=None if request.items is None else ids,
        weights=weights,
        features=row_of_features(served, request),
        k=request.offset + request.k,
        exclude_seen=not request.include_seen,
        candidates=request.candidates,
        exclude=request.exclude or None,
        unknown="skip",
    )
    if asked.is_alone:
        _require_known(query.skipped)
    return query


def check_who(request: Recommend | Explain) -> None:
    """Raise unless a user is given, or what is known of an unseen one."""
    if request.user is None and request.items is None and request.features is None:
        raise InvalidValueError("one of user and items is required, or features, got neither")
    if request.user is not None and request.items is not None:
        raise InvalidValueError("one of user and items is required, got both")
    if request.user is not None and request.features is not None:
        raise InvalidValueError("features belong to an unseen user: user must be left out, got both")


def row_of_features(served: Served, request: Recommend | Explain) -> NDArray[np.float64] | None:
    """Return the features of an unseen user as a row for the model."""
    return None if request.features is None else served.user_features.row_of(request.features)


def skipped_features(served: Served, request: Recommend | Explain) -> dict[str, int]:
    """Count the features of an unseen user that the training has not seen."""
    unknown = 0 if request.features is None else served.user_features.unknown_in(request.features)
    return {"features": unknown} if unknown else {}


def _require_known(skipped: Skipped) -> None:
    """Raise if the user is unknown, or the only item of the history."""
    if skipped is NOTHING_SKIPPED:
        return
    for what, ids in (("user", skipped.users), ("item", skipped.histories)):
        if ids.count == ids.total == 1:
            raise UnknownIdError(f"unknown {what}: {ids.examples[0]!r}")


def _answer_of(
    served: Served, request: Recommend, ranking: Ranking | IalsppError
) -> Recommendations | IalsppError:
    if isinstance(ranking, IalsppError):
        return ranking
    page = ranking[request.offset :] if request.offset else ranking
    reasons = REASONS if request.explain is True else int(request.explain)
    if not reasons:
        items = [
            Recommended(id=item, name=name, score=score)
            for item, name, score in zip(page, page.names, page.scores, strict=True)
        ]
    else:
        try:
            explained = _explained(served, request, page, reasons)
        except IalsppError as error:
            return error
        items = [
            Recommended(id=item, name=name, score=score, because=parts_of(found), rest=found.rest)
            for item, name, score, found in zip(page, page.names, page.scores, explained, strict=True)
        ]
    skipped = {**counts_of(page.skipped), **skipped_features(served, request)}
    return Recommendations(items=items, fallback=page.fallback, skipped=skipped)


def _explained(served: Served, request: Recommend, page: Ranking, reasons: int) -> list[Explanation]:
    """Explain the score of each item. Popularity, which cold users get, has no reasons."""
    if page.fallback:
        return [Explanation([], score, score) for score in page.scores]
    return explanations(served, request, list(page), reasons)


def explanations(
    served: Served, request: Recommend | Explain, targets: list[int | str], k: int | None = None
) -> list[Explanation]:
    """Explain the scores of some items for a known user, or for an unseen one without unknown items."""
    if request.user is not None:
        return served.model.explain(request.user, targets, k=k)  # type: ignore[return-value]  # lists give lists
    ids, weights = (None, None) if request.items is None else divided(request.items)
    features = row_of_features(served, request)
    return served.model.explain_for(  # type: ignore[return-value]  # the same
        ids, targets, k=k, weights=weights, features=features, unknown="skip"
    )


def parts_of(explanation: Explanation) -> list[Part]:
    """Return the parts of a score with the names of their items."""
    return [
        Part(id=item, name=name, part=part)
        for (item, part), name in zip(explanation, explanation.names, strict=True)
    ]


def counts_of(skipped: Skipped) -> dict[str, int]:
    """Count the unknown ids by the field of the request that they were in."""
    if skipped is NOTHING_SKIPPED:  # as a rule
        return {}
    return {_FIELDS.get(argument, argument): ids.count for argument, ids in skipped}


_FIELDS = {"histories": "items", "users": "user"}
