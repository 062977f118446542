"""The tables of a report, as rows of text."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from ..benchmark import HYPERPARAMETERS, SYNTHETIC, canonical
from ..claims.table import Verdict
from ..complexity import FORMULAS, INTERACTIONS, Exponent, exponents
from ..figures.styles import solver_label
from ..grid import IALS, IALSPP, ICD, SPECTRAL, Configuration
from ..published import PAPER_COUNTS, SOURCES, Published, is_same_data, published_for
from ..run import Run, metric_label

NOTHING = "—"
LONG_CELL = 32  # characters: a column of text that has no longer cell is not broken
PROTOCOL_LABELS = {"strong": "strong generalisation", "weak": "weak generalisation"}
PAPER_NAMES = {"ml-20m": "ML20M", "msd": "MSD"}


class Bold(str):
    """A cell that stands out."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; `words` names the columns of text, which start on the left and may be broken."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    words: tuple[str, ...] = ()

    @property
    def styles(self) -> list[str]:
        longest = [
            max((len(row[place]) for row in self.rows), default=0) for place in range(len(self.columns))
        ]
        return [
            "number" if name not in self.words else "words long" if size > LONG_CELL else "words"
            for name, size in zip(self.columns, longest, strict=True)
        ]


# Claims


def claims_table(title: str, verdicts: Sequence[Verdict], why: str = "") -> Table:
    """List claims with what was measured; `why` names the last column, which is left out without a name."""
    columns = ("no.", "where", "claim", "paper", "here", why)[: None if why else -1]
    rows = [
        (str(v.claim.number), v.claim.where, v.claim.sentence, v.claim.paper, v.finding.ours, v.finding.why)
        for v in verdicts
    ]
    return Table(title, columns, tuple(row[: len(columns)] for row in rows), words=columns)


# The paper's two tables


def data_table(run: Run) -> Table:
    """List the data and the hyperparameters, as the paper's Table 2, beside the paper's values."""
    data, settings = run.data, run.settings
    known = canonical(data.name.removeprefix(SYNTHETIC))
    users, items, pairs = PAPER_COUNTS.get(known, (0, 0, 0))
    paper = HYPERPARAMETERS.get(known, HYPERPARAMETERS["ml-20m"])
    rows = (
        ("data", data.name, PAPER_NAMES.get(known, "")),
        ("evaluation", PROTOCOL_LABELS.get(data.protocol, data.protocol), PROTOCOL_LABELS["strong"]),
        ("scale", f"{data.scale:g}", "1"),
        ("|U|", f"{data.users:,}", f"{users:,}"),
        ("|I|", f"{data.items:,}", f"{items:,}"),
        ("|S|", f"{data.interactions:,}", f"{pairs / 1e6:.1f}M"),
        ("|U|, trained on", f"{data.train_users:,}", ""),
        ("|I|, trained on", f"{data.train_items:,}", ""),
        ("|S|, trained on", f"{data.train_interactions:,}", ""),
        ("test users", f"{data.test_users:,}", ""),
        ("lambda", f"{settings.regularization:g}", f"{paper.regularization:g}"),
        ("alpha0", f"{settings.unobserved_weight:g}", f"{paper.unobserved_weight:g}"),
        ("nu", f"{settings.exponent:g}", "1"),
        ("sigma", f"{settings.init_stddev:g}", "0.1"),
        ("T, epochs", f"{settings.epochs}", f"{paper.epochs}"),
        ("hyperparameters from", settings.chosen_by, ""),
        ("order of iALS++", f"{settings.sweep} by {settings.sweep}", "block by block"),
    )
    columns = ("", "here", "the paper")[: 3 if known in PAPER_COUNTS else 2]
    return Table(
        "Data and hyperparameters", columns, tuple(row[: len(columns)] for row in rows), words=columns
    )


def formulas_table() -> Table:
    """List the formulas of the paper's Table 1, and that of SpectralCG."""
    rows = [
        (solver_label(name, None), each.runtime, each.memory, "yes" if each.vector_instructions else "no")
        for name, each in FORMULAS.items()
    ]
    columns = ("solver", "runtime of an epoch", "memory", "vector instructions")
    note = (
        f"|π| is the block size. The d³ of {SPECTRAL} is for eigenvectors. The second part of its memory is "
        "a copy in half precision, which it makes if the vectors are large."
    )
    return Table("By the formulas", columns, tuple(rows), note, columns)


def exponents_table(run: Run) -> Table:
    columns = ("solver", "seconds grow with", "measured", "formula", "points", "range")
    note = (
        "Slopes of least squares through the logarithms. The formula's slope is fitted to its values at the "
        "same points, with |U|, |I| and |S| of the training data; over blocks, from the fastest on."
    )
    return Table("Exponents", columns, tuple(map(_exponent_row, exponents(run))), note, columns[:2])


