"""ialspp calibrate: time the block sizes on this machine."""

from __future__ import annotations

from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from ..calibrate import Calibration, block_sizes, default_path
from ..calibrate import calibrate as measure_machine
from ..progress import bar
from .output import JsonOption, remark, show_json, show_line, show_table

ROUNDS = 3


def calibrate(
    dim: Annotated[
        list[int] | None, typer.Option(help="Dimensions to measure; give it again for more.")
    ] = None,
    scale: Annotated[
        float, typer.Option(help="Of MovieLens 20M's size; smaller is quicker and noisier.")
    ] = 0.05,
    threads: Annotated[int | None, typer.Option(help="Default: all CPUs this process may use.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to keep it. Default: the user's cache directory.")
    ] = None,
    kept: Annotated[bool, typer.Option("--show", help="Show what was kept before; measure nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Time every block size of iALS++ here, and say where the rule for "auto" is not the fastest.

    Example: ialspp calibrate --dim 64 --dim 256
    """
    dims = dim or [64, 128, 256]
    if min(dims) < 1:
        raise ValueError(f"--dim must be at least 1, got {min(dims)}")
    path = out or default_path()
    found = Calibration.load(path) if kept else measured(dims, scale, threads)
    if as_json:
        show_json(asdict(found))
    else:
        show(found)
    if not kept:
        found.save(path)
        remark(f"Kept in {path}")


def measured(dims: list[int], scale: float, threads: int | None) -> Calibration:
    """With a progress bar."""
    done = count(1)
    with bar("measuring", ROUNDS * sum(len(block_sizes(d)) for d in dims), None) as report:
        return measure_machine(
            dims, scale=scale, rounds=ROUNDS, threads=threads, report=lambda: report(next(done))
        )


def show(found: Calibration) -> None:
    """A table, and a verdict."""
    columns = ["d", "auto", "seconds", "fastest", "its seconds", "auto is slower by"]
    rows = [
        [
            curve.dim,
            curve.auto,
            f"{curve.seconds[curve.auto]:.3f}",
            curve.best,
            f"{curve.seconds[curve.best]:.3f}",
            f"{curve.excess:.0%}",
        ]
        for curve in found.curves
    ]
    show_table(f"Seconds per epoch, {found.isa}, {found.threads} threads, {found.data}", columns, rows)
    for curve in found.curves:
        if not curve.agrees:
            show_line(
                f"d = {curve.dim}: a block size of {curve.best} is faster here than auto's {curve.auto}; "
                f"pin it with --block-size {curve.best}, or IALSpp(block_size={curve.best})"
            )
    if all(curve.agrees for curve in found.curves):
        show_line("The rule and the measurement agree within 10 %.")
