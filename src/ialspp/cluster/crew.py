"""Workers: started, given work, replaced when they die, joined by those of new nodes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from ..errors import InvalidStateError
from ..files.parsing import StoreError
from ..system.log import log
from .copies import DataFile
from .fetching import BESIDE
from .jobs import Piece
from .lost import LOST, is_loss
from .needs import Fetch
from .worker import Worker

LOOK_FOR_NODES = 1.0  # seconds from one look at the nodes of the cluster to the next
FIRST = 120.0  # seconds until work begins without the workers that have not started yet
ANSWERING = 2  # threads of a worker that send rows to others and tell how far it is
PATIENCE = 300.0  # seconds without a single worker until the driver gives up
REFUSALS = (InvalidStateError, StoreError, OSError)  # errors of a worker that starts which would happen again


@dataclass(eq=False)
class Member:
    """A worker, as the driver sees it."""

    actor: Any
    node: str  # its id in Ray
    name: str  # of the node, for people
    threads: int
    ready: Any  # a reference that has a value once the worker can do jobs


@dataclass(frozen=True, slots=True)
class Start:
    """How workers are started, and how many."""

    isa: str
    workers: int | None  # on all nodes together; None: one on each
    threads: int | None  # of each worker; None: the CPUs of its node, shared out

    def actor(self, options: dict[str, Any], threads: int) -> Any:
        """Start a worker with these options of Ray's."""
        kind = ray.remote(concurrency_groups={BESIDE: ANSWERING})(Worker)
        return kind.options(**options).remote(self.isa, threads)


@dataclass(frozen=True, slots=True)
class Training:
    """What workers need to know of a fit before its first job."""

    file: DataFile
    fetch: Fetch

    @property
    def patience(self) -> float:
        """The seconds that workers may take longer to be ready."""
        return 0.0 if self.file.copies is None else self.file.copies.patience


