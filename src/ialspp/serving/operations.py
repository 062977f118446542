"""The routes for machines that watch the service, and for people who read about it."""

from __future__ import annotations

from litestar import Response, get
from litestar.datastructures import State

from .schema import Health
from .service import Service

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
PLAIN = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
FRAMES = "frame-ancestors 'none'"  # the page of the explorer brings the rest of its policy along


@get("/health/live", summary="Whether the process answers")
async def live() -> dict[str, str]:
    """Answer as long as the process does: restart it if there is no answer."""
    return {"status": "ok"}


@get("/health/ready", summary="Whether a model answers, and which")
async def ready(state: State) -> Health:
    """Say which model answers, and why the newest file does not if it is bad."""
    service: Service = state.service
    return Health(status="ok", model=service.served.checksum, reload_error=service.reloader.error)


@get("/metrics", summary="Counts for Prometheus", media_type="text/plain")
async def metrics(state: State) -> Response[str]:
    """Give the counts of all workers in the text format of Prometheus."""
    service: Service = state.service
    return Response(service.metrics.text(), media_type=PROMETHEUS)


@get("/docs", include_in_schema=False)
async def docs(state: State) -> Response[str]:
    """Show the routes to people."""
    return _html(state.docs, PLAIN + FRAMES)


@get("/", include_in_schema=False)
async def page(state: State) -> Response[str]:
    """Show the explorer."""
    return _html(state.page, FRAMES)


def _html(content: str, policy: str) -> Response[str]:
    headers = {"content-security-policy": policy, "cache-control": "no-cache"}
    return Response(content, media_type="text/html; charset=utf-8", headers=headers)


ROUTES = [live, ready, metrics, docs, page]
