"""Our service beside implicit behind FastAPI and uvicorn: requests a second, and latency at half of them.

python benchmarks/serve.py                  MovieLens 1M from ../shared/data, d = 128
python benchmarks/serve.py --items 1000000  generated items and users, d = 128

All run on this machine, one after the other, with the same number of workers, and again in each round. Before
the time is taken, their answers are compared.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from load import answer_to, paced, request_of, saturated

from ialspp import ImplicitMF, Interactions

ROOT = Path(__file__).resolve().parents[1]
ML1M = ROOT.parent / "shared" / "data" / "ml-1m" / "ratings.dat"
SYSTEMS = ("ialspp", "implicit, FastAPI in threads", "implicit, FastAPI in its loop")
REQUESTS = 2000  # different ones
K = 10


def model_of(items: int | None, dim: int, path: Path) -> ImplicitMF:
    """Train on MovieLens 1M, or draw vectors for generated items, which no answer's time depends on."""
    if items is None:
        table = np.loadtxt(ML1M, delimiter=":", usecols=(0, 2), dtype=np.int64)
        data = Interactions.from_arrays(user=table[:, 0], item=table[:, 1])
        model = ImplicitMF(dim, epochs=4).fit(data, progress=False)
    else:
        rng = np.random.default_rng(0)
        user = np.repeat(np.arange(20_000), 50)
        item = np.concatenate(
            [np.arange(items)[:: max(1, items // len(user))], rng.integers(items, size=len(user))]
        )
        data = Interactions.from_arrays(user=user, item=item[: len(user)], items=np.arange(items))
        model = ImplicitMF(dim, epochs=0, init="random").fit(data, progress=False)
    model.save(path)
    return model


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Running(NamedTuple):
    port: int
    process: int

    def cpu_seconds(self) -> float:
        """The CPU time of the process and of its children so far."""
        stats = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                after_name = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            stats[int(folder.name)] = int(after_name[1]), int(after_name[11]) + int(after_name[12])
        family = {self.process} | {number for number, (parent, _) in stats.items() if parent == self.process}
        return sum(stats[number][1] for number in family & stats.keys()) / os.sysconf("SC_CLK_TCK")


@contextmanager
def running(system: str, path: Path, workers: int) -> Iterator[Running]:
    """Start a service, wait until it answers, and end it."""
    port = free_port()
    environment = {
        **os.environ,
        "MODEL": str(path),
        "IALSPP_PEER": "thread" if "threads" in system else "loop",
    }
    if system == "ialspp":
        command = ["-m", "ialspp", "serve", str(path), "--port", str(port), "--workers", str(workers)]
    else:
        environment["OPENBLAS_NUM_THREADS"] = "1"  # as implicit asks for
        command = ["-m", "uvicorn", "serve_peer:app", "--port", str(port), "--workers", str(workers)]
        command += ["--app-dir", str(ROOT / "benchmarks"), "--log-level", "critical"]
    process = subprocess.Popen(
        [sys.executable, *command], env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    try:
        wait_for(port, process)
        yield Running(port, process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            time.sleep(1)  # for the other workers
            return
    raise RuntimeError("a service did not start")


def items_in(answer: Any) -> list[int]:
    return [item["id"] for item in answer["items"]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, help="generate so many items instead of MovieLens 1M")
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ialspp-bench-") as folder:
        path = Path(folder) / "model.ialspp"
        model = model_of(options.items, options.dim, path)
        rng = np.random.default_rng(1)
        users = rng.choice(model.users.ids, REQUESTS).tolist()
        requests = [request_of("/v1/recommend", {"user": user, "k": K}) for user in users]
        print(
            f"{len(model.items):,} items, d = {options.dim}, {options.workers} workers, "
            f"{options.connections} connections"
        )
        measure(options, model, path, users, requests)


def measure(options: Any, model: ImplicitMF, path: Path, users: list[int], requests: list[bytes]) -> None:
    rates: dict[str, list[float]] = {system: [] for system in options.systems}
    for number in range(options.rounds):
        for system in options.systems:
            with running(system, path, options.workers) as service:
                port = service.port
                for user, request in list(zip(users, requests, strict=True))[:20]:
                    assert items_in(answer_to(port, request)) == model.recommend(user, K), system
                saturated(port, options.connections, cycle(requests), 1.0)  # warm
                before = service.cpu_seconds()
                full = saturated(port, options.connections, cycle(requests), options.seconds)
                cpu = (service.cpu_seconds() - before) / max(1, len(full.latencies))
                pace = max(full.rate, 2 / options.seconds) / 2  # also of a service that has not answered yet
                half = paced(port, options.connections, cycle(requests), options.seconds, pace)
            rates[system].append(full.rate)
            print(
                f"round {number}  {system:30}  {full.rate:7.0f} requests/s  p50 {full.percentile(0.5):6.1f}  "
                f"p99 {full.percentile(0.99):6.1f} ms, {1e6 * cpu:5.0f} us of CPU each;  "
                f"at half  p50 {half.percentile(0.5):6.1f}  "
                f"p99 {half.percentile(0.99):6.1f} ms;  {full.failed + half.failed} failed",
                flush=True,
            )
    for system in options.systems:
        ratio = (
            median(rates["ialspp"]) / max(median(rates[system]), 1e-9) if "ialspp" in rates else float("nan")
        )
        print(f"median  {system:30}  {median(rates[system]):7.0f} requests/s  ialspp: {ratio:.1f}x")


if __name__ == "__main__":
    main()
