"""RayCluster: where `cluster=...` trains, ranks, evaluates and folds in."""

from __future__ import annotations

import ipaddress
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..data.interactions import Interactions
from ..errors import InvalidStateError, InvalidValueError, MissingExtraError
from ..system.checks import checked_integer
from ..system.machine import selected_isa
from ..system.progress import Progress, reporting

if TYPE_CHECKING:
    from .batches import Calls
    from .crew import Crew, Start
    from .training import ClusterPlace

Shared = TypeVar("Shared")
Batch = TypeVar("Batch")
Result = TypeVar("Result")


_ADDRESS = re.compile(r"(\[[0-9a-fA-F:.]+\]|[\w.-]+):[0-9]{1,5}")  # a number of IPv6 is in brackets
ANSWER = 10.0  # seconds until a cluster that does not answer is not there
FACTS = ("estimate", "seconds_to_start", "nodes", "received", "lost")


@dataclass(slots=True, kw_only=True)
class RayCluster:
    """A Ray cluster on which models are trained and queried, with the same bits as on one machine.

    To train on, data must be open from a file (`Interactions.open`) that every node can read under the same
    path, unless it is sent to them (`push_to`). Every node must also see the file of a model that is loaded.
    A model in memory is sent to every node, once.

    Each call starts workers of its own, which takes a second or more. Calls in a block
    `with RayCluster(...) as cluster:` share their workers, which end with the block.

    Parameters
    ----------
    address
        The address of a running cluster, such as "auto" or "10.0.0.1:6379". None or "local": the
        cluster that this process is connected to, or else a new one here, for as long as the call lasts.
    workers
        The number of worker processes on all nodes together. None: one on each node, which is best.
    threads
        The threads of each worker. None: the CPUs of its node, shared out among the node's workers.
    fetch
        What a node fetches of the side that is held fixed. "side": all of it. "rows": for one batch of its
        own rows after the other, only what their interactions name, so that a node needs far less memory than
        a whole side. "auto": "side" where the object store of every node has room for it, else "rows".
    push_to
        A folder on the disk of every node, as an absolute path. The data of a fit is sent there, once for
        all fits on the same file, and a copy of an older file of that name is removed. None: every node
        reads the data under the driver's path.

    Attributes
    ----------
    seconds_to_start
        How long it took to connect and to start the workers of the last call.
    received
        The bytes of factors that each node received in the last fit, by its id in Ray. The driver is one of
        the nodes; it receives all factors, for the history, callbacks and checkpoints.
    lost
        How many workers died in the last call.
    estimate
        What the last fit was estimated to need and to move, as plain values: "fetch"; the bytes of the object
        store of the "driver"'s node and of any "other"; the bytes "received" by a node in an epoch.
    nodes
        What each node did in the last fit, by its id in Ray: its "name", the "pieces" and "rows" that it
        updated, the "seconds" of its workers together, and "rows_per_second" of a worker.
    """

    address: str | None = None
    workers: int | None = None
    threads: int | None = None
    fetch: Literal["auto", "side", "rows"] = "auto"
    push_to: str | Path | None = None
    seconds_to_start: float = field(default=0.0, init=False, compare=False)
    received: dict[str, int] = field(default_factory=dict, init=False, compare=False)
    lost: int = field(default=0, init=False, compare=False)
    estimate: dict[str, Any] = field(default_factory=dict, init=False, compare=False)
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict, init=False, compare=False)
    _block: ExitStack | None = field(default=None, init=False, compare=False, repr=False)
    _crew: Crew | None = field(default=None, init=False, compare=False, repr=False)  # of the block
    _tasks: int = field(default=0, init=False, compare=False, repr=False)  # that were begun

    def __post_init__(self) -> None:
        for name in ("workers", "threads"):
            if getattr(self, name) is not None:
                checked_integer(name, getattr(self, name), 1)
        if self.fetch not in ("auto", "side", "rows"):
            raise InvalidValueError(f'fetch must be "auto", "side" or "rows", got {self.fetch!r}')
        if self.push_to is not None and not Path(self.push_to).is_absolute():
            raise InvalidValueError(
                f"push_to must be an absolute path, which means the same on every node, got {self.push_to}"
            )
        if self.address is not None and self.address.startswith("ray://"):
            raise InvalidValueError(
                f"the driver must run on a node of the cluster, whose memory it shares; got the address of a "
                f"client, {self.address}: start it on a node, or as a job of Ray"
            )
        if self.address not in (None, "local", "auto") and not _ADDRESS.fullmatch(self.address):
            raise InvalidValueError(
                f'address must be "auto", "local" or the HOST:PORT of a Ray cluster, got {self.address!r}'
            )

    def facts(self) -> dict[str, Any]:
        """Describe the last fit as plain values. Its start and its losses may be those of a later call.

        Examples
        --------
        A cluster that was not used yet has nothing to tell.

        >>> cluster.facts()
        {'estimate': {}, 'seconds_to_start': 0.0, 'nodes': {}, 'received': {}, 'lost': 0}
        """
        return {name: getattr(self, name) for name in FACTS}

    def __enter__(self) -> RayCluster:
        if self._block is not None:
            raise InvalidStateError("this RayCluster is in a block already, whose workers calls share")
        self._block = ExitStack()
        return self

    def __exit__(self, *error: object) -> None:
        self._end_block()
        self._block = None

    def _end_block(self) -> None:
        """End the workers of the block."""
        if self._block is not None:
            self._crew = None
            self._block.close()

    def batches(
        self,
        work: Callable[[Shared, Batch, int], Result],
        shared: Shared,
        batches: Iterable[Batch],
    ) -> Iterator[Result]:
        """Let workers work on batches, and give the results in their order; see `model.batches`."""
        _require_ray()
        from .batches import AHEAD, Stream

        with self.calls(work, shared, ahead=AHEAD) as calls:
            yield from Stream(calls).results(batches)

    @contextmanager
    def calls(
        self, work: Callable[[Shared, Batch, int], Result], shared: Shared, *, ahead: int = 1
    ) -> Iterator[Calls]:
        """Give workers, each of which works on one batch at a time; see `model.batches`."""
        _require_ray()
        from .batches import Calls, Task

        begun = time.perf_counter()
        with self._crew_of_call() as crew:
            if not crew.members:
                crew.gather()
            self.seconds_to_start = time.perf_counter() - begun
            self._tasks += 1
            calls = Calls(crew, Task.of(self._tasks, work, shared), ahead)
            try:
                yield calls
            finally:
                crew.running = list(calls.running)

    @contextmanager
    def _crew_of_call(self) -> Iterator[Crew]:
        """Give workers, and count those that die: in a block the same ones for all calls, else new ones."""
        with nullcontext(self._crew_of_block()) if self._block is not None else self._new_crew() as crew:
            before = crew.lost
            try:
                yield crew
            except BaseException:
                if self._block is not None and not crew.is_idle():
                    self._end_block()  # or they would go on with what nobody waits for
                raise
            finally:
                self.lost = crew.lost - before

    def _crew_of_block(self) -> Crew:
        """Return the workers of the block: others where these were started with other settings."""
        assert self._block is not None
        if self._crew is not None and self._crew.start != self._start():
            self._end_block()
        if self._crew is None:
            self._crew = self._block.enter_context(self._new_crew())
        return self._crew

    @contextmanager
    def _new_crew(self) -> Iterator[Crew]:
        """Connect to the cluster. Workers that are started on it end in the end."""
        from .crew import Crew

        with self._connected():
            crew = Crew(self._start())
            try:
                yield crew
            finally:
                crew.dismiss()

    def _start(self) -> Start:
        from .crew import Start

        return Start(selected_isa(), self.workers, self.threads)

    @contextmanager
    def training(self, data: Interactions, dim: int, progress: Progress = False) -> Iterator[ClusterPlace]:
        """Give workers that have this data open, for fits on it."""
        _require_ray()
        if data.file is None:
            raise InvalidValueError(
                "a cluster trains on data in a file that every node can read: data.save(path), and then "
                "Interactions.open(path)"
            )
        from .training import training

        begun = time.perf_counter()
        fetch = None if self.fetch == "auto" else self.fetch
        folder = None if self.push_to is None else Path(self.push_to)
        with (
            self._crew_of_call() as crew,
            training(crew, data, dim, fetch, folder) as place,
        ):
            self.seconds_to_start = time.perf_counter() - begun
            self.estimate = asdict(place.estimate)
            workers = len(place.crew.members)
            with reporting("starting", workers, progress, keep=True) as report:
                report(workers, note=f"{workers} workers; {place.estimate}")
            try:
                yield place
            finally:
                self.received = dict(place.mapper.traffic.received)
                works = place.mapper.watch.updates
                self.nodes = {node: work.facts() for node, work in works.items()}

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """Connect this process to the cluster, unless it is connected already."""
        import ray

        if ray.is_initialized():
            self._require_same(ray.get_runtime_context().gcs_address, ray.util.get_node_ip_address())
            yield
            return
        # "local" is a cluster of its own: by default Ray would join any other that runs on this machine.
        new = {"address": "local", "include_dashboard": False}
        options: dict[str, Any] = new if self.address in (None, "local") else {"address": self.address}
        self._require_answer()
        with sigterm_kept():
            try:
                ray.init(**options, log_to_driver=False)
            except ConnectionError as error:
                raise InvalidStateError(
                    f"address is {self.address!r}, but no Ray cluster is there: {str(error).splitlines()[0]}"
                ) from error
            except BaseException:
                ray.shutdown()  # what was started so far
                raise
        try:
            yield
        finally:
            ray.shutdown()

    def _require_answer(self) -> None:
        """Raise an error if nothing listens at the address of a cluster, for which Ray waits for minutes."""
        if self.address in (None, "local", "auto"):
            return
        host, _, port = self.address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), ANSWER).close()
        except (OSError, OverflowError, ValueError) as error:  # the others: no such port, no such name
            raise InvalidStateError(
                f"address is {self.address!r}, but no Ray cluster answers there: {error}"
            ) from error

    def _require_same(self, connected: str, here: str) -> None:
        """Raise an error if this process is connected to another cluster than the one that is wanted."""
        wanted = self.address
        if wanted not in (None, "auto", "local") and not are_same(wanted, connected, here):
            raise InvalidStateError(
                f"address is {wanted!r}, but this process is connected to the Ray cluster at {connected!r}; "
                "call ray.shutdown() first, or leave address out to use that cluster"
            )


