"""What a checkpoint after every epoch costs: fits with and without it in turn, on data of ML20M's shape.

python benchmarks/checkpoints.py
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from pathlib import Path
from statistics import median

from ialspp import ImplicitMF, Interactions, datasets
from ialspp.data.fingerprint import Fingerprint
from ialspp.system.machine import resolve_threads


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dims", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", help="where the checkpoint goes, on the disk to measure")
    asked = parser.parse_args()
    data = datasets.synthetic("ml20m")
    print(f"{data!r}, {resolve_threads(None)} threads", flush=True)
    start = time.perf_counter()
    Fingerprint.of(data)
    print(f"{1e3 * (time.perf_counter() - start):10,.1f} ms  fingerprint of the data, once a fit", flush=True)
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        for dim in asked.dims:
            compare(data, dim, asked.epochs, asked.repeats, Path(folder) / "checkpoint")


def compare(data: Interactions, dim: int, epochs: int, repeats: int, path: Path) -> None:
    """Time each epoch with what comes between it and the next, and the whole fit with the last checkpoint."""
    seconds: dict[bool, list[float]] = {False: [], True: []}
    fits: dict[bool, list[float]] = {False: [], True: []}
    for repeat in range(2 * repeats):
        with_file = repeat % 2 == 1
        model = ImplicitMF(dim, epochs=epochs)
        moments: list[float] = []
        start = time.perf_counter()
        model.fit(
            data,
            checkpoint=path if with_file else None,
            callbacks=[lambda *_, found=moments: found.append(time.perf_counter())],  # type: ignore[misc]
            progress=False,
        )
        fits[with_file].append(time.perf_counter() - start)
        seconds[with_file] += [after - before for before, after in itertools.pairwise(moments)]
    print(f"d = {dim}, a checkpoint of {path.stat().st_size / 1e6:,.0f} MB")
    for what, choose in (("median", median), ("best", min)):
        without, with_file_ = choose(seconds[False]), choose(seconds[True])
        share = 100 * (with_file_ / without - 1)
        times = f"{1e3 * without:10,.1f} ms an epoch without, {1e3 * with_file_:,.1f} ms with"
        print(f"{times}: {share:+.1f} % ({what})")
    print(f"{min(fits[False]):10,.2f} s a fit without, {min(fits[True]):,.2f} s with (best)", flush=True)


if __name__ == "__main__":
    main()
