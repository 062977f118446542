"""The one route that most requests go to, without what litestar does for the others.

A handler of litestar parses the body twice and makes a request and a response, which costs more than the
answer. Here the body is decoded once, and the answer is sent as it is. The schema of the route is that of one
request and one answer of a batch.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from litestar.handlers import asgi
from litestar.types import Receive, Scope, Send

from ..errors import IalsppError
from .answering import Asked
from .encoding import encoded
from .problems import ELSEWHERE, Problem
from .schema import Recommend
from .service import Service

PATH = "/v1/recommend"
MODEL = "x-ialspp-model"  # the header with the checksum of the model that an answer comes from
DECODER = msgspec.json.Decoder(Recommend)
PLACE = re.compile(r"^(?P<fault>.*) - at `\$\.?(?P<place>.*)`$", flags=re.DOTALL)


def recommend_handler(service: Service) -> Any:
    """Make the handler of a service."""
    limit = service.settings.limits.body

    @asgi(PATH, copy_scope=False)
    async def recommend(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":  # type: ignore[typeddict-item]  # never a websocket
            raise Problem(405, ELSEWHERE[405])
        if scope["query_string"]:
            raise Problem(400, "this path takes no parameters in its address, only a body of JSON")
        request = _decoded(await _body(receive, limit))
        served, [answer] = await service.batcher.answer([Asked(request)])
        if isinstance(answer, IalsppError):
            raise answer
        body = encoded(answer)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (MODEL.encode(), served.checksum.encode()),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    return recommend


async def _body(receive: Receive, limit: int) -> bytes:
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Problem(400, "the client has gone before the end of the body")
        body += message["body"]  # type: ignore[typeddict-item]
        if len(body) > limit:
            raise Problem(413, f"a body may have at most {limit:,} bytes")
        if not message.get("more_body"):
            return body


def _decoded(body: bytes) -> Recommend:
    if not body:
        raise Problem(400, "a body of JSON is required, got none")
    try:
        return DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        found = PLACE.match(str(error))
        raise Problem(400, f"{found['place']}: {found['fault']}" if found else str(error)) from error


def documented(document: dict[str, Any]) -> dict[str, Any]:
    """Add the route to an OpenAPI document that has the one for batches."""
    batch = document["paths"][f"{PATH}/batch"]["post"]
    operation = {
        **batch,
        "summary": "The best items for a user, or for a history",
        "operationId": "V1RecommendRecommend",
        "description": "Recommend items to a user of the training data, or to an unseen one with some items.",
        "requestBody": _content("Recommend", required=True),
        "responses": {
            **batch["responses"],
            "200": {**batch["responses"]["200"], **_content("Recommendations")},
        },
    }
    return {**document, "paths": {PATH: {"post": operation}, **document["paths"]}}


def _content(name: str, **more: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}, **more}