def are_same(wanted: str, connected: str, here: str) -> bool:
    """Tell whether two addresses name the same place; `here` is the number of this machine on its network."""
    (host, _, port), (other, _, its_port) = wanted.rpartition(":"), connected.rpartition(":")
    try:
        return port == its_port and _number_of(host, here) == _number_of(other, here)
    except (OSError, ValueError):
        return wanted == connected


def _number_of(host: str, here: str) -> str:
    name = host.strip("[]")
    with suppress(ValueError):  # a number already, perhaps of IPv6, which gethostbyname does not know
        return here if ipaddress.ip_address(name).is_loopback else name
    number = socket.gethostbyname(name)
    return here if ipaddress.ip_address(number).is_loopback else number


@contextmanager
def sigterm_kept() -> Iterator[None]:
    """Keep this process's handler of SIGTERM, which Ray replaces by one that ends the process."""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    except SystemExit as ended:  # by Ray's, before ours was there again
        if ended.code == signal.SIGTERM and callable(handler):
            handler(signal.SIGTERM, None)
        raise
    finally:
        if threading.current_thread() is threading.main_thread() and handler is not None:
            signal.signal(signal.SIGTERM, handler)


def _require_ray() -> None:
    try:
        import ray  # noqa: F401 - whether it is there
    except ImportError as error:
        raise MissingExtraError("a cluster needs ray: pip install 'ialspp[ray]'") from error