def _exponent_row(each: Exponent) -> tuple[str, ...]:
    name = solver_label(each.solver, each.block) if each.solver == IALSPP else each.solver
    at_dim = "" if each.dim is None else f", d = {each.dim}"
    first, last = each.points[0][0], each.points[-1][0]
    ends = f"{first:,.0f} to {last:,.0f}" if each.variable == INTERACTIONS else f"{first:g} to {last:g}"
    slopes = f"{each.measured:.2f}", f"{each.formula:.2f}"
    return (name + at_dim, each.variable, *slopes, str(len(each.points)), ends)


# Times and quality


def times_table(run: Run) -> Table:
    """List the seconds per epoch: a row for each d, a column for each block size."""
    names = {each.block_name for each in run.timed()}
    sizes = sorted((name for name in names if name.isdigit()), key=int)
    columns = [name for name in (ICD, *sizes, IALS, SPECTRAL) if name in names]
    rows = []
    for dim in run.timed_dims():
        blocks = run.over_blocks(dim)
        fastest = min(blocks, key=blocks.__getitem__, default=0)
        own = {each: three_digits(run.known_seconds(each)) for each in run.timed() if each.dim == dim}
        cells = {c.block_name: Bold(text) if c.block == fastest else text for c, text in own.items()}
        rows.append((str(dim), *(cells.get(column, NOTHING) for column in columns)))
    return Table(
        "Seconds per epoch, by d and block size",
        ("d", *columns),
        tuple(rows),
        f"The fastest block size at each d is bold; {ICD} has block size 1, {IALS} has d. {SPECTRAL} has no "
        "blocks and is not in the paper.",
    )


def three_digits(seconds: float) -> str:
    """Write three digits, and all before the point."""
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:#.3g}".rstrip(".")


def quality_table(run: Run) -> Table:
    rows = []
    for each in run.trained():
        finals = [run.final(metric, each) for metric in run.settings.metrics]
        rows.append((str(each.dim), each.block_name, str(len(finals[0])), *map(_mean_and_spread, finals)))
    columns = ("d", "block", "seeds", *map(metric_label, run.settings.metrics))
    note = f"After {run.settings.epochs} epochs. ± is the standard deviation over seeds."
    return Table("Final quality, by d and block size", columns, tuple(rows), note)


def _mean_and_spread(values: Sequence[float]) -> str:
    return f"{fmean(values):.4f}" + (f" ± {stdev(values):.4f}" if len(values) > 1 else "")


def published_table(run: Run) -> Table:
    """List our solvers as measured here, then what others report for this data; empty without either."""
    metrics, published = run.settings.metrics, published_for(run.data) if run.trainings else []
    rows = [_own_row(run, each) for each in _bests(run, published)] if published else []
    rows += [_published_row(each, metrics) for each in published]
    note = (
        "Measured here: each solver at the published d, or else at its best, the mean over seeds. Block and "
        f"d are those with the best {metric_label(run.main_metric)} on the test users."
    )
    if not is_same_data(run.data):
        note += f" The published numbers are of other data: this has {run.data.interactions:,} interactions."
    columns = ("system", "d", *map(metric_label, metrics), "source")
    return Table("Beside published numbers", columns, tuple(rows), note, ("system", "source"))


def _own_row(run: Run, own: Configuration) -> tuple[str, ...]:
    means = (f"{fmean(run.final(metric, own)):.4f}" for metric in run.settings.metrics)
    return tuple(map(Bold, (solver_label(own.solver, own.block), str(own.dim), *means, "measured here")))


def _published_row(published: Published, metrics: Sequence[str]) -> tuple[str, ...]:
    """Write three digits, or four where any of the values has them."""
    digits = 3 if all(round(value, 3) == value for value in published.metrics.values()) else 4
    found = [published.metrics.get(metric) for metric in metrics]
    values = [NOTHING if value is None else f"{value:.{digits}f}" for value in found]
    return (
        published.system,
        str(published.dim or NOTHING),
        *values,
        f"published: {SOURCES[published.source]}",
    )


def _bests(run: Run, published: Sequence[Published]) -> list[Configuration]:
    """Choose each solver's best at each published d; if it was trained at none of them, its best of all."""

    def quality(configuration: Configuration) -> float:
        return fmean(run.final(run.main_metric, configuration))

    dims = sorted({each.dim for each in published if each.dim is not None})
    bests: list[Configuration] = []
    for solver in (ICD, IALS, IALSPP, SPECTRAL):
        own = [each for each in run.trained() if each.solver == solver]
        at_dims = [[each for each in own if each.dim == dim] for dim in dims]
        bests += [max(choice, key=quality) for choice in filter(None, at_dims if any(at_dims) else [own])]
    return bests


# The machine


def machine_table(run: Run) -> Table:
    names = ("processor", "threads", "instruction set", "version of ialspp", "begun")
    machine = run.machine
    values = (machine.cpu, str(machine.threads), machine.isa, machine.version, run.date)
    return Table("Where and when", ("", "here"), tuple(zip(names, values, strict=True)), words=("", "here"))
