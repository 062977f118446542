"""Our solvers and the peers', interleaved epoch by epoch in one run on the same data, until they converge.

    make bench                                   # d = 64 to 2048; half of the data at 1024, a quarter at 2048
    python benchmarks/bench.py --dims 128 --scale 0.1 --systems ours/spectral irspack/cg
    python benchmarks/bench.py --dims 128 --before ../old/.venv/bin/python --data gowalla
    python benchmarks/bench.py --smoke           # seconds, for the tests

L* is the lowest loss known: that of many epochs of our default solver, or of a raced system that went lower.
A system runs until its loss is within 0.1 % of L*, and its seconds include the making of its initial factors.

Prints tables and saves benchmarks/results/NAME.json and NAME.png: seconds per epoch, the loss and a held-out
recall after each epoch, the epochs and seconds to within 0.1 % of L*, their ratios, our share of the
machine's limits, and with --memory the peak of each system in a process of its own. Peers need
`pip install ".[peers]"`; those that are missing, or cannot train on the data, are left out, with a word.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
from dataclasses import asdict
from datetime import date
from pathlib import Path

import numpy as np

import ialspp
from ialspp import IALSpp, ImplicitMF, Interactions, _core
from ialspp.system.machine import resolve_threads

sys.path.insert(0, str(Path(__file__).parent))
import cases
import limits
import systems
import worker
from cases import Case, Task
from runs import Reference, Run, print_ratios, print_table

RESULTS = Path(__file__).parent / "results"
CONVERGING = ["ours/spectral", "ours/ials++", "irspack/cg", "ours@implicit/spectral", "implicit/cg"]
TIMED = ["irspack/ials++:32", "irspack/ials++:64", "irspack/ials++:128", "ours/icd"]
CUBIC = ["ours/ials", "irspack/cholesky"]  # too slow above d = 512
LENSKIT = "lenskit/cholesky"  # too slow above d = 256
AUTHORS = "authors/ials++:64"  # above d = 512 their losses would take longer than their epochs


class Bench:
    """The runs of one invocation, and those of the file that they are appended to."""

    def __init__(self, options: argparse.Namespace, case: Case, threads: int) -> None:
        self.options, self.case, self.threads = options, case, threads
        self.path = RESULTS / f"{options.name}.json"
        self.gflops, self.gigabytes = limits.sgemm_gflops(threads), limits.copy_gigabytes(threads)
        saved = json.loads(self.path.read_text()) if options.append and self.path.exists() else {}
        self.runs = [Run(**run) for run in saved.get("runs", [])]
        self.references = [Reference(**reference) for reference in saved.get("references", [])]

    def measure(self, dim: int) -> list[Run]:
        converging, timed = names_of(self.options, dim)
        runs = self.race(converging, dim)
        runs += self.time_only(timed, dim)
        self.add_shares(runs)
        if self.options.memory or self.options.smoke:
            add_peaks(runs, self.options)
        again = {run.key for run in runs}
        self.runs = [run for run in self.runs if run.key not in again] + runs
        return runs

    def race(self, names: list[str], dim: int) -> list[Run]:
        """All systems one epoch, then all of them the next; each until it is within 0.1 % of L*."""
        loss_names = dict.fromkeys(systems.loss_of(name) for name in names)
        references = {name: self.reference(name, dim) for name in loss_names}
        contenders = self.contenders(names, dim)
        runs = [self.new_run(contender, dim) for contender in contenders]
        # A system that was done goes on if another has lowered L* since.
        while any(self.goes_on(run, references[run.loss_name]) for run in runs):
            for contender, run in zip(contenders, runs, strict=True):
                if self.goes_on(run, references[run.loss_name]):
                    self.one_epoch(contender, run, self.options.epochs)
                    references[run.loss_name].lower_to(run.loss[-1], run.system)
        for contender, run in zip(contenders, runs, strict=True):
            contender.close()
            run.settle(references[run.loss_name].loss)
        return runs

    def goes_on(self, run: Run, reference: Reference) -> bool:
        late = run.spent > 60 * self.options.minutes
        return not late and len(run.loss) < self.options.epochs and not run.reached(reference.loss)

    def time_only(self, names: list[str], dim: int) -> list[Run]:
        """A few epochs of systems that would take too long to converge."""
        contenders = self.contenders(names, dim)
        runs = [self.new_run(contender, dim) for contender in contenders]
        for _ in range(self.options.timed_epochs):
            for contender, run in zip(contenders, runs, strict=True):
                self.one_epoch(contender, run, self.options.timed_epochs)
        for run in runs:
            run.only_timed = True
            run.settle(self.reference(run.loss_name, dim).loss)
        return runs

    def contenders(self, names: list[str], dim: int) -> list[systems.System]:
        found = []
        for name in names:
            try:
                found.append(
                    systems.make(
                        name, self.case, dim, self.threads, self.options.before, self.options.authors
                    )
                )
            except (ImportError, NotImplementedError) as error:  # not installed, or not for this data
                print(f"{name} left out: {error}")
        return found

    def new_run(self, contender: systems.System, dim: int) -> Run:
        loss_name = systems.loss_of(contender.name)
        return Run(contender.name, dim, self.data_name, loss_name, contender.start_seconds)

    def one_epoch(self, contender: systems.System, run: Run, epochs: int) -> None:
        run.seconds.append(contender.epoch(len(run.seconds) + 1 == epochs))
        if contender.own_loss is not None:
            run.loss.append(contender.own_loss())
            return
        factors = contender.factors()
        run.loss.append(self.case.tasks[run.loss_name].loss(factors, self.threads))
        run.recall.append(self.case.held_out.recall(*factors))

    @property
    def data_name(self) -> str:
        return f"{self.case.name}: {self.case.data!r}"

    def reference(self, loss_name: str, dim: int) -> Reference:
        """L* of a loss: as known from earlier runs, or computed now."""
        task, epochs = self.case.tasks[loss_name], self.options.reference_epochs
        new = Reference(
            self.data_name, dim, loss_name, repr(task.objective), epochs, math.inf, "our default solver"
        )
        for known in self.references:
            if known.is_for(new) and known.epochs >= epochs:
                return known
        new.loss = lowest_loss(task, dim, epochs, self.threads)
        print(f"d = {dim}, loss: {loss_name}, L* = {new.loss:.6g} after {epochs} epochs", flush=True)
        self.references = [known for known in self.references if not known.is_for(new)] + [new]
        return new

    def add_shares(self, runs: list[Run]) -> None:
        for run in runs:
            if run.system.startswith("ours"):
                solver = systems.our_solver(run.system.partition("/")[2])
                block = solver.block_size_for(run.dim) if isinstance(solver, IALSpp) else 1
                flops, gathered = limits.work_of(solver, self.case.data, run.dim, block)
                least = max(flops / self.gflops, gathered / self.gigabytes) / 1e9
                run.share_of_limit = least / min(run.seconds)

    def report(self) -> dict:
        return {
            "date": date.today().isoformat(),
            "machine": platform.processor() or platform.machine(),
            "threads": self.threads,
            "clock": self.options.clock,
            "isa": _core.isa(),
            "cpus": os.cpu_count(),
            "version": ialspp.__version__,
            "sgemm_gflops": self.gflops,
            "copy_gigabytes": self.gigabytes,
            "references": [asdict(reference) for reference in self.references],
            "runs": [asdict(run) for run in self.runs],
        }

    def save(self) -> None:
        RESULTS.mkdir(exist_ok=True)
        self.path.write_text(json.dumps(self.report(), indent=1))


def names_of(options: argparse.Namespace, dim: int) -> tuple[list[str], list[str]]:
    """The systems that run towards L*, and those that are only timed."""
    cubic = CUBIC if dim <= 512 else []
    timed = TIMED + cubic if options.all else []
    if options.systems:
        return list(options.systems), timed
    before = ["before/spectral"] if options.before else []
    authors = [AUTHORS] if options.authors and dim <= 512 else []
    lenskit = [LENSKIT] if dim <= 256 else []
    return CONVERGING + before + authors + lenskit, timed


def lowest_loss(task: Task, dim: int, epochs: int, threads: int) -> float:
    """The lowest loss that our default solver reaches from our default start."""
    losses = []

    def look(model: ImplicitMF, _: object) -> None:
        losses.append(task.loss((model.user_factors, model.item_factors), threads))

    model = ImplicitMF(dim, objective=task.objective, epochs=epochs, threads=threads)
    model.fit(task.data, callbacks=[look], progress=False)
    return min(losses)


def add_peaks(runs: list[Run], options: argparse.Namespace) -> None:
    for run in runs:
        if run.system.startswith(("before", "authors")):
            continue  # they do their work in yet another process
        command = [sys.executable, __file__, "--one", run.system, "--dims", str(run.dim)]
        command += ["--data", options.data, "--folder", options.folder, "--scale", str(options.scale)]
        if options.threads:
            command += ["--threads", str(options.threads)]
        answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        run.peak_mb, run.least_mb = json.loads(answer.splitlines()[-1])


def peak_of(name: str, case: Case, dim: int, threads: int) -> tuple[float, float]:
    """Peak megabytes of one epoch beyond the interpreter's; those of factors, both CSRs and predictions."""
    small = cases.load("ml20m", 0.02, Path())
    systems.make(name, small, dim, threads).epoch(False)  # the library itself, loaded
    data = case.tasks[systems.loss_of(name)].data
    shared = arrays_of(data) if name.startswith("ours") else [data.by_user.columns, data.by_user.offsets]
    empty = resident("VmRSS") - sum(array.nbytes for array in shared) / 1e6
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM starts again from here
    systems.make(name, case, dim, threads).epoch(False)
    least = 4 * dim * (data.n_users + data.n_items) + 8 * (data.n_users + data.n_items) + 12 * len(data)
    return resident("VmHWM") - empty, least / 1e6


