"""What was requested and not measured, in few lines."""

from collections import defaultdict
from collections.abc import Sequence

from ..grid import Configuration, TimingTask
from ..run import Run


def left_out_lines(run: Run) -> list[str]:
    """Write a line for all configurations of one d that lack the same shares of the pairs, or seeds."""
    lacking: dict[tuple[str, Configuration], list[float]] = defaultdict(list)
    for task in run.left_out():
        if isinstance(task, TimingTask):
            lacking["timing", task.configuration].append(task.share)
        else:
            lacking["training", task.configuration].append(task.seed)
    groups: dict[tuple[str, int, tuple[float, ...]], list[Configuration]] = defaultdict(list)
    for (kind, configuration), lacks in lacking.items():
        groups[kind, configuration.dim, tuple(sorted(lacks))].append(configuration)
    return [
        f"{_what(kind, lacks)}, d = {dim}: {_named(own, run.requested(dim))}"
        for (kind, dim, lacks), own in sorted(groups.items())
    ]


def _what(kind: str, lacks: Sequence[float]) -> str:
    if kind == "training":
        return f"training from seed{'s' if len(lacks) > 1 else ''} {', '.join(f'{seed:g}' for seed in lacks)}"
    parts = ["all" if share == 1 else f"{share:g}" for share in lacks]
    return "timing" if parts == ["all"] else f"timing on {' and '.join(parts)} of the pairs"


def _named(own: Sequence[Configuration], grid: Sequence[Configuration]) -> str:
    if len(own) == len(grid):
        return "everything"
    names = [each.block_name for each in own]
    sizes = [place for place, name in enumerate(names) if name.isdigit()]
    if sizes:
        names[sizes[0]] = f"block{'s' if len(sizes) > 1 else ''} {names[sizes[0]]}"
    return ", ".join(names)
