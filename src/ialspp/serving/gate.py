"""What every request passes: the key, the time limit, the counts and the access log."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import sys
import time
from pathlib import Path
from typing import Any, cast

import msgspec
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from .problems import PROBLEM, Problem
from .service import Service

OPEN = frozenset(["/", "/docs", "/openapi.json", "/health/live", "/health/ready"])  # no key, no model's data
RELOAD = "/v1/reload"
LONGEST = 3600.0  # seconds, for loading a model
LOCAL_HOSTS = frozenset(["localhost", "127.0.0.1", "[::1]"])
SECURE = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]


class AccessLog:
    """A line of JSON for each request: the route, not the path, and no header, so that no secret is in it."""

    def __init__(self, path: Path) -> None:
        is_stdout = path == Path("-")
        # One write of a short line is atomic where a file is opened for appending.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        self._file = sys.stdout.fileno() if is_stdout else os.open(path, flags, 0o600)

    def write(self, scope: Scope, method: str, status: int, seconds: float, size: int) -> None:
        """Append the line of a request."""
        client = scope.get("client")
        line = {
            "time": time.time(),
            "client": client[0] if client else None,
            "method": method,
            "route": scope.get("path_template", "other"),
            "status": status,
            "milliseconds": round(seconds * 1000, 3),
            "bytes": size,
        }
        os.write(self._file, msgspec.json.encode(line) + b"\n")


class Exchange:
    """What was answered to one request: the status and the size, for the counts."""

    __slots__ = ("_head_only", "_send", "size", "status")

    def __init__(self, send: Send, *, head_only: bool = False) -> None:
        self._send, self._head_only, self.status, self.size = send, head_only, 0, 0

    async def send(self, message: Message) -> None:
        """Pass a message on, and note what it says."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), *SECURE]
        elif message["type"] == "http.response.body":
            if self._head_only:
                message["body"] = b""
            self.size += len(message.get("body", b""))
        await self._send(message)

    async def refuse(self, problem: Problem) -> None:
        """Answer with a problem, if nothing was answered yet."""
        if self.status:
            return
        body = problem.body
        headers = [
            (b"content-type", PROBLEM.encode()),
            (b"content-length", str(len(body)).encode()),
            *((name.encode(), value.encode()) for name, value in problem.headers.items()),
        ]
        await self.send({"type": "http.response.start", "status": problem.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body, "more_body": False})


class Gate:
    """The outermost application. It lets through what may pass, and watches it."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        settings = service.settings
        self._app, self._metrics, self._seconds = app, service.metrics, settings.limits.seconds
        self._key = None if settings.key is None else _digest(settings.key.encode())
        self._hosts = LOCAL_HOSTS | {settings.host_in_urls} if settings.local_only else None
        self._log = None if settings.access_log is None else AccessLog(settings.access_log)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, or the start and the end of the service."""
        if str(scope["type"]) != "http":
            await self._app(scope, receive, send)
            return
        begun, method = time.perf_counter(), str(scope.get("method"))
        scope["path"] = _encoded_path(scope)
        exchange = Exchange(send, head_only=method == "HEAD")
        if method == "HEAD":  # as load balancers ask: the answer to GET, without its body
            scope = cast(Scope, {**scope, "method": "GET"})
        try:
            problem = self._refusal(scope)
            if problem is None:
                await self._limited(scope, receive, exchange)
            else:
                await exchange.refuse(problem)
        finally:
            seconds = time.perf_counter() - begun
            self._metrics.count(scope.get("path_template", "other"), exchange.status, seconds)
            if self._log is not None:
                self._log.write(scope, method, exchange.status, seconds, exchange.size)

    async def _limited(self, scope: Scope, receive: Receive, exchange: Exchange) -> None:
        """Let the application answer, until the time is over."""
        task = asyncio.current_task()
        assert task is not None
        expired = False

        def expire() -> None:
            nonlocal expired
            expired = True
            task.cancel()

        # A large model takes longer to load, and who may ask for that may wait for it.
        seconds = LONGEST if scope["path"] == RELOAD else self._seconds
        alarm = asyncio.get_running_loop().call_later(seconds, expire)
        try:
            await self._app(scope, receive, exchange.send)
        except asyncio.CancelledError:
            if not expired:
                raise
            if hasattr(task, "uncancel"):  # Python 3.11
                task.uncancel()
            await exchange.refuse(Problem(503, f"no answer within {seconds:g} seconds; try again later"))
        finally:
            alarm.cancel()

    def _refusal(self, scope: Scope) -> Problem | None:
        """Say why a request may not pass, or None if it may."""
        if self._key is None:
            host = _header(scope, b"host")
            if self._hosts is None or host.rsplit(":", 1)[0] in self._hosts:
                return None
            if host in self._hosts:  # [::1] without a port
                return None
            return Problem(
                403,
                "this service answers requests to localhost alone; to serve under another name, start it "
                "with --key-file or --no-key",
            )
        if scope["path"] in OPEN or hmac.compare_digest(_digest(_token(scope)), self._key):
            return None
        return Problem(401, "the header `Authorization: Bearer KEY` is required, with the service's key")


def _encoded_path(scope: Scope) -> str:
    """Return the path as it came: an id may have a slash in it, which only its encoding tells from others."""
    path, _, _ = scope["raw_path"].partition(b"?")
    return path.decode("ascii", "replace")


def _header(scope: Scope, wanted: bytes) -> str:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == wanted), "")


def _token(scope: Scope) -> bytes:
    """Return the key that a request shows."""
    scheme, _, token = _header(scope, b"authorization").partition(" ")
    return token.strip().encode("latin-1") if scheme.lower() == "bearer" else b""


def _digest(secret: bytes) -> Any:
    """Hash a key, so that a comparison tells nothing of its length."""
    return hashlib.sha256(secret).digest()
