"""One worker: an event loop, the application, and the signals that concern it."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType

from granian.constants import Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from .app import create_app
from .service import Service
from .settings import Settings, address_of

LARGEST_HEADERS = 2**15  # bytes
BACKLOG = 1024


@contextmanager
def reloads_held() -> Iterator[None]:
    """Let SIGHUP wait until `run` can act on it: it would end a process that still loads its model.

    Processes that are started meanwhile inherit this. Other threads of this process may not block the signal;
    then the handler passes it on to the main thread, which does.
    """
    if not hasattr(signal, "SIGHUP"):  # Windows
        yield
        return
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    handler = signal.signal(signal.SIGHUP, _hold)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _hold(number: int, _frame: FrameType | None) -> None:
    """Let a signal wait in this thread, which is the main one: Python calls handlers there."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    signal.pthread_kill(threading.get_ident(), number)


def run(service: Service, started: Callable[[], None] = lambda: None) -> None:
    """Answer requests until SIGTERM or SIGINT. Requests that are being answered then get their answer.

    SIGHUP loads the model file again. `started` is called when the first request can come.
    """
    _run(_serve(service, started))


def _run(work: Coroutine[None, None, None]) -> None:
    """Run an event loop: that of uvloop where there is one, which takes a tenth less time for a request."""
    try:
        import uvloop
    except ImportError:  # Windows
        asyncio.run(work)
    else:
        uvloop.run(work)


async def _serve(service: Service, started: Callable[[], None]) -> None:
    settings, loop = service.settings, asyncio.get_running_loop()
    seconds = settings.limits.seconds
    server = Server(
        create_app(service),
        address=str(address_of(settings.host)),
        port=settings.port,
        interface=Interfaces.ASGI,
        http="1",  # type: ignore[arg-type]  # the value of granian's enumeration
        websockets=False,
        backlog=BACKLOG,
        backpressure=2 * settings.limits.waiting,  # requests beyond the limit get an answer that says so
        http1_settings=HTTP1Settings(
            header_read_timeout=max(1, round(1000 * seconds)), max_buffer_size=LARGEST_HEADERS
        ),
        log_enabled=False,
    )
    tasks: set[asyncio.Task[None]] = set()

    def begin(work: Coroutine[None, None, None]) -> None:
        task = loop.create_task(work)
        tasks.add(task)  # or it could be collected while it runs
        task.add_done_callback(tasks.discard)

    begin(_announce(settings, started))
    _on(signal.SIGTERM, loop, server.stop)
    _on(signal.SIGINT, loop, server.stop)
    if hasattr(signal, "SIGHUP"):
        # Also after `nohup`, which ignores it only so that the end of the terminal does not end the server.
        signal.signal(signal.SIGHUP, _calling(loop, lambda: begin(service.reloader.try_reload())))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})
    logging.getLogger("_granian").setLevel(logging.CRITICAL)
    await server.serve()


async def _announce(settings: Settings, started: Callable[[], None]) -> None:
    """Call a function as soon as connections are accepted, which granian does not tell."""
    address = address_of(settings.host)
    here = ("::1" if address.version == 6 else "127.0.0.1") if address.is_unspecified else str(address)
    while True:
        try:
            _, writer = await asyncio.open_connection(here, settings.port)
        except OSError:
            await asyncio.sleep(0.01)
        else:
            writer.close()
            return started()


def _on(number: signal.Signals, loop: asyncio.AbstractEventLoop, action: Callable[[], None]) -> None:
    """Let a signal do something in the event loop. A signal that is ignored stays ignored."""
    if signal.getsignal(number) is not signal.SIG_IGN:
        signal.signal(number, _calling(loop, action))


def _calling(
    loop: asyncio.AbstractEventLoop, action: Callable[[], None]
) -> Callable[[int, FrameType | None], None]:
    """Make a handler of signals that does something in the event loop."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(action)

    return handle
