"""Our solvers and the peers', interleaved epoch by epoch in one run on the same data.

    make bench                                   # ML20M's shape, d = 64 to 1024; half of it at 1024
    python benchmarks/bench.py --dims 128 --scale 0.1 --systems ours/spectral irspack/cg
    python benchmarks/bench.py --smoke           # seconds, for the tests

Prints tables and saves benchmarks/results/NAME.json and NAME.png: seconds per epoch, the loss of our
objective and a held-out recall after each epoch, the time to within 0.1 % of the final loss, our share of the
machine's limits, and with --memory the peak of each system in a process of its own. Peers need
`pip install ".[peers]"`; those that are missing are left out, with a word.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path

import numpy as np

import ialspp
from ialspp import IALSpp, Interactions, _core
from ialspp.datasets import synthetic
from ialspp.system.machine import resolve_threads

sys.path.insert(0, str(Path(__file__).parent))
import limits
import systems

RESULTS = Path(__file__).parent / "results"
WITHIN = 1.001  # of the final loss
CONVERGING = ["ours/spectral", "ours/ials++", "irspack/cg", "ours@implicit/spectral", "implicit/cg"]
TIMED = ["irspack/ials++:32", "irspack/ials++:64", "irspack/ials++:128", "ours/icd"]
CUBIC = ["ours/ials", "irspack/cholesky"]


@dataclass
class Run:
    """One system at one dimension, epoch by epoch."""

    system: str
    dim: int
    data: str = ""
    seconds: list[float] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    seconds_to_loss: float | None = None
    share_of_limit: float | None = None
    peak_mb: float | None = None
    least_mb: float | None = None


@dataclass
class HeldOut:
    """A fifth of some users' items, kept from training."""

    users: np.ndarray
    seen: list[np.ndarray]
    wanted: list[np.ndarray]

    def recall(self, user_factors: np.ndarray, item_factors: np.ndarray, k: int = 20) -> float:
        scores = user_factors[self.users] @ item_factors.T
        for row, seen in zip(scores, self.seen, strict=True):
            row[seen] = -np.inf
        best = np.argpartition(-scores, k, axis=1)[:, :k]
        shares = [np.isin(b, w).sum() / min(k, len(w)) for b, w in zip(best, self.wanted, strict=True)]
        return float(np.mean(shares))