def arrays_of(data: Interactions) -> list[np.ndarray]:
    sides = data.by_user, data.by_item
    arrays = [a for side in sides for a in (side.offsets, side.columns, side.labels, side.weights)]
    return [array for array in arrays if array is not None]


def resident(what: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) * 1024 / 1e6


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data", default="ml20m", choices=cases.NAMES, help="a generated shape, or real data"
    )
    parser.add_argument("--folder", type=Path, default=Path("../shared/data"), help="of the real data sets")
    parser.add_argument("--scale", type=float, default=1.0, help="of generated data")
    parser.add_argument("--dims", type=int, nargs="+", default=[64, 128, 256, 512])
    parser.add_argument(
        "--systems", nargs="+", help="systems.py has their names; default: those that converge"
    )
    parser.add_argument(
        "--all", action="store_true", help="also time exact solvers, the peers' iALS++ and iCD; an hour more"
    )
    parser.add_argument(
        "--before", type=Path, metavar="PYTHON", help="race the version of ialspp that this interpreter has"
    )
    parser.add_argument(
        "--authors",
        type=Path,
        metavar="PROGRAM",
        help="race the paper's authors' program (authors.py says how)",
    )
    parser.add_argument("--epochs", type=int, default=16, help="the most that a system may take to L*")
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="the most that a system may train at one dimension"
    )
    parser.add_argument("--reference-epochs", type=int, default=60, help="of our default solver, to find L*")
    parser.add_argument("--timed-epochs", type=int, default=2, help="of the systems that --all adds")
    parser.add_argument("--threads", type=int)
    parser.add_argument(
        "--memory", action="store_true", help="measure the peak of each, in a process of its own"
    )
    parser.add_argument(
        "--clock",
        default="wall",
        choices=list(worker.CLOCKS),
        help="cpu: CPU seconds over threads, where other work runs on the machine",
    )
    parser.add_argument("--name", default="bench", help="of the files in benchmarks/results")
    parser.add_argument(
        "--append", action="store_true", help="to what --name has already, whose L* are used again"
    )
    parser.add_argument("--smoke", action="store_true", help="a tiny run of everything")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # the process of add_peaks
    options = parser.parse_args()
    if options.smoke:
        options.scale, options.dims, options.all = 0.02, [16], True
        options.epochs, options.timed_epochs, options.reference_epochs = 3, 1, 6
    return options


def main() -> None:
    options = arguments()
    threads = resolve_threads(options.threads)
    systems.clock_name = options.clock
    case = cases.load(options.data, options.scale, options.folder)
    if options.one:
        print(json.dumps(peak_of(options.one, case, options.dims[0], threads)))
        return
    bench = Bench(options, case, threads)
    machine = platform.processor() or platform.machine()
    print(f"{bench.data_name}, {threads} threads, {_core.isa()}, {machine}")
    print(f"limits: sgemm {bench.gflops:.0f} GFLOPS, copy {bench.gigabytes:.1f} GB/s", flush=True)
    for dim in options.dims:
        runs = bench.measure(dim)
        print_table(runs)
        print_ratios(runs)
        bench.save()
    from plots import draw

    draw(bench.report(), bench.path.with_suffix(".png"))


if __name__ == "__main__":
    main()
