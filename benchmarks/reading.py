"""A large CSV with string ids to Interactions: seconds and memory, beside what polars alone takes.

polars reads the two columns and turns each into categories, with its streaming engine: its fastest way to
read and factorise. Each round is a process of its own, the two in turn; seconds are without imports.

    python benchmarks/reading.py --rows 20_000_000
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--weight", action="store_true", help="read a third column too")
    parser.add_argument("--child", choices=sorted(CHILDREN), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(CHILDREN[arguments.child](arguments.file, arguments.weight)))
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "interactions.csv"
        write(file, arguments.rows)
        print(f"{arguments.rows:,} rows, {file.stat().st_size / 2**20:,.0f} MB")
        results = {name: [] for name in CHILDREN}
        for _ in range(arguments.rounds):
            for name, found in results.items():
                found.append(run(name, file, arguments.weight))
                print(name, found[-1], flush=True)
    report(results)


def write(file: Path, rows: int) -> None:
    """Four columns; 138,000 users and 27,000 items, popular ones and rare ones, every pair at random."""
    rng = np.random.default_rng(0)
    users = pl.Series([f"user-{n * 7919 % 1_000_003:07d}" for n in range(138_000)])
    items = pl.Series([f"B{n * 104_729 % 10_000_019:08d}" for n in range(27_000)])
    frame = pl.DataFrame(
        {
            "user": users.gather((rng.random(rows) ** 1.5 * len(users)).astype(np.int64)),
            "item": items.gather((rng.random(rows) ** 3 * len(items)).astype(np.int64)),
            "rating": rng.integers(1, 11, rows) / 2,
            "timestamp": rng.integers(1_000_000_000, 1_500_000_000, rows),
        }
    )
    frame.write_csv(file)


def run(name: str, file: Path, weight: bool) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", name, "--file", str(file)] + ["--weight"] * weight
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def with_polars(file: Path, weight: bool) -> dict[str, float]:
    before, start = peak(), time.perf_counter()
    numbers = [pl.col("rating").cast(pl.Float32)] if weight else []
    columns = [pl.col(name).cast(pl.Categorical).to_physical() for name in ("user", "item")]
    pl.scan_csv(file).select(*columns, *numbers).collect(engine="streaming")
    return {"seconds": time.perf_counter() - start, "peak_mb": peak() - before}


def with_ialspp(file: Path, weight: bool) -> dict[str, float]:
    from ialspp import Interactions

    before, start = peak(), time.perf_counter()
    data = Interactions.read(file, user="user", item="item", weight="rating" if weight else None)
    seconds = time.perf_counter() - start
    arrays = [data.item_ranks]
    for side in (data.by_user, data.by_item):
        arrays += [a for a in (side.offsets, side.columns, side.weights) if a is not None]
    ids = sum(sys.getsizeof(value) for axis in (data.users, data.items) for value in axis.ids.tolist())
    finished = (sum(array.nbytes for array in arrays) + ids) / 2**20
    return {"seconds": seconds, "peak_mb": peak() - before, "finished_mb": finished}


CHILDREN = {"polars": with_polars, "ialspp": with_ialspp}


def peak() -> float:
    """The most memory this process has had, in MB; what `resource` says may be its parent's."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def report(results: dict[str, list[dict[str, float]]]) -> None:
    best = {name: min(row["seconds"] for row in rows) for name, rows in results.items()}
    memory = max(row["peak_mb"] / row["finished_mb"] for row in results["ialspp"])
    print(f"best: polars {best['polars']:.2f} s, ialspp {best['ialspp']:.2f} s")
    print(f"{best['ialspp'] / best['polars']:.2f}x the time (at most 1.5 is wanted)")
    print(f"{memory:.2f}x the memory of the finished interactions at most (2.5 is wanted)")


if __name__ == "__main__":
    main()
