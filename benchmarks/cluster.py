"""What Ray costs: fits on two workers of one thread each, in turn with fits on two threads of this machine.

    python benchmarks/cluster.py --dims 128 512

Data of ML20M's shape (`--scale` of it) is saved to a temporary file. Prints the seconds of each epoch, the
ratio of the medians without each fit's first epoch, the seconds to start the workers, and the bytes that
nodes received in an epoch. Saves benchmarks/results/cluster.json.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from statistics import median
from typing import Any

from cases import prepared

from ialspp import ImplicitMF, Interactions
from ialspp.cluster import RayCluster

RESULTS = Path(__file__).parent / "results"
WORKERS = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dims", type=int, nargs="+", default=[128, 512])
    parser.add_argument("--scale", type=float, default=1.0, help="of generated data")
    parser.add_argument("--epochs", type=int, default=5, help="of each fit")
    parser.add_argument("--rounds", type=int, default=2, help="of one fit here and one on Ray")
    options = parser.parse_args()
    os.environ.setdefault("RAY_worker_niceness", "0")  # the same priority as this process
    with prepared("ml20m", options.scale) as data:
        print(data)
        found = [compared(data, dim, options) for dim in options.dims]
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "cluster.json").write_text(json.dumps(found, indent=1))


def compared(data: Interactions, dim: int, options: argparse.Namespace) -> dict[str, Any]:
    """Fit in turn on two threads and on two workers."""
    here: list[float] = []
    there: list[float] = []
    cluster = RayCluster(workers=WORKERS, threads=1)
    for _ in range(options.rounds):
        local = ImplicitMF(dim, epochs=options.epochs, threads=WORKERS).fit(data, progress=False)
        remote = ImplicitMF(dim, epochs=options.epochs).fit(data, cluster=cluster, progress=False)
        assert remote.item_factors.tobytes() == local.item_factors.tobytes()
        here += [record.seconds for record in local.history[1:]]
        there += [record.seconds for record in remote.history[1:]]
    facts = {
        "dim": dim,
        "pairs": len(data),
        "local": here,
        "ray": there,
        "ratio": median(there) / median(here),
        **cluster.facts(),
    }
    texts = [" ".join(f"{seconds:.2f}" for seconds in times) for times in (here, there)]
    print(
        f"d = {dim}: here {texts[0]}; on Ray {texts[1]}; {facts['ratio']:.3f} times as long; "
        f"{cluster.seconds_to_start:.1f} s to start; received {sum(cluster.received.values()):,} bytes",
        flush=True,
    )
    return facts


if __name__ == "__main__":
    main()
