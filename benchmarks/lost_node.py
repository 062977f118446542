"""What the loss of a node costs: a fit of 16 epochs on three nodes, one of which is killed in the middle.

    python benchmarks/lost_node.py --dim 128
    python benchmarks/lost_node.py --dim 128 --watchful     # health checks every half second

The nodes are those of Ray's test cluster, all on this machine. So the work of the lost node takes the others
no longer than before. What the fit takes longer is the time until the node is missed, and the step that is
done again. Fits that lose a node and fits that lose none take turns. Saves benchmarks/results/lost_node.json.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import ray
from cases import prepared
from ray.cluster_utils import Cluster

from ialspp import ImplicitMF, Interactions
from ialspp.cluster import RayCluster

RESULTS = Path(__file__).parent / "results"
EPOCHS, KILLED_IN = 16, 8
WATCHFUL = {"health_check_period_ms": 500, "health_check_failure_threshold": 3}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--scale", type=float, default=1.0, help="of generated data")
    parser.add_argument("--rounds", type=int, default=2, help="of a fit that loses no node and one that does")
    parser.add_argument("--watchful", action="store_true", help="look at nodes more often than Ray's default")
    options = parser.parse_args()
    os.environ.setdefault("RAY_worker_niceness", "0")  # the same priority as this process
    with prepared("ml20m", options.scale) as data:
        store = max(20 * 4 * options.dim * (data.n_users + data.n_items), 2**27)
        checks = WATCHFUL if options.watchful else {}
        head = {"num_cpus": 1, "object_store_memory": store, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args={**head, "_system_config": checks})
        nodes = [cluster.add_node(num_cpus=1, object_store_memory=store) for _ in range(2)]
        ray.init(address=cluster.address, log_to_driver=False)
        whole, broken, missed = [], [], []
        for _ in range(options.rounds):
            whole.append(seconds_of(data, options.dim, lambda: None))
            lost = nodes.pop()
            killer = Killer(lost)
            broken.append(seconds_of(data, options.dim, killer))
            missed.append(killer.seconds_until_missed())
            cluster.remove_node(lost, allow_graceful=False)  # or it would be waited for in the end
            nodes.append(cluster.add_node(num_cpus=1, object_store_memory=store))
        ray.shutdown()
        cluster.shutdown()
    more = median(broken) / median(whole) - 1
    facts = {"dim": options.dim, "checks": checks, "whole": whole, "broken": broken, "missed": missed}
    print(
        f"d = {options.dim}, {EPOCHS} epochs: {median(whole):.1f} s; with a node killed in epoch {KILLED_IN} "
        f"{median(broken):.1f} s, {more:+.1%}; the node was missed after "
        f"{', '.join(f'{seconds:.1f}' for seconds in missed)} s"
    )
    RESULTS.mkdir(exist_ok=True)
    name = "lost_node_watchful.json" if options.watchful else "lost_node.json"
    (RESULTS / name).write_text(json.dumps({**facts, "more": more}, indent=1))


def seconds_of(data: Interactions, dim: int, strike: Callable[[], None]) -> float:
    """Fit, strike in the middle, and return the seconds of all epochs."""

    def look(_model: ImplicitMF, record: Any) -> None:
        if record.epoch == KILLED_IN - 1:
            threading.Timer(record.seconds / 2, strike).start()

    model = ImplicitMF(dim, epochs=EPOCHS)
    model.fit(data, cluster=RayCluster(), callbacks=[look], progress=False)
    return sum(record.seconds for record in model.history)


class Killer:
    """Kills the processes of a node, and waits until Ray says that it is dead."""

    def __init__(self, node: Any) -> None:
        self._node, self._id = node, node.node_id
        self._missed: list[float] = []
        self._watching: threading.Thread | None = None

    def __call__(self) -> None:
        for processes in self._node.all_processes.values():
            for one in processes:
                os.kill(one.process.pid, signal.SIGKILL)
        self._watching = threading.Thread(target=self._watch, args=[time.perf_counter()])
        self._watching.start()

    def _watch(self, begun: float) -> None:
        while any(node["NodeID"] == self._id and node["Alive"] for node in ray.nodes()):
            time.sleep(0.05)
        self._missed.append(time.perf_counter() - begun)

    def seconds_until_missed(self) -> float:
        assert self._watching is not None
        self._watching.join()
        return self._missed[0]


if __name__ == "__main__":
    main()
