"""Clients that ask without a pause, and compare each answer."""

from __future__ import annotations

import http.client
import json
import random
import threading

from torture.serving.known import Known, pairs_of

HEADER = "x-ialspp-model"
TIMEOUT = 60


class Asker(threading.Thread):
    """A thread with one connection. It notes each answer that fails or is not that of its model."""

    def __init__(self, port: int, models: list[Known], seed: int, over: threading.Event) -> None:
        super().__init__()
        self.answers = 0
        self.faults: list[str] = []
        self.seen: set[str] = set()
        self._port, self._over = port, over
        self._known = {model.checksum: model for model in models}
        self._random = random.Random(seed)
        self._requests = sorted(models[0].answers)

    def run(self) -> None:
        """Ask until it is over."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=TIMEOUT)
        try:
            while not self._over.is_set():
                self._ask(connection, *self._random.choice(self._requests))
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.faults.append(f"answer {self.answers} failed: {error!r}")
        finally:
            connection.close()

    def _ask(self, connection: http.client.HTTPConnection, path: str, body: str) -> None:
        connection.request("POST" if body else "GET", path, body or None)
        answer = connection.getresponse()
        content, checksum = answer.read(), answer.headers[HEADER]
        self.answers += 1
        if answer.status != 200 or checksum not in self._known:
            self.faults.append(f"{path} {body}: status {answer.status}, model {checksum}, {content[:200]!r}")
            return
        self.seen.add(checksum)
        if pairs_of(json.loads(content)) != self._known[checksum].answers[path, body]:
            self.faults.append(f"{path} {body}: not the answer of model {checksum}")


def checksum_served(port: int) -> str:
    """Ask a service which model it answers from."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    try:
        connection.request("GET", "/health/ready")
        checksum: str = json.load(connection.getresponse())["model"]
        return checksum
    finally:
        connection.close()
