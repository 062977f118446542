"""Services to ask: inside this process, or in one of their own on loopback."""

import re
import signal
import subprocess
import threading
from contextlib import contextmanager

import httpx
from litestar.testing import TestClient

from ialspp.serving.app import create_app
from ialspp.serving.service import Service
from ialspp.serving.settings import Limits, Settings
from support.commands import COMMAND, environment
from support.processes import PATIENCE, wait_until

MODEL = "x-ialspp-model"
LOCAL = "http://127.0.0.1"


@contextmanager
def client_of(path, *, limits=None, raise_errors=True, **settings):
    """A client of a service in this process, and the service."""
    service = Service(
        Settings(model=path, watch=None, threads=2, limits=Limits(**(limits or {})), **settings)
    )
    app = create_app(service)
    with TestClient(app, base_url=LOCAL, raise_server_exceptions=raise_errors) as client:
        yield client, service


class Process:
    """`ialspp serve` in a process of its own, on a free port of 127.0.0.1."""

    def __init__(self, path, *options, **settings):
        self.process = subprocess.Popen(
            [COMMAND, "serve", str(path), "--port", "0", *map(str, options)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(IALSPP_THREADS="1"),
            **settings,
        )
        self.lines, self.output = [], []
        self._readers = [
            threading.Thread(target=lambda: self.lines.extend(self.process.stderr), daemon=True),
            threading.Thread(target=lambda: self.output.extend(self.process.stdout), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def said(self):
        return "".join(self.lines)

    def url(self):
        """Wait until it answers."""
        wait_until(lambda: "/docs" in self.said or self.process.poll() is not None)
        found = re.search(r"http://127\.0\.0\.1:\d+", self.said)
        assert found, self.said
        return found[0]

    def send(self, number):
        self.process.send_signal(number)

    def end(self, number=signal.SIGTERM):
        """Tell it to end, and return its exit code."""
        if self.process.poll() is None:
            self.send(number)
        return self.ended()

    def ended(self):
        """Wait for its end without telling it again, and return its exit code.

        A second signal would find the interpreter on its way out, without its handlers, and kill it.
        """
        code = self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()
        return code


@contextmanager
def serving(path, *options):
    """A service in a process of its own, and a client of it."""
    process = Process(path, *options)
    try:
        with httpx.Client(base_url=process.url(), timeout=PATIENCE) as client:
            yield client, process
    finally:
        process.end()


def problem(answer, status, *words):
    """Check that an answer is a problem with these words, and return it."""
    assert answer.status_code == status, (answer.status_code, answer.text)
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    assert {"type", "title", "status", "detail"} <= found.keys()
    assert found["status"] == status
    for word in words:
        assert str(word) in found["detail"], (word, found["detail"])
    return found
