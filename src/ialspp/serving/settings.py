"""What a service is told: where it listens, who may ask, and how much."""

from __future__ import annotations

import ipaddress
import stat
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import InvalidValueError
from ..system.checks import checked_integer, checked_number

LEAST_KEY = 16  # characters: 16 random ones cannot be guessed
MOST_KEY = 1024
MOST_WORKERS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one request may ask for, so that no client takes the service from the others.

    Attributes
    ----------
    body
        Bytes of a request's body.
    k
        Items of an answer, those that `offset` leaves out included.
    ids
        Ids of one list: a history, candidates, exclusions.
    batch
        Requests of one batch.
    seconds
        The time that an answer may take, from the first byte of the request.
    waiting
        Requests that wait for their turn. More are refused at once.
    """

    body: int = 2**20
    k: int = 1000
    ids: int = 10_000
    batch: int = 1000
    seconds: float = 10.0
    waiting: int = 1000

    def __post_init__(self) -> None:
        for name in ("body", "k", "ids", "batch", "waiting"):
            checked_integer(f"the limit {name}", getattr(self, name), 1)
        if not checked_number("the limit seconds", self.seconds) > 0:
            raise InvalidValueError(f"the limit seconds must be > 0, got {self.seconds}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that a service needs to start.

    Attributes
    ----------
    model
        The model file.
    host, port
        Where to listen. Port 0 takes a free one.
    key
        What clients must show as `Authorization: Bearer KEY`; None: nothing.
    local_only
        Refuse requests whose Host header is not this machine's loopback name, so that no web page can reach
        the service through a name of its own.
    workers
        Processes that answer.
    threads
        Threads of one worker's ranking. None: the CPUs of this process, divided by the workers.
    watch
        Seconds between two looks at the model file; None: it is loaded again only when told.
    access_log
        A file that gets a line of JSON for each request; "-" is stdout, None is none.
    limits
        What one request may ask for.
    """

    model: Path
    host: str = "127.0.0.1"
    port: int = 8000
    key: str | None = field(default=None, repr=False)
    local_only: bool = True
    workers: int = 1
    threads: int | None = None
    watch: float | None = 1.0
    access_log: Path | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        address_of(self.host)
        if checked_integer("port", self.port, 0) > 65535:
            raise InvalidValueError(f"port must be at most 65535, got {self.port}")
        if checked_integer("workers", self.workers, 1) > MOST_WORKERS:
            raise InvalidValueError(f"workers must be at most {MOST_WORKERS}, got {self.workers}")
        if self.watch is not None and not checked_number("watch", self.watch) > 0:
            raise InvalidValueError(f"watch must be > 0, got {self.watch}")

    @property
    def url(self) -> str:
        """The address for a browser."""
        return f"http://{self.host_in_urls}:{self.port}"

    @property
    def host_in_urls(self) -> str:
        """Where to listen, as a URL and the Host header have it: an IPv6 address is in brackets."""
        return f"[{self.host}]" if ":" in self.host else self.host


def address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return the address that a host names; "localhost" is 127.0.0.1."""
    try:
        return ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError as error:
        raise InvalidValueError(
            f"host must be an address of this machine, such as 127.0.0.1 or 0.0.0.0, got {host!r}"
        ) from error


def key_for(host: str, key_file: Path | None, no_key: bool) -> str | None:
    """Read the key. Only on loopback may it be absent, unless `no_key` says that it is meant to be."""
    if key_file is not None:
        if no_key:
            raise InvalidValueError("--key-file and --no-key exclude each other")
        return read_key(key_file)
    if not no_key and not address_of(host).is_loopback:
        raise InvalidValueError(
            f"--host {host} can be reached from elsewhere, so --key-file is required; --no-key serves "
            "everyone who can reach it"
        )
    return None


def read_key(path: Path) -> str:
    """Read the one line of a key file."""
    with path.open("rb") as file:
        content = file.read(MOST_KEY + 2)
    try:
        key = content.decode("ascii").strip()
    except UnicodeDecodeError as error:
        raise InvalidValueError(f"{path}: a key must be ASCII") from error
    if not LEAST_KEY <= len(key) <= MOST_KEY or not key.isprintable() or " " in key:
        raise InvalidValueError(
            f"{path}: a key is one line of {LEAST_KEY} to {MOST_KEY} characters without spaces, got "
            f"{len(key)} characters"
        )
    return key


def is_open_to_others(path: Path) -> bool:
    """Whether other users of this machine may read a file."""
    return bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))
