"""A Ray cluster on this machine, whose nodes and workers can be killed while something runs on it."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

NODES = 2  # beside the driver's
STORE = 128 * 2**20  # bytes of the object store of a node
WORKER = b"ray::Worker"


class Arena:
    """The cluster. The driver's own node is never killed: its loss is that of the driver."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self.events: Counter[str] = Counter()
        self._others: list[Any] = []

    def __enter__(self) -> Arena:
        import ray
        from ray.cluster_utils import Cluster

        # By default workers run at the lowest priority but four: on a busy machine they would hardly start.
        os.environ.setdefault("RAY_worker_niceness", "0")
        # A node that refuses connections is taken for lost in seconds; one that is only slow is not.
        checks = {"health_check_period_ms": 500, "health_check_failure_threshold": 3}
        head = {
            "num_cpus": 1,
            "object_store_memory": STORE,
            "include_dashboard": False,
            "_system_config": checks,
        }
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        for _ in range(NODES):
            self._join()
        ray.init(address=self._cluster.address, log_to_driver=False)
        return self

    def __exit__(self, *_: object) -> None:
        import ray

        ray.shutdown()
        self._cluster.shutdown()

    def disturb(self, pauses: list[float], over: threading.Event) -> None:
        """Kill and join, each after a pause, until the fit is over."""
        for pause in pauses:
            if over.wait(pause):
                return
            self._event()

    def _event(self) -> None:
        """Kill a worker or a node, or let a node join."""
        kinds = ["worker"] + ["node", "raylet"] * bool(self._others) + ["join"] * (len(self._others) < NODES)
        kind = self._draw.choice(kinds)
        if kind == "join":
            self._join()
            self.events["joins"] += 1
        elif kind == "node":
            self._cluster.remove_node(self._drawn(), allow_graceful=False)
            self.events["kills of nodes"] += 1
        elif kind == "raylet":
            os.kill(self._drawn().all_processes["raylet"][0].process.pid, signal.SIGKILL)
            self.events["kills of raylets"] += 1
        elif workers := _workers(self._cluster):
            with suppress(ProcessLookupError):
                os.kill(self._draw.choice(workers), signal.SIGKILL)
                self.events["kills of workers"] += 1

    def _drawn(self) -> Any:
        """Draw the node to lose."""
        return self._others.pop(self._draw.randrange(len(self._others)))

    def _join(self) -> None:
        self._others.append(self._cluster.add_node(num_cpus=1, object_store_memory=STORE))


def _workers(cluster: Any) -> list[int]:
    """Return the processes of the workers of a cluster: those whose node is one of its nodes."""
    nodes = {
        f"RAY_RAYLET_PID={one.process.pid}".encode()
        for node in cluster.list_all_nodes()
        for one in node.all_processes["raylet"]
    }
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            variables = (folder / "environ").read_bytes().split(b"\0")
            if (folder / "cmdline").read_bytes().startswith(WORKER) and not nodes.isdisjoint(variables):
                found.append(int(folder.name))
    return found
