"""From files to a trained model, by the number of rows: seconds, and the peak of anonymous memory.

Parquet is generated with skewed activity and popularity. Each measurement is a process of its own. Its peak
of anonymous memory is what it could not give back: mapped files are not in it. `polars` reads both columns
and ranks their ids, which is its way to factorise integers; strings become categories.

    python benchmarks/scale.py --rows 1_000_000 10_000_000 100_000_000
    python benchmarks/scale.py --rows 1_000_000_000 --only prepare fit --memory 2.5G --input events
    python benchmarks/scale.py --rows 100_000_000 --only fit --input events --limit 2500

Saves benchmarks/results/scale.json. A billion rows take 7 GB as Parquet, 9 GB as prepared data, and 8 GB more
while they are prepared.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from memory import Watch, limited, memory

RESULTS = Path(__file__).parent / "results"
FILE_ROWS = 5_000_000
ASKED = 1_000  # users whose recommendations are written
SHAPES = {1_000_000_000: (20_000_000, 2_000_000)}  # others have 20 rows for each user and 200 for each item
Facts = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000, 100_000_000])
    parser.add_argument("--ids", choices=("integers", "strings"), default="integers")
    parser.add_argument("--only", nargs="+", choices=list(CHILDREN), default=list(CHILDREN))
    parser.add_argument("--memory", default="2G", help="for sorting, while data is prepared")
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--input", type=Path, help="a folder to keep the data in; used again if it is there")
    parser.add_argument("--limit", type=float, help="MB of memory for each process, with mapped files")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--name", default="scale", help="of the file of results")
    parser.add_argument("--child", choices=list(CHILDREN), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(measured(CHILDREN[arguments.child], arguments)))
        return
    results = []
    for rows in arguments.rows:
        with kept_or_temporary(arguments.input, rows, arguments.ids) as folder:
            write(folder, rows, arguments.ids)
            results.append(run(folder, rows, arguments))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{arguments.name}.json").write_text(json.dumps(results, indent=1))


@contextmanager
def kept_or_temporary(parent: Path | None, rows: int, ids: str) -> Iterator[Path]:
    """Make a folder for data of this size, which is kept if it has a parent."""
    if parent is not None:
        folder = parent / f"{rows}-{ids}"
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="scale-") as name:
        yield Path(name)


def write(folder: Path, rows: int, ids: str) -> None:
    """Write the files of two columns that are not there yet: few users have many rows, and few items."""
    shape = SHAPES.get(rows, (max(rows // 20, 1), max(rows // 200, 1)))
    for number, begin in enumerate(range(0, rows, FILE_ROWS)):
        file = folder / f"part-{number:03d}.parquet"
        if file.exists():
            continue
        rng = np.random.default_rng(number)
        count = min(FILE_ROWS, rows - begin)
        drawn = {
            name: (rng.random(count) ** skew * size).astype(np.int64) * 2_654_435_761 % size
            for name, skew, size in zip(("user", "item"), (1.5, 3), shape, strict=True)
        }
        frame = pl.DataFrame(drawn)
        if ids == "strings":
            texts = [pl.concat_str(pl.lit(f"{name}-"), pl.col(name)).alias(name) for name in drawn]
            frame = frame.select(texts)
        frame.write_parquet(file.with_suffix(".part"))
        file.with_suffix(".part").rename(file)


def run(folder: Path, rows: int, arguments: argparse.Namespace) -> Facts:
    """Measure everything that is wanted, each in a process of its own."""
    size = sum(file.stat().st_size for file in folder.glob("*.parquet"))
    facts: Facts = {
        "rows": rows,
        "ids": arguments.ids,
        "input_mb": size / 2**20,
        "limit_mb": arguments.limit,
    }
    for name in arguments.only:
        options = [
            "--memory",
            arguments.memory,
            "--dim",
            str(arguments.dim),
            "--epochs",
            str(arguments.epochs),
        ]
        command = [sys.executable, __file__, "--child", name, "--folder", str(folder), *options]
        with limited(arguments.limit) as within:
            done = subprocess.run([*within, *command], check=True, stdout=subprocess.PIPE, text=True)
        facts[name] = json.loads(done.stdout)
        print(f"{rows:,} rows, {name}: {facts[name]}", flush=True)
    return facts


def measured(work: Callable[[argparse.Namespace, Watch], Facts], arguments: argparse.Namespace) -> Facts:
    """Do the work; add its seconds and the peaks of memory, in MB."""
    import ialspp  # noqa: F401 - so that its import is not measured

    with Watch() as watch:
        start, cpu = time.perf_counter(), time.process_time()
        facts = work(arguments, watch)
        seconds = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
    return {**seconds, "anonymous_mb": watch.peak, "peak_mb": memory("VmHWM"), **facts}


def with_polars(arguments: argparse.Namespace, _: Watch) -> Facts:
    frame = pl.scan_parquet(arguments.folder / "*.parquet")
    columns = [pl.col(name) for name in ("user", "item")]
    is_text = frame.collect_schema()["user"] == pl.String
    numbers = [c.cast(pl.Categorical).to_physical() if is_text else c.rank("dense") for c in columns]
    frame.select(numbers).collect(engine="streaming")
    return {}


def with_read(arguments: argparse.Namespace, _: Watch) -> Facts:
    from ialspp import Interactions

    data = Interactions.read(f"{arguments.folder}/*.parquet", user="user", item="item", progress=False)
    return {"pairs": len(data), "finished_mb": finished_mb(data)}


def finished_mb(data: Any) -> float:
    """Return the size of the rows in both directions and of the ids."""
    from ialspp.data.stored_ids import arrays_of_ids

    arrays = [*arrays_of_ids("user", data.users).values(), *arrays_of_ids("item", data.items).values()]
    arrays += [data.by_user.offsets, data.by_user.columns]
    return (sum(array.nbytes for array in arrays) + 4 * len(data) + 8 * data.n_items) / 2**20


def with_prepare(arguments: argparse.Namespace, _: Watch) -> Facts:
    from ialspp import Interactions

    source, out = f"{arguments.folder}/*.parquet", arguments.folder / "events.ialsdata"
    data = Interactions.prepare(
        source, out, user="user", item="item", memory=arguments.memory, progress=False
    )
    return {"pairs": len(data), "file_mb": out.stat().st_size / 2**20}


def with_fit(arguments: argparse.Namespace, watch: Watch) -> Facts:
    from ialspp import EpochRecord, ImplicitMF, Interactions

    start = time.perf_counter()
    data = Interactions.open(arguments.folder / "events.ialsdata")
    opened = time.perf_counter() - start
    cpu = [time.process_time()]

    def tell(_: ImplicitMF, record: EpochRecord) -> None:
        cpu.append(time.process_time())
        print(record, f"{cpu[-1] - cpu[-2]:.1f} s of CPU, {watch.peak:.0f} MB", file=sys.stderr, flush=True)

    model = ImplicitMF(arguments.dim, epochs=arguments.epochs)
    model.fit(data, callbacks=[tell], progress=False)
    trained = {"fit_anonymous_mb": watch.peak, "fit_peak_mb": memory("VmHWM")}
    asked = time.perf_counter()
    best = model.recommend(data.users.ids[:ASKED], k=10, progress=False)
    best.to_frame().write_ipc(arguments.folder / "best.arrow")
    return {
        **trained,
        "recommend_seconds": time.perf_counter() - asked,
        "recommended": len(best),
        "open_seconds": opened,
        "epoch_seconds": [record.seconds for record in model.history],
        "epoch_cpu_seconds": np.diff(cpu).tolist(),  # the start belongs to the first
        "loss": [record.loss for record in model.history],
        "vectors_mb": (data.n_users + data.n_items) * arguments.dim * 4 / 2**20,
    }


CHILDREN = {"polars": with_polars, "read": with_read, "prepare": with_prepare, "fit": with_fit}


if __name__ == "__main__":
    main()
