"""ialspp calibrate: time the block sizes on this machine."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..calibrate import Calibration, block_sizes, default_path
from ..calibrate import calibrate as measure_machine
from ..progress import bar

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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Time every block size of iALS++ here, and say where the rule for "auto" is not the fastest."""
    dims = dim or [64, 128, 256]
    if min(dims) < 1:
        raise ValueError(f"--dim must be at least 1, got {min(dims)}")
    path = out or default_path()
    found = Calibration.load(path) if kept else measured(dims, scale, threads)
    if as_json:
        print(json.dumps(asdict(found)))
    else:
        show(found)
    if not kept:
        found.save(path)
        Console(stderr=True).print(f"Kept in {path}", soft_wrap=True, highlight=False)


def measured(dims: list[int], scale: float, threads: int | None) -> Calibration:
    """With a progress bar."""
    done = count(1)
    with bar("measuring", ROUNDS * sum(len(block_sizes(d)) for d in dims), None) as report:
        return measure_machine(
            dims, scale=scale, rounds=ROUNDS, threads=threads, report=lambda: report(next(done))
        )


def show(found: Calibration) -> None:
    """A table, and a verdict."""
    console = Console()
    table = Table(title=f"Seconds per epoch, {found.isa}, {found.threads} threads, {found.data}")
    for name in ("d", "auto", "seconds", "fastest", "seconds ", "auto is slower by"):
        table.add_column(name, justify="right")
    for curve in found.curves:
        table.add_row(
            str(curve.dim),
            str(curve.auto),
            f"{curve.seconds[curve.auto]:.3f}",
            str(curve.best),
            f"{curve.seconds[curve.best]:.3f}",
            f"{curve.excess:.0%}",
        )
    console.print(table)
    for curve in found.curves:
        if not curve.agrees:
            console.print(
                f"d = {curve.dim}: block_size={curve.best} is faster here than auto's {curve.auto}; "
                f"pin it with IALSpp(block_size={curve.best})"
            )
    if all(curve.agrees for curve in found.curves):
        console.print("The rule and the measurement agree within 10 %.")
