"""The U-curve: seconds per epoch of iALS++ over block sizes 1, 2, 4, ..., d.

    python benchmarks/blocks.py --dims 64 128

Saves benchmarks/results/blocks.json and blocks.png.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from ialspp import IALSpp, ImplicitMF, Interactions, _core
from ialspp.datasets import synthetic
from ialspp.solvers import Problem
from ialspp.system.machine import resolve_threads

sys.path.insert(0, str(Path(__file__).parent))
from plots import draw_blocks

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class BlockCurve:
    """Seconds per epoch at one dimension: the best of several rounds for each block size."""

    dim: int
    auto: int
    seconds: dict[int, float]

    @property
    def excess(self) -> float:
        """How much longer "auto" takes than the best block size: 0.05 is 5 %."""
        return self.seconds[self.auto] / min(self.seconds.values()) - 1


def block_sizes(dim: int) -> list[int]:
    """1, 2, 4, ... up to dim."""
    return [*(2**i for i in range((dim - 1).bit_length())), dim]


def measure(data: Interactions, dim: int, sizes: list[int], rounds: int, threads: int) -> BlockCurve:
    """Time an epoch of `IALSpp` for each block size; every round visits all sizes."""
    auto = IALSpp().block_size_for(dim)
    seconds = dict.fromkeys(sorted({*sizes, auto}), float("inf"))
    model = ImplicitMF(dim)
    problem = Problem.of(data, model.objective, *model.initial_factors(data), threads)
    for _ in range(rounds):
        for size in seconds:
            record = ImplicitMF(dim, solver=IALSpp(block_size=size)).run_epoch(problem)
            seconds[size] = min(seconds[size], record.seconds)
    return BlockCurve(dim, auto, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dims", type=int, nargs="+", default=[64, 128, 256, 512, 1024])
    parser.add_argument("--least", type=int, default=1, help="the smallest block size")
    parser.add_argument("--most", type=int, default=1024, help="the largest block size")
    parser.add_argument("--scale", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    data = synthetic("ml20m", scale=options.scale)
    print(f"{data}, {_core.isa()}")
    report = {
        "data": repr(data),
        "isa": _core.isa(),
        "threads": resolve_threads(options.threads),
        "curves": {},
    }
    for dim in options.dims:
        sizes = [size for size in block_sizes(dim) if options.least <= size <= options.most]
        curve = measure(data, dim, sizes, options.rounds, resolve_threads(options.threads))
        times = "  ".join(f"{size}: {best:.2f}" for size, best in curve.seconds.items())
        print(f"d={dim}  auto {curve.auto}, {curve.excess:.0%} above the best  |  {times}", flush=True)
        report["curves"][str(dim)] = asdict(curve)
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(report, indent=1)
    (RESULTS / "blocks.json").write_text(text)
    draw_blocks(json.loads(text), RESULTS / "blocks.png")


if __name__ == "__main__":
    main()
