"""The numbers behind the paper's figures, as tables: seconds per epoch, and final quality."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev

from ..figures.styles import solver_label
from ..grid import IALS_NAME, IALSPP_NAME, ICD_NAME, SPECTRAL_NAME, Configuration
from ..published import Published, for_data, is_same_data
from ..run import Run, metric_label
from .document import Cell, Table

NOTHING = "—"


def block_name(configuration: Configuration) -> str:
    """What a configuration is called where its d is said already."""
    return str(configuration.block) if configuration.solver == IALSPP_NAME else configuration.solver


# Times


def times_table(run: Run) -> Table:
    """Seconds per epoch: a row for each d, a column for each block size."""
    columns = _columns(run.timed())
    return Table(
        "Seconds per epoch, by d and block size",
        ("d", *columns),
        tuple((str(dim), *_times_row(run, dim, columns)) for dim in run.timed_dims()),
        f"In bold: the fastest block size at each d; that of {ICD_NAME} is 1, that of {IALS_NAME} is d. "
        f"{SPECTRAL_NAME} has no blocks and is not in the paper.",
    )


def _columns(configurations: Sequence[Configuration]) -> list[str]:
    """iCD, the block sizes, iALS, SpectralCG; those there are."""
    sizes = sorted(each.block or 0 for each in configurations if each.solver == IALSPP_NAME)
    order = [ICD_NAME, *dict.fromkeys(map(str, sizes)), IALS_NAME, SPECTRAL_NAME]
    found = {block_name(each) for each in configurations}
    return [name for name in order if name in found]


def _times_row(run: Run, dim: int, columns: Sequence[str]) -> list[str | Cell]:
    blocks = run.over_blocks(dim)
    fastest = min(blocks, key=blocks.__getitem__, default=None)
    cells: dict[str, str | Cell] = {}
    for each in run.timed():
        if each.dim == dim:
            text = three_digits(run.seconds(dim, each.block))
            is_fastest = each.block is not None and each.block == fastest
            cells[block_name(each)] = Cell(text, "strong") if is_fastest else text
    return [cells.get(column, NOTHING) for column in columns]


def three_digits(value: float | None) -> str:
    """As many as mean something in a time, and all before the point."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")


# Quality


def quality_table(run: Run) -> Table:
    """After the last epoch: the mean over seeds and the spread."""
    metrics = run.settings.metrics
    rows = [
        (
            str(each.dim),
            block_name(each),
            str(len(run.trainings_of(each))),
            *(mean_and_spread(run.final(metric, each)) for metric in metrics),
        )
        for each in run.trained()
    ]
    return Table(
        "Final quality, by d and block size",
        ("d", "block", "seeds", *map(metric_label, metrics)),
        tuple(rows),
        f"After {run.settings.epochs} epochs. ± is the standard deviation over seeds.",
    )


def mean_and_spread(values: Sequence[float]) -> str:
    """Four digits; a single value has no spread."""
    if not values:
        return NOTHING
    spread = f" ± {stdev(values):.4f}" if len(values) > 1 else ""
    return f"{fmean(values):.4f}{spread}"


def published_table(run: Run) -> Table:
    """What others report for this data, below our solvers as measured here; empty without either."""
    metrics, published = run.settings.metrics, for_data(run.data) if run.trainings else []
    dims = sorted({each.dim for each in published if each.dim is not None})
    rows = [
        (
            each.system,
            NOTHING if each.dim is None else str(each.dim),
            *_as_published(each, metrics),
            f"published: {each.source}",
        )
        for each in published
    ]
    return Table(
        "Beside published numbers",
        ("system", "d", *map(metric_label, metrics), "source"),
        (*(_own_row(run, each) for each in _bests(run, dims)), *rows) if rows else (),
        "Measured here: each solver at the published d, or else at its best, the mean over seeds. Block and "
        f"d are those with the best {metric_label(run.main_metric)} on the test users." + _other_data(run),
        words=("system", "source"),
    )


def _other_data(run: Run) -> str:
    """A warning where the data only looks like that of the published numbers."""
    if is_same_data(run.data):
        return ""
    return f" The published numbers are of other data: this has {run.data.interactions:,} interactions."


def _as_published(published: Published, metrics: Sequence[str]) -> list[str]:
    """Three digits, or four where any of its values has them."""
    digits = 3 if all(round(value, 3) == value for value in published.metrics.values()) else 4
    found = [published.metrics.get(metric) for metric in metrics]
    return [NOTHING if value is None else f"{value:.{digits}f}" for value in found]


def _bests(run: Run, dims: Sequence[int]) -> list[Configuration]:
    """Of each solver the best at each of the dims; where it was trained at none of them, the best of all."""

    def quality(configuration: Configuration) -> float:
        return fmean(run.final(run.main_metric, configuration))

    bests: list[Configuration] = []
    for solver in (ICD_NAME, IALS_NAME, IALSPP_NAME, SPECTRAL_NAME):
        own = [each for each in run.trained() if each.solver == solver]
        at_dims = [[each for each in own if each.dim == dim] for dim in dims]
        choices = [choice for choice in at_dims if choice] or [own]
        bests += [max(choice, key=quality) for choice in choices if choice]
    return bests


def _own_row(run: Run, own: Configuration) -> tuple[str | Cell, ...]:
    means = (f"{fmean(run.final(metric, own)):.4f}" for metric in run.settings.metrics)
    texts = (solver_label(own.solver, own.block), str(own.dim), *means, "measured here")
    return tuple(Cell(text, "strong") for text in texts)
