"""What a checkpoint after every epoch costs: fits with and without it in turn, on data of ML20M's shape.

python benchmarks/checkpoints.py

Seconds by the clock are of use on an idle machine only. Seconds of the processor, of all threads, also count
what the writing beside the training takes, and hardly depend on other programs.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from ialspp import ImplicitMF, Interactions, datasets
from ialspp.data.fingerprint import Fingerprint
from ialspp.model.checkpointer import Checkpointer
from ialspp.system.machine import resolve_threads


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dims", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder", help="where the checkpoint goes, on the disk to measure")
    asked = parser.parse_args()
    data = datasets.synthetic("ml20m")
    print(f"{data!r}, {resolve_threads(None)} threads", flush=True)
    start = time.process_time()
    Fingerprint.of(data)
    print(f"{1e3 * (time.process_time() - start):10,.1f} ms  fingerprint of the data, once a fit", flush=True)
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        for dim in asked.dims:
            compare(data, dim, asked.epochs, asked.repeats, Path(folder) / "checkpoint")


def compare(data: Interactions, dim: int, epochs: int, repeats: int, path: Path) -> None:
    clocks: dict[str, Callable[[], float]] = {"clock": time.perf_counter, "processor": time.process_time}
    waits = timed("keep", time.perf_counter)
    copies, writes = timed("keep", time.thread_time), timed("_write", time.thread_time)
    seconds: dict[str, list[list[float]]] = {name: [[], []] for name in clocks}
    for repeat in range(2 * repeats):
        with_file = repeat % 2
        moments = epoch_ends(
            data, ImplicitMF(dim, epochs=epochs), path if with_file else None, clocks.values()
        )
        for name, found in zip(clocks, moments, strict=True):
            seconds[name][with_file] += [after - before for before, after in itertools.pairwise(found)]
    print(f"d = {dim}, a checkpoint of {path.stat().st_size / 1e6:,.0f} MB")
    print(f"{1e3 * min(waits):10,.1f} ms that the training waits for a checkpoint (best)")
    print(f"{1e3 * median(waits):10,.1f} ms that the training waits for a checkpoint (median)")
    epoch, own = min(seconds["processor"][0]), min(copies) + min(writes)
    share = f"{100 * own / epoch:.1f} % of an epoch"
    print(f"{1e3 * own:10,.1f} ms of the processor for a checkpoint alone, {share} (best)")
    for name, found in seconds.items():
        report(f"{name}, best", *map(min, found))
        report(f"{name}, median", *map(median, found))


def epoch_ends(
    data: Interactions, model: ImplicitMF, path: Path | None, clocks: Sequence[Callable[[], float]]
) -> list[list[float]]:
    """Run a fit: what each clock says at the end of each epoch."""
    moments: list[list[float]] = [[] for _ in clocks]

    def look(*_: object) -> None:
        for clock, found in zip(clocks, moments, strict=True):
            found.append(clock())

    model.fit(data, checkpoint=path, callbacks=[look], progress=False)
    return moments


def timed(method: str, clock: Callable[[], float]) -> list[float]:
    """Make a list that gets the seconds of each call of a method of the checkpointer."""
    plain = getattr(Checkpointer, method)
    seconds: list[float] = []

    def called(*arguments: Any) -> None:
        start = clock()
        plain(*arguments)
        seconds.append(clock() - start)

    setattr(Checkpointer, method, called)  # to time it from outside
    return seconds


def report(what: str, without: float, with_file: float) -> None:
    times = f"{1e3 * without:10,.1f} ms an epoch without, {1e3 * with_file:10,.1f} ms with"
    print(f"{times}: {100 * (with_file / without - 1):+6.1f} % ({what})", flush=True)


if __name__ == "__main__":
    main()
