"""Asking a server for a file, or for the rest of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .part import Part

if TYPE_CHECKING:
    from http.client import HTTPResponse
    from urllib.error import HTTPError

TIMEOUT = 30.0  # seconds without a byte
OK, PARTIAL, NO_SUCH_RANGE = 200, 206, 416  # http.HTTPStatus is slow to import


class FetchError(Exception):
    """Why no file came."""

    def __init__(self, reason: object) -> None:
        super().__init__(str(reason) or type(reason).__name__)


class BrokenOffError(FetchError):
    """The connection broke in the middle of the file: the rest may come over another."""


def answer(url: str, part: Part) -> HTTPResponse | HTTPError:
    """A response whose body belongs at the end of the part; the part starts over where it must."""
    for headers in (part.resume_headers(), {}):
        response = _open(url, headers)
        if response.status == OK:
            part.begin(response.headers)
            return response
        if response.status == PARTIAL and headers and part.is_continued_by(response.headers):
            return response
        response.close()
        part.remove()  # this is the rest of another version, or there is no rest
    raise FetchError(f"HTTP status {response.status} {response.reason}")


def _open(url: str, headers: dict[str, str]) -> HTTPResponse | HTTPError:
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    request = Request(url, headers={"User-Agent": "ialspp", "Accept-Encoding": "identity", **headers})
    try:
        response: HTTPResponse = urlopen(request, timeout=TIMEOUT)
        return response
    except HTTPError as error:
        if error.code == NO_SUCH_RANGE:
            return error
        error.close()
        raise FetchError(f"HTTP status {error.code} {error.reason}") from error
    except URLError as error:
        raise FetchError(error.reason) from error
    except (OSError, HTTPException) as error:
        raise FetchError(error) from error


def read(response: HTTPResponse | HTTPError, size: int) -> bytes:
    """The next bytes of the body; none at its end."""
    from http.client import HTTPException

    try:
        return response.read(size)
    except (OSError, HTTPException) as error:
        raise BrokenOffError(error) from error
