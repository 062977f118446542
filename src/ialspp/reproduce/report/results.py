"""The numbers behind the paper's figures, as tables: seconds per epoch, and final quality."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev

from ..grid import IALS_NAME, IALSPP_NAME, ICD_NAME, SPECTRAL_NAME, Configuration
from ..published import Published, for_data
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
    """What others report for this data, below the best that was measured here; empty without either."""
    metrics, published = run.settings.metrics, for_data(run.data) if run.trainings else []
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
        (_best_row(run), *rows) if rows else (),
        f"Measured here: the configuration whose mean {metric_label(run.main_metric)} over seeds is highest.",
        words=("system", "source"),
    )


def _as_published(published: Published, metrics: Sequence[str]) -> list[str]:
    """Three digits, or four where any of its values has them."""
    digits = 3 if all(round(value, 3) == value for value in published.metrics.values()) else 4
    found = [published.metrics.get(metric) for metric in metrics]
    return [NOTHING if value is None else f"{value:.{digits}f}" for value in found]


def _best_row(run: Run) -> tuple[str | Cell, ...]:
    best = max(run.trained(), key=lambda each: fmean(run.final(run.main_metric, each)))
    block = f" ({best.block})" if best.solver == IALSPP_NAME else ""
    means = (f"{fmean(run.final(metric, best)):.4f}" for metric in run.settings.metrics)
    texts = (f"{best.solver}{block}", str(best.dim), *means, "measured here")
    return tuple(Cell(text, "strong") for text in texts)
