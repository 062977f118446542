"""The routes under /v1: what each takes and gives. The rest is done elsewhere."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Annotated, Any

from litestar import Response, Router, get, post
from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.handlers import BaseRouteHandler
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from ..errors import IalsppError
from . import queries
from .answering import Asked
from .encoding import encoded
from .problems import Problem
from .recommending import MODEL
from .schema import (
    Answers,
    DescribedItem,
    Explain,
    Explained,
    FoundItems,
    FoundUsers,
    Map,
    Metric,
    ModelFacts,
    RecommendBatch,
    Reloaded,
    Similar,
    SimilarToNew,
    UserHistory,
)
from .served import Served
from .service import Service

JSON = "application/json"
MOST_FOUND = 1000  # results of a search
MOST_MAPPED = 10_000  # items on a map
Text = Annotated[
    str,
    QueryParameter(
        name="query",
        max_length=1000,
        description="A part of a name or of an id. Case and accents do not matter.",
    ),
]
Limit = Annotated[int, QueryParameter(ge=1, le=MOST_FOUND, description="How many to list.")]
K = Annotated[int, QueryParameter(ge=1, description="How many items.")]
Top = Annotated[int, QueryParameter(ge=1, le=MOST_MAPPED, description="How many of the best-known items.")]


def refuse_unknown_parameters(
    connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler
) -> None:
    """Raise at a parameter that the route does not take: a misspelled one would do nothing."""
    defined = {name: field.kwarg_definition for name, field in handler.parsed_fn_signature.parameters.items()}
    known = [each.name or name for name, each in defined.items() if isinstance(each, QueryParameter)]
    for name in connection.query_params:
        if name not in known:
            raise Problem(
                400, f"{name}: there is no such parameter; this path takes {', '.join(known) or 'none'}"
            )


def _json(served: Served, content: Any) -> Response[Any]:
    """Encode an answer, and say which model it comes from."""
    return Response(encoded(content), media_type=JSON, headers={MODEL: served.checksum})


@post("/v1/recommend/batch", status_code=200, summary="The best items for many users or histories")
async def recommend_batch(data: JSONBody[RecommendBatch], state: State) -> Response[Answers]:
    """Recommend to many at once. An unknown user gets the most popular items, and `skipped` counts them."""
    service: Service = state.service
    most = service.settings.limits.batch
    if len(data.requests) > most:
        raise Problem(400, f"a batch may have at most {most:,} requests, got {len(data.requests):,}")
    served, answers = await service.batcher.answer([Asked(each, False) for each in data.requests])
    for number, answer in enumerate(answers):
        if isinstance(answer, IalsppError):
            problem = Problem.of(answer)
            raise Problem(problem.status, f"request {number}: {problem.detail}", request=number)
    return _json(served, Answers(answers=answers))  # type: ignore[arg-type]


@get("/v1/similar/{item:str}", summary="The items most similar to one")
async def similar(
    item: FromPath[str], state: State, k: K = 10, metric: FromQuery[Metric] = "cosine"
) -> Response[Similar]:
    """Find neighbours of an item: by direction ("cosine"), or also by length, which favours popular ones."""
    service: Service = state.service
    _check_k(service, k)
    return await _queried(service, queries.similar, item, k, metric)


@post("/v1/similar", status_code=200, summary="The items most similar to a new one")
async def similar_to_new(data: JSONBody[DescribedItem], state: State) -> Response[SimilarToNew]:
    """Find neighbours of an item that the model has not seen, by its features."""
    service: Service = state.service
    _check_k(service, data.k)
    return await _queried(service, queries.similar_to_new, data)


def _check_k(service: Service, k: int) -> None:
    if k > service.settings.limits.k:
        raise Problem(400, f"k may be at most {service.settings.limits.k:,}, got {k:,}")


@post("/v1/explain", status_code=200, summary="Why an item has its score")
async def explain(data: JSONBody[Explain], state: State) -> Response[Explained]:
    """Divide the score of an item into what each item of the history adds to it."""
    service: Service = state.service
    return await _queried(service, queries.explained, data, service.settings.limits)


@get("/v1/items", summary="Search for items")
async def items(state: State, text: Text = "", limit: Limit = 20) -> Response[FoundItems]:
    """Find items by name or id, best match first; without a query, the most popular ones."""
    return await _queried(state.service, queries.found_items, text, limit)


@get("/v1/users", summary="Search for users")
async def users(state: State, text: Text = "", limit: Limit = 20) -> Response[FoundUsers]:
    """Find users by name or id, best match first; without a query, those with the most items."""
    return await _queried(state.service, queries.found_users, text, limit)


@get("/v1/users/{user:str}/history", summary="The items of a user")
async def history(user: FromPath[str], state: State) -> Response[UserHistory]:
    """List what a user of the training data has interacted with."""
    return await _queried(state.service, queries.history, user)


@get("/v1/map", summary="The best-known items in two dimensions")
async def item_map(state: State, top: Top = 2000) -> Response[Map]:
    """Lay out items so that similar ones are close together; computed once for each model."""
    service: Service = state.service
    served = service.served
    found = served.kept_map(top) or await service.in_map_thread(served.map_of, top)
    return _json(served, await service.in_thread(queries.placed, served, found))


async def _queried(service: Service, work: Any, *arguments: Any) -> Response[Any]:
    served = service.served
    return _json(served, await service.in_thread(work, served, *arguments))


@get("/v1/model", summary="The model that answers")
async def model(state: State) -> Response[ModelFacts]:
    """Describe the model: its file, counts, settings and training."""
    service: Service = state.service
    served, info = service.served, service.served.info
    weight = await service.in_thread(lambda: served.typical_weight)  # the first time, this reads the file
    facts = ModelFacts(
        file=served.path.name,
        written=_as_date(served.written),
        loaded=_as_date(served.loaded),
        age_seconds=max(0.0, datetime.now(timezone.utc).timestamp() - served.written),
        reload_error=service.reloader.error,
        typical_weight=weight,
        features={"users": served.user_features.columns, "items": served.item_features.columns},
        **{name: info[name] for name in ModelFacts.__struct_fields__ if name in info and name != "features"},
    )
    return _json(served, facts)


@post("/v1/reload", status_code=200, summary="Load the model file again")
async def reload(state: State) -> Response[Reloaded]:
    """Load the file now. A bad one is an error, and the old model goes on answering."""
    service: Service = state.service
    try:
        changed = await service.reloader.reload()
    except (IalsppError, OSError, MemoryError) as error:
        raise Problem(409, f"the old model goes on answering: {service.reloader.error}") from error
    service.tell_others()
    served = service.served
    return _json(served, Reloaded(checksum=served.checksum, changed=changed))


def _as_date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds")


ROUTES = Router(
    "/",
    guards=[refuse_unknown_parameters],
    route_handlers=[
        recommend_batch,
        similar,
        similar_to_new,
        explain,
        items,
        users,
        history,
        item_map,
        model,
        reload,
    ],
)
