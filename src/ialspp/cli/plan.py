"""ialspp plan: what training on a cluster would take, on paper."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from ..cluster.planning import Size, schedules
from ..data.preparing import memory_of
from .output import JsonOption, show_json, show_table, size

LETTERS = {
    "A": "A, fixed side to all nodes (--fetch side)",
    "B": "B, block by block",
    "C": "C, rows as they are needed (--fetch rows)",
}


def plan(
    users: Annotated[int, typer.Option(help="The number of users.")],
    items: Annotated[int, typer.Option(help="The number of items.")],
    pairs: Annotated[int, typer.Option(help="The number of interactions.")],
    nodes: Annotated[int, typer.Option(help="The number of machines.")],
    dim: Annotated[int, typer.Option(help="The length of every vector.")] = 64,
    memory: Annotated[str, typer.Option(help="Memory of each machine, such as 64G.")] = "64G",
    bandwidth: Annotated[
        str, typer.Option(help="Bytes that a machine receives in a second, such as 1G.")
    ] = "1G",
    cores: Annotated[int, typer.Option(help="Cores of each machine.")] = 16,
    as_json: JsonOption = False,
) -> None:
    """Estimate memory, transfers and time of an epoch on a cluster.

    This is a model on paper: transfers follow from formulas, and the time of the work from the speed of one
    core of one machine. No network was measured. `ialspp fit --ray` uses schedule A where there is room for
    it, else C; B is not built.

    Example: ialspp plan --users 100000000 --items 1000000 --pairs 10000000000 --dim 256 --nodes 100
    """
    asked = Size(users, items, pairs, dim, nodes, memory_of(memory), memory_of(bandwidth, "bandwidth"), cores)
    found = schedules(asked)
    if as_json:
        show_json({"size": asdict(asked), "schedules": [asdict(schedule) for schedule in found]})
        return
    show_table(
        f"an epoch on {nodes:,} node{'s' if nodes > 1 else ''}, a model on paper",
        ["schedule", "memory of a node", "of the driver's", "received by a node", "seconds", "fits", "built"],
        [
            (
                LETTERS[one.name],
                size(int(one.memory)),
                size(int(one.driver)),
                size(int(one.received)),
                round(one.seconds, 1),
                "yes" if one.fits else "no",
                "yes" if one.is_built else "no",
            )
            for one in found
        ],
        words=["schedule", "fits", "built"],
    )
