"""The application: the routes, their schema, and the gate before them."""

from __future__ import annotations

import msgspec
from litestar import Litestar, Response, get
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig

from . import operations, routes
from .docs import page_of
from .gate import Gate
from .problems import as_response
from .recommending import documented, recommend_handler
from .service import Service

ABOUT = (
    "Recommendations of one model. Errors are problem details (RFC 9457). The header x-ialspp-model of an "
    "answer has the checksum of the model that it comes from. Where the service has a key, requests show it "
    "as `Authorization: Bearer KEY`."
)


def create_app(service: Service) -> Gate:
    """Make the ASGI application of one worker."""
    from importlib.metadata import version

    app = Litestar(
        [recommend_handler(service), routes.ROUTES, *operations.ROUTES, _schema],
        state=State({"service": service}),
        openapi_config=OpenAPIConfig("ialspp", version("ialspp"), description=ABOUT, render_plugins=()),
        exception_handlers={Exception: as_response, HTTPException: as_response},
        request_max_body_size=service.settings.limits.body,
        on_startup=[service.start],
        on_shutdown=[service.stop],
        logging_config=None,
        debug=False,
    )
    document = documented(app.openapi_schema.to_schema())
    app.state.openapi = msgspec.json.encode(document)
    app.state.docs = page_of(document)
    app.state.page = _explorer()
    return Gate(app, service)


@get("/openapi.json", include_in_schema=False)
async def _schema(state: State) -> Response[bytes]:
    return Response(state.openapi, media_type="application/json")


def _explorer() -> str:
    from ..explorer import served_page

    return served_page()
