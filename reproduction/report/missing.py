"""What was requested and not measured, in few lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from ..grid import Configuration, TimingTask, TrainingTask
from ..run import Run


def left_out_lines(run: Run) -> list[str]:
    """Write a line for all configurations of one d that lack the same shares of the pairs, or seeds."""
    missing = run.left_out()
    shares = [(task.configuration, task.share) for task in missing if isinstance(task, TimingTask)]
    seeds = [(task.configuration, float(task.seed)) for task in missing if isinstance(task, TrainingTask)]
    return [*_grouped(run, shares, _timing_words), *_grouped(run, seeds, _training_words)]


def _grouped(
    run: Run, missing: Sequence[tuple[Configuration, float]], words: Callable[[Sequence[float]], str]
) -> list[str]:
    lacking: dict[Configuration, list[float]] = defaultdict(list)
    for configuration, what in missing:
        lacking[configuration].append(what)
    groups: dict[tuple[int, tuple[float, ...]], list[Configuration]] = defaultdict(list)
    for configuration, lacks in lacking.items():
        groups[configuration.dim, tuple(sorted(lacks))].append(configuration)
    return [
        f"{words(lacks)}, d = {dim}: {_named(own, run.requested(dim))}"
        for (dim, lacks), own in sorted(groups.items())
    ]


def _timing_words(shares: Sequence[float]) -> str:
    if list(shares) == [1.0]:
        return "timing"
    parts = ["all" if share == 1 else f"{share:g}" for share in shares]
    return f"timing on {' and '.join(parts)} of the pairs"


def _training_words(seeds: Sequence[float]) -> str:
    return f"training from seed{'s' if len(seeds) > 1 else ''} {', '.join(f'{seed:g}' for seed in seeds)}"


def _named(own: Sequence[Configuration], grid: Sequence[Configuration]) -> str:
    if len(own) == len(grid):
        return "everything"
    names = [each.block_name for each in own]
    sizes = [place for place, name in enumerate(names) if name.isdigit()]
    if sizes:
        names[sizes[0]] = f"block{'s' if len(sizes) > 1 else ''} {names[sizes[0]]}"
    return ", ".join(names)
