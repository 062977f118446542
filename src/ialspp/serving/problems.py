"""Errors as problem details (RFC 9457): what was required, what came, and where."""

from __future__ import annotations

import logging
from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException

from ..errors import IalsppError, InvalidTypeError, InvalidValueError, SolveError, UnknownIdError
from ..files.container import StoreError
from .encoding import encoded

PROBLEM = "application/problem+json"
TITLES = {
    400: "Bad request",
    401: "Key required",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Body too large",
    422: "Cannot be computed",
    500: "Internal error",
    503: "Not now",
}

ELSEWHERE = {
    404: "there is no such path; /docs lists those there are",
    405: "this path does not take this method; /docs lists those it takes",
}


class Problem(Exception):  # noqa: N818 - a problem is what RFC 9457 calls it
    """An error with its status code; `more` are fields beside the usual ones."""

    def __init__(self, status: int, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.status, self.detail, self.more = status, detail, more

    @classmethod
    def of(cls, error: Exception) -> Problem:
        """Turn any error into a problem. A bug keeps its message to itself."""
        if isinstance(error, Problem):
            return error
        if isinstance(error, HTTPException):
            return _of_http(error)
        if isinstance(error, RecursionError):
            return cls(400, "the body is nested too deeply")
        if isinstance(error, IalsppError) and not isinstance(error, StoreError):
            return cls(_status_of(error), str(error))
        return cls(500, "this is a bug in the service; its log has the traceback")

    @property
    def content(self) -> dict[str, Any]:
        """The members of the document."""
        title = TITLES.get(self.status, "Error")
        return {
            "type": "about:blank",
            "title": title,
            "status": self.status,
            "detail": self.detail,
            **self.more,
        }

    @property
    def body(self) -> bytes:
        """The document as JSON."""
        return encoded(self.content)

    @property
    def headers(self) -> dict[str, str]:
        """Headers that belong to the status."""
        if self.status == 401:
            return {"www-authenticate": "Bearer"}
        return {"retry-after": "1"} if self.status == 503 else {}


def _status_of(error: IalsppError) -> int:
    if isinstance(error, UnknownIdError):
        return 404
    if isinstance(error, SolveError):
        return 422
    return 400 if isinstance(error, (InvalidValueError, InvalidTypeError)) else 422


def _of_http(error: HTTPException) -> Problem:
    """Take over litestar's errors; those of a body name the field."""
    if error.status_code in ELSEWHERE:
        return Problem(error.status_code, ELSEWHERE[error.status_code])
    if not isinstance(error, ValidationException):
        return Problem(error.status_code, str(error.detail))
    faults = error.extra if isinstance(error.extra, list) else []
    return Problem(400, "; ".join(map(_fault, faults)) or str(error.detail))


def _fault(fault: dict[str, Any]) -> str:
    """Describe one fault; "data" is litestar's name for the body."""
    key, message = str(fault.get("key", "")).removeprefix("data").removeprefix("."), str(fault["message"])
    key = "query" if key == "text" else key  # which litestar reserves as the name of an argument
    if message == "'data'":
        return "a body of JSON is required, got none"
    return f"{key}: {message}" if key else message


def as_response(_request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """Answer with the problem; a bug is logged with its traceback, and nothing else."""
    problem = Problem.of(error)
    if problem.status == 500:
        logging.getLogger("ialspp").error("an answer failed", exc_info=error)
    return Response(problem.body, status_code=problem.status, media_type=PROBLEM, headers=problem.headers)
