"""A load generator for services on 127.0.0.1, bounded in time: one process, plain sockets."""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

HEADER_END = b"\r\n\r\n"


def request_of(path: str, body: object) -> bytes:
    content = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


@dataclass
class Measured:
    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    failed: int = 0

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        """In milliseconds."""
        return 1e3 * float(np.quantile(self.latencies, share)) if self.latencies else float("nan")


class Connection:
    """A socket on which one request is under way at a time."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.begun = 0.0
        self._received = bytearray()

    def send(self, request: bytes, begun: float) -> None:
        self.begun = begun
        self._received.clear()
        self.socket.sendall(request)

    def is_answered(self) -> bool:
        """Read what is there, and tell whether the answer is whole."""
        more = self.socket.recv(1 << 20)
        if not more:
            raise ConnectionError("the service has closed a connection")
        self._received += more
        end = self._received.find(HEADER_END)
        if end < 0:
            return False
        head = bytes(self._received[:end]).lower()
        at = head.index(b"content-length:") + 15
        length = int(head[at : (head + b"\r\n").index(b"\r\n", at)])
        return len(self._received) >= end + 4 + length

    @property
    def is_ok(self) -> bool:
        return self._received.startswith(b"HTTP/1.1 200")

    @property
    def body(self) -> bytes:
        return bytes(self._received[self._received.find(HEADER_END) + 4 :])


def _run(
    port: int, connections: int, requests: Iterable[bytes], seconds: float, rate: float | None
) -> Measured:
    """Send requests: with a rate each at its time, from which latency counts, else as soon as possible."""
    free = [Connection(port) for _ in range(connections)]
    busy: dict[int, Connection] = {}
    poll = select.epoll()
    for each in free:
        poll.register(each.socket.fileno(), select.EPOLLIN)
    upcoming, measured, sent = iter(requests), Measured(), 0
    begun = time.perf_counter()
    while (now := time.perf_counter()) < begun + seconds:
        while free and (due := now if rate is None else begun + sent / rate) <= now:
            connection = free.pop()
            busy[connection.socket.fileno()] = connection
            connection.send(next(upcoming), due)
            sent += 1
        wait = 0.05 if rate is None or not free else min(0.05, begun + sent / rate - now)
        for number, _ in poll.poll(max(0.0, wait)):
            if number not in busy:  # the service closes idle connections
                _renew(free, number, poll)
                continue
            connection = busy[number]
            if connection.is_answered():
                measured.latencies.append(time.perf_counter() - connection.begun)
                measured.failed += not connection.is_ok
                del busy[number]
                free.append(connection)
    measured.seconds = time.perf_counter() - begun
    for connection in [*free, *busy.values()]:
        connection.socket.close()
    poll.close()
    return measured


def _renew(free: list[Connection], number: int, poll: select.epoll) -> None:
    """Open a connection in the place of one that was closed."""
    [place] = [at for at, each in enumerate(free) if each.socket.fileno() == number]
    port = free[place].socket.getpeername()[1]
    poll.unregister(number)
    free[place].socket.close()
    free[place] = Connection(port)
    poll.register(free[place].socket.fileno(), select.EPOLLIN)


def saturated(port: int, connections: int, requests: Iterable[bytes], seconds: float) -> Measured:
    """Keep every connection busy."""
    return _run(port, connections, requests, seconds, None)


def paced(port: int, connections: int, requests: Iterable[bytes], seconds: float, rate: float) -> Measured:
    """Send so many requests a second, whether or not earlier ones are answered."""
    return _run(port, connections, requests, seconds, rate)


def answer_to(port: int, request: bytes) -> object:
    connection = Connection(port)
    try:
        connection.send(request, 0.0)
        while not connection.is_answered():
            pass
        return json.loads(connection.body)
    finally:
        connection.socket.close()
