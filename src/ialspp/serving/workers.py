"""Several workers: processes that listen on one port and share the mapped file and the counts."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from pathlib import Path
from types import FrameType

from ..errors import IalsppError, InvalidStateError
from ..system.machine import resolve_threads
from ..system.printable import printable
from . import server
from .metrics import Metrics
from .service import Service
from .settings import Settings, address_of

PAUSE = 1.0  # seconds before a worker that has died is started again
GRACE = 5.0  # seconds that workers get beyond the time limit of a request when they are told to end


def log_to_stderr() -> None:
    """Write what the service has to say of itself to stderr."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="ialspp: %(message)s")
    logging.getLogger("ialspp").setLevel(logging.INFO)


@contextmanager
def reserved(settings: Settings) -> Iterator[Settings]:
    """Hold the port, so that workers can share it and nobody else can; port 0 becomes a free one.

    A worker listens beside others of the same user, so a second service would start without an error and take
    half of the requests. Hence the look whether the port is free.
    """
    address = address_of(settings.host)
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((str(address), settings.port))
        except OSError as error:
            raise InvalidStateError(
                f"port {settings.port} of {settings.host} cannot be used: {error.strerror}"
            ) from error
        port = probe.getsockname()[1]
    with socket.socket(family, socket.SOCK_STREAM) as held:
        if hasattr(socket, "SO_REUSEPORT"):
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            held.bind((str(address), port))
        yield replace(settings, port=port)


def serve(settings: Settings, started: Callable[[Settings], None] = lambda _settings: None) -> None:
    """Serve until a signal ends it: in this process, or in several that this one watches.

    `started` is called, with the port, when the first request can come.
    """
    log_to_stderr()
    with reserved(settings) as known:
        if known.workers == 1:
            with server.reloads_held():
                server.run(Service(known), lambda: started(known))
        else:
            with tempfile.TemporaryDirectory(prefix="ialspp-serve-") as folder:
                Watched(known, Path(folder) / "metrics", started).run()


class Watched:
    """The parent of the workers: it starts them, again if they die, and passes signals on."""

    def __init__(self, settings: Settings, shared: Path, started: Callable[[Settings], None]) -> None:
        Metrics.make_shared(shared, settings.workers)
        threads = settings.threads or max(1, resolve_threads(None) // settings.workers)
        self._settings, self._shared = replace(settings, threads=threads), shared
        self._started = started
        self._context = multiprocessing.get_context("spawn")  # a fork would share threads' locks
        self._ended = threading.Event()
        self._workers: list[BaseProcess] = []

    def run(self) -> None:
        """Run until a signal, then let every worker answer what it has begun."""
        signal.signal(signal.SIGTERM, self._end)
        signal.signal(signal.SIGINT, self._end)
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, self._pass_on)
        self._start_first()
        while not self._ended.wait(PAUSE):
            for number, worker in enumerate(self._workers):
                if not worker.is_alive() and not self._ended.is_set():
                    self._workers[number] = self._begin(number)
        self._stop()

    def _start_first(self) -> None:
        """Start all workers and wait until each can answer. If the model is bad, none can."""
        ready = [self._context.Event() for _ in range(self._settings.workers)]
        self._workers = [self._begin(number, event) for number, event in enumerate(ready)]
        for worker, event in zip(self._workers, ready, strict=True):
            while not event.wait(0.05):
                if self._ended.is_set():
                    return
                if not worker.is_alive():
                    self._stop()
                    raise InvalidStateError("a worker could not start; its message is above")
        self._started(self._settings)

    def _begin(self, number: int, ready: Event | None = None) -> BaseProcess:
        arguments = (self._settings, number, self._shared, ready)
        worker = self._context.Process(target=_work, args=arguments, daemon=True)
        with server.reloads_held(), _interrupts_held():
            worker.start()
        return worker

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        self._ended.set()

    def _pass_on(self, number: int, _frame: FrameType | None) -> None:
        for worker in self._workers:
            if worker.is_alive() and worker.pid is not None:
                os.kill(worker.pid, number)

    def _stop(self) -> None:
        for worker in self._workers:
            worker.terminate()
        until = time.monotonic() + self._settings.limits.seconds + GRACE
        for worker in self._workers:
            worker.join(max(0.0, until - time.monotonic()))
            if worker.is_alive():
                worker.kill()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let Ctrl-C wait. Processes that are started meanwhile inherit this, until they ignore it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _work(settings: Settings, number: int, shared: Path, ready: Event | None) -> None:
    """Be a worker. It ends with its parent."""
    log_to_stderr()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all of them; the parent decides
    parent = os.getppid()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    try:
        service = Service(settings, Metrics(settings.workers, number, shared))
    except (IalsppError, OSError) as error:
        logging.getLogger("ialspp").error("worker %d: %s", number, printable(str(error)))
        sys.exit(2)
    if hasattr(signal, "SIGHUP"):
        service.tell_others = lambda: os.kill(parent, signal.SIGHUP)
    server.run(service, (lambda: None) if ready is None else ready.set)


def _end_with(parent: int) -> None:
    """End this process if its parent has died without a word."""
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)
