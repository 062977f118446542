"""Requests over HTTP, and what can go wrong with them."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from http.client import HTTPMessage, HTTPResponse
    from urllib.error import HTTPError
    from urllib.request import OpenerDirector

    Response = HTTPResponse | HTTPError

TIMEOUT = 30.0  # seconds without a byte
CHUNK = 1 << 16  # bytes read at a time; a killed process loses at most as many
MOST_DIGITS = 18  # of a length


class FailedError(Exception):
    """No file came, for this reason."""

    def __init__(self, reason: object) -> None:
        super().__init__(str(reason) or type(reason).__name__)


class BrokenOffError(FailedError):
    """The connection broke in the middle of the file; another connection may bring the rest."""


def request(url: str, headers: dict[str, str]) -> Response:
    """Open the response of a server, of any status."""
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import Request

    asked = Request(url, headers={"User-Agent": "ialspp", "Accept-Encoding": "identity", **headers})
    try:
        response: HTTPResponse = opener().open(asked, timeout=TIMEOUT)
        return response
    except HTTPError as error:  # a response too, of a status that urllib does not like
        return error
    except URLError as error:
        raise FailedError(error.reason) from error
    except (OSError, HTTPException, ValueError) as error:  # ValueError: an address that cannot be read
        raise FailedError(error) from error


def opener() -> OpenerDirector:
    """Make what opens addresses. It follows no redirect from https to an address that is not encrypted."""
    from urllib.error import URLError
    from urllib.parse import urlsplit
    from urllib.request import HTTPRedirectHandler, Request, build_opener

    class SafeRedirects(HTTPRedirectHandler):
        """Redirects, except to a place where anybody on the way can change the file."""

        def redirect_request(
            self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
        ) -> Request | None:
            scheme = urlsplit(newurl).scheme
            if scheme != "https" and not (scheme == req.type == "http"):
                raise URLError(f"the server redirects from {req.type} to {newurl}, which is refused")
            return super().redirect_request(req, fp, code, msg, headers, newurl)

    return build_opener(SafeRedirects)


def read(response: Response) -> bytes:
    """Read the next bytes of a response; none at its end."""
    from http.client import HTTPException

    try:
        return response.read(CHUNK)
    except (OSError, HTTPException) as error:
        raise BrokenOffError(error) from error


def length_of(response: Response) -> int | None:
    """Return how many bytes a response says it has, if it says so."""
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isascii() and length.isdigit() and len(length) <= MOST_DIGITS else None