def split(data: Interactions, n_users: int, seed: int = 0) -> tuple[Interactions, HeldOut]:
    rng = np.random.default_rng(seed)
    rows = data.by_user
    users = np.sort(rng.choice(np.flatnonzero(rows.counts >= 5), n_users, replace=False))
    kept, seen, wanted = np.ones(len(data), bool), [], []
    for user in users:
        own = np.arange(rows.offsets[user], rows.offsets[user + 1])
        out = rng.choice(own, len(own) // 5, replace=False)
        kept[out] = False
        wanted.append(rows.columns[out])
        seen.append(rows.columns[np.setdiff1d(own, out)])
    train = Interactions(data.users, data.items, rows.row_numbers[kept], rows.columns[kept], None, None)
    return train, HeldOut(users, seen, wanted)


def available(names: list[str], data: Interactions, dim: int, threads: int) -> list[systems.System]:
    found = []
    for name in names:
        try:
            found.append(systems.make(name, data, dim, threads))
        except ImportError as error:
            print(f"{name} left out: {error}")
    return found


def race(
    names: list[str], data: Interactions, held_out: HeldOut, dim: int, epochs: int, threads: int
) -> list[Run]:
    """All systems one epoch, then all of them the next."""
    contenders = available(names, data, dim, threads)
    runs = [Run(contender.name, dim, repr(data)) for contender in contenders]
    labels = {systems.objective_of(run.system)[1] for run in runs}
    labelled = {label: data if label == 1 else systems.with_labels(data, label) for label in labels}
    for _ in range(epochs):
        for contender, run in zip(contenders, runs, strict=True):
            run.seconds.append(contender.epoch())
            objective, label = systems.objective_of(run.system)
            run.loss.append(objective.loss(labelled[label], *contender.factors(), threads=threads).total)
            run.recall.append(held_out.recall(*contender.factors()))
    for objective in (systems.OBJECTIVE, systems.IMPLICIT_OBJECTIVE):
        same = [run for run in runs if systems.objective_of(run.system)[0] == objective]
        for run in same:
            goal = WITHIN * min(min(other.loss) for other in same)
            reached = [i for i, loss in enumerate(run.loss) if loss <= goal]
            run.seconds_to_loss = sum(run.seconds[: reached[0] + 1]) if reached else None
    return runs


def add_shares(runs: list[Run], data: Interactions, gflops: float, gigabytes: float) -> None:
    for run in runs:
        if run.system.startswith("ours"):
            solver = systems.our_solver(run.system.partition("/")[2])
            block = solver.block_size_for(run.dim) if isinstance(solver, IALSpp) else 1
            flops, gathered = limits.work_of(solver, data, run.dim, block)
            least = max(flops / gflops, gathered / gigabytes) / 1e9
            run.share_of_limit = least / min(run.seconds)


def add_peaks(runs: list[Run], options: argparse.Namespace) -> None:
    for run in runs:
        command = [
            sys.executable,
            __file__,
            "--one",
            run.system,
            "--dims",
            str(run.dim),
            "--shape",
            options.shape,
        ]
        command += ["--scale", str(options.scale)]
        if options.threads:
            command += ["--threads", str(options.threads)]
        answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        run.peak_mb, run.least_mb = json.loads(answer.splitlines()[-1])


def peak_of(name: str, data: Interactions, dim: int, threads: int) -> tuple[float, float]:
    """Peak megabytes of one epoch beyond the interpreter's; those of factors, both CSRs and predictions."""
    systems.make(name, synthetic("ml20m", scale=0.02), dim, threads).epoch()  # the library itself, loaded
    shared = arrays_of(data) if name.startswith("ours") else [data.by_user.columns, data.by_user.offsets]
    empty = resident("VmRSS") - sum(array.nbytes for array in shared) / 1e6
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM starts again from here
    systems.make(name, data, dim, threads).epoch()
    least = 4 * dim * (data.n_users + data.n_items) + 8 * (data.n_users + data.n_items) + 12 * len(data)
    return resident("VmHWM") - empty, least / 1e6


def arrays_of(data: Interactions) -> list[np.ndarray]:
    return [array for side in (data.by_user, data.by_item) for array in (side.offsets, side.columns)]


def resident(what: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) * 1024 / 1e6


def print_table(runs: list[Run]) -> None:
    print(
        f"{'d':>5}  {'system':28} {'best s':>8} {'median s':>8} {'loss':>12} {'recall':>7} {'to loss':>8} "
        f"{'limit':>6}"
    )
    for run in runs:
        to_loss = f"{run.seconds_to_loss:8.2f}" if run.seconds_to_loss else f"{'-':>8}"
        share = f"{run.share_of_limit:6.0%}" if run.share_of_limit else f"{'':6}"
        peak = f"  {run.peak_mb:6.0f} MB of {run.least_mb:6.0f}" if run.peak_mb else ""
        print(
            f"{run.dim:5}  {run.system:28} {min(run.seconds):8.2f} {statistics.median(run.seconds):8.2f} "
            f"{run.loss[-1]:12.0f} {run.recall[-1]:7.4f} {to_loss} {share}{peak}",
            flush=True,
        )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", default="ml20m", choices=["ml20m", "msd"])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--dims", type=int, nargs="+", default=[64, 128, 256, 512, 1024])
    parser.add_argument("--systems", nargs="+", help="systems.py has their names; default: all that fit")
    parser.add_argument("--epochs", type=int, default=8, help="of the systems that are run to the final loss")
    parser.add_argument("--timed-epochs", type=int, default=2, help="of those that are only timed")
    parser.add_argument("--threads", type=int)
    parser.add_argument(
        "--memory", action="store_true", help="measure the peak of each, in a process of its own"
    )
    parser.add_argument("--name", default="bench", help="of the files in benchmarks/results")
    parser.add_argument("--append", action="store_true", help="to what --name has already")
    parser.add_argument("--smoke", action="store_true", help="a tiny run of everything")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # the process of add_peaks
    options = parser.parse_args()
    if options.smoke:
        options.scale, options.dims, options.epochs, options.timed_epochs = 0.02, [16], 2, 1
    return options


def main() -> None:
    options = arguments()
    threads = resolve_threads(options.threads)
    data, held_out = split(
        synthetic(options.shape, scale=options.scale), max(10, round(1000 * options.scale))
    )
    if options.one:
        print(json.dumps(peak_of(options.one, data, options.dims[0], threads)))
        return
    gflops, gigabytes = limits.sgemm_gflops(threads), limits.copy_gigabytes(threads)
    print(f"{data}, {threads} threads, {_core.isa()}, {platform.processor() or platform.machine()}")
    print(f"limits: sgemm {gflops:.0f} GFLOPS, copy {gigabytes:.1f} GB/s")

    path = RESULTS / f"{options.name}.json"
    runs = [Run(**run) for run in json.loads(path.read_text())["runs"]] if options.append else []
    for dim in options.dims:
        converging = options.systems or CONVERGING
        timed = [] if options.systems else TIMED + (CUBIC if dim <= 512 else [])
        at_dim = race(converging, data, held_out, dim, options.epochs, threads)
        only_timed = race(timed, data, held_out, dim, options.timed_epochs, threads)
        for run in only_timed:
            run.seconds_to_loss = None  # not run to the end
        at_dim += only_timed
        add_shares(at_dim, data, gflops, gigabytes)
        if options.memory or options.smoke:
            add_peaks(at_dim, options)
        print_table(at_dim)
        runs += at_dim
        report = {
            "date": date.today().isoformat(),
            "machine": platform.processor() or platform.machine(),
            "threads": threads,
            "isa": _core.isa(),
            "cpus": os.cpu_count(),
            "version": ialspp.__version__,
            "sgemm_gflops": gflops,
            "copy_gigabytes": gigabytes,
            "runs": [asdict(run) for run in runs],
        }
        RESULTS.mkdir(exist_ok=True)
        path.write_text(json.dumps(report, indent=1))
    from plots import draw

    draw(report, path.with_suffix(".png"))


if __name__ == "__main__":
    main()