@dataclass(eq=False)
class Crew:
    """All workers, which pieces each of them has, and the fit that they are for, if they are for one."""

    start: Start
    training: Training | None = None
    members: list[Member] = field(default_factory=list)
    starting: list[Member] = field(default_factory=list)
    running: list[Any] = field(default_factory=list)  # references of calls that the driver waits for
    lost: int = 0  # how many have died so far
    nodes: set[str] = field(default_factory=set)  # those that were alive at the last look
    _names: dict[str, str] = field(default_factory=dict)
    _looked: float = float("-inf")

    def gather(self) -> None:
        """Start the first workers, and wait for them; those that cannot be started in time may come later."""
        begun = time.monotonic()
        self._look_for_nodes()
        while self.starting and time.monotonic() - begun < FIRST:
            ray.wait([member.ready for member in self.starting], timeout=1)
            self._take_in()
            self._look_for_nodes()
        self.require_members()

    def begin_training(self, training: Training) -> None:
        """Let all workers open the data of a fit, and wait for them. Those that come later open it, too."""
        self.training = training
        self.starting = [*self.starting, *self.members]
        self.members = []
        for member in self.starting:
            member.ready = self._asked_to_be_ready(member.actor)
        self.gather()

    def end_training(self) -> None:
        """Let all workers free what they have of the fit."""
        self.training = None
        for member in (*self.members, *self.starting):
            member.actor.close.remote()

    def is_idle(self) -> bool:
        """Tell whether workers have done all that they were asked to, or do so within a second."""
        left = [*self.running, *(member.ready for member in self.starting)]
        self.running = []
        return not left or not ray.wait(left, num_returns=len(left), timeout=1, fetch_local=False)[1]

    @property
    def patience(self) -> float:
        """The seconds without a single worker until the driver gives up."""
        return PATIENCE + (0.0 if self.training is None else self.training.patience)

    def require_members(self) -> None:
        """Wait until there is a worker; raise an error if none comes."""
        begun = time.monotonic()
        while not self.members:
            if time.monotonic() - begun > self.patience:
                raise InvalidStateError(
                    f"no worker for {self.patience:.0f} seconds: {self.lost} were lost, and no node of the "
                    "Ray cluster has free CPUs for another; a fit with a checkpoint can be resumed later"
                )
            self._look_for_nodes()
            if self.starting:
                ray.wait([member.ready for member in self.starting], timeout=1)
            else:
                time.sleep(LOOK_FOR_NODES)
            self._take_in()

    def dismiss(self) -> None:
        """End all workers."""
        for member in (*self.members, *self.starting):
            ray.kill(member.actor)
        self.members, self.starting = [], []

    def refresh(self) -> None:
        """Take in workers that have become ready, and start some on nodes that have joined the cluster."""
        if time.monotonic() - self._looked > LOOK_FOR_NODES:
            self._look_for_nodes()
        self._take_in()

    def drop(self, member: Member, error: BaseException) -> None:
        """Forget a worker that is lost. Its node may get another one."""
        if member in self.members:
            self.members.remove(member)
            self.lost += 1
            self.doubt_nodes()
            log("a worker is lost, %d are left: %s", len(self.members), str(error).split("\n")[0])

    def doubt_nodes(self) -> None:
        """Look at the nodes again before the next jobs: one may be lost."""
        self._looked = float("-inf")

    def share_out(
        self, pieces: Mapping[int, Piece], shards: Mapping[str, int]
    ) -> list[tuple[Member, list[int]]]:
        """Share out numbered pieces: to each worker consecutive ones, as many as its threads can do.

        shards: how many each side has. They cost alike, and pieces do not. A piece has its place among all of
        them, so that the same worker gets it again while the workers stay the same.
        """
        ends, threads = [], 0
        for member in self.members:
            threads += member.threads
            ends.append(threads)
        shares: list[list[int]] = [[] for _ in self.members]
        for number, piece in pieces.items():
            place = sum(piece.node) / 2 / shards[piece.side] * threads
            shares[next(worker for worker, end in enumerate(ends) if place < end)].append(number)
        return [(member, share) for member, share in zip(self.members, shares, strict=True) if share]

    def _look_for_nodes(self) -> None:
        """Start a worker wherever a node has fewer than it should."""
        self._looked = time.monotonic()
        for node, (workers, cpus) in self._wanted().items():
            here = [member for member in (*self.members, *self.starting) if member.node == node]
            for _ in range(workers - len(here)):
                self.starting.append(self._started(node, cpus))

    def _wanted(self) -> dict[str, tuple[int, float]]:
        """Return how many workers each node should have, and the CPUs of each of them."""
        alive = sorted((node for node in ray.nodes() if node["Alive"]), key=lambda node: str(node["NodeID"]))
        self.nodes = {node["NodeID"] for node in alive}
        self._names = _names_of(alive)
        cpus = {
            node["NodeID"]: int(node["Resources"]["CPU"])
            for node in alive
            if node["Resources"].get("CPU", 0) >= 1
        }
        if self.start.workers is None:
            counts = dict.fromkeys(cpus, 1)
        else:
            shares = [len(range(place, self.start.workers, len(cpus))) for place in range(len(cpus))]
            counts = dict(zip(cpus, shares, strict=True))
        return {
            node: (count, cpus[node] // count if count <= cpus[node] else cpus[node] / count)
            for node, count in counts.items()
            if count
        }

    def _started(self, node: str, cpus: float) -> Member:
        threads = self.start.threads or max(1, int(cpus))
        there = NodeAffinitySchedulingStrategy(node, soft=False)
        options = {"num_cpus": cpus, "scheduling_strategy": there, "max_restarts": 0}
        actor = self.start.actor(options, threads)
        return Member(actor, node, self._names[node], threads, self._asked_to_be_ready(actor))

    def _asked_to_be_ready(self, actor: Any) -> Any:
        """Return a reference that has a value once a worker can do what the crew is for."""
        if self.training is None:
            return actor.ready.remote()
        return actor.open.remote(self.training.file, self.training.fetch)

    def _take_in(self) -> None:
        """Make members of the workers that are ready; forget those that could not be started."""
        if not self.starting:
            return
        refs = [member.ready for member in self.starting]
        done = set(ray.wait(refs, num_returns=len(refs), timeout=0)[0])
        for member in [member for member in self.starting if member.ready in done]:
            self.starting.remove(member)
            try:
                ray.get(member.ready)
            except (RayTaskError, *LOST) as error:
                if not is_loss(error) and isinstance(error.cause, REFUSALS):
                    raise InvalidStateError(
                        f"a worker cannot start on {member.name}: {error.cause}"
                    ) from error
                log("a worker could not be started: %s", str(error).split("\n")[0])
            else:
                self.members.append(member)
                log("a worker with %d threads joins, %d in all", member.threads, len(self.members))


def _names_of(nodes: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Name nodes by their hosts; several nodes of one host also by what their ids begin with."""
    hosts = Counter(node["NodeManagerHostname"] for node in nodes)
    return {
        node["NodeID"]: host if hosts[host] == 1 else f"{host}/{node['NodeID'][:4]}"
        for node in nodes
        for host in [node["NodeManagerHostname"]]
    }
