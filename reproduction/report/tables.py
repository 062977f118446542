"""The tables of a report, as rows of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from ..benchmark import HYPERPARAMETERS, SYNTHETIC, canonical
from ..claims import Verdict
from ..complexity import FORMULAS, INTERACTIONS, Exponent, exponents
from ..figures.styles import solver_label
from ..grid import IALS, IALSPP, ICD, SPECTRAL, Configuration
from ..published import PAPER_COUNTS, Published, is_same_data, published_for
from ..run import Run, metric_label

NOTHING = "—"
SHORT_CELL, LONG_CELL = (
    32,
    40,
)  # characters: up to the first, a cell is not broken; beyond the second, not narrow
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
        """The CSS classes of the columns."""
        return [self._style(place, name in self.words) for place, name in enumerate(self.columns)]

    def _style(self, place: int, is_words: bool) -> str:
        longest = max((len(row[place]) for row in self.rows), default=0)
        if not is_words:
            return "number"
        return "words short" if longest <= SHORT_CELL else "words long" if longest > LONG_CELL else "words"

    @property
    def is_list_when_narrow(self) -> bool:
        """Whether a narrow screen shows each row as a list: only tables of text alone."""
        return len(self.columns) > 3 and set(self.columns) == set(self.words)

    @property
    def is_grouped(self) -> bool:
        """Whether several rows share the number in the first column."""
        return self.columns[0] not in self.words and len({row[0] for row in self.rows}) < len(self.rows)


# Claims


def claims_table(title: str, verdicts: Sequence[Verdict], why: str) -> Table:
    """List claims with what was measured; `why` names the last column, and is left out where empty."""
    columns = ("no.", "where", "what the paper says", "paper", "here", *([why] if why else []))
    rows = [
        (str(v.claim.number), v.claim.where, v.claim.sentence, v.claim.paper, v.finding.ours, v.finding.why)
        for v in verdicts
    ]
    return Table(title, columns, tuple(row[: len(columns)] for row in rows), words=columns)


# The paper's two tables


def data_table(run: Run) -> Table:
    """List the data and the hyperparameters, as the paper's Table 2, with the paper's values beside them."""
    here, paper = _facts(run), _paper_facts(run.data.name)
    columns = ("", "here", *(["the paper"] if paper else []))
    rows = [(name, value, paper.get(name, ""))[: len(columns)] for name, value in here.items()]
    return Table("Data and hyperparameters", columns, tuple(rows), words=columns)


def _facts(run: Run) -> dict[str, str]:
    data, settings = run.data, run.settings
    return {
        "data": data.name,
        "evaluation": PROTOCOL_LABELS.get(data.protocol, data.protocol),
        "scale": f"{data.scale:g}",
        "|U|": f"{data.users:,}",
        "|I|": f"{data.items:,}",
        "|S|": f"{data.interactions:,}",
        "|U|, trained on": f"{data.train_users:,}",
        "|I|, trained on": f"{data.train_items:,}",
        "|S|, trained on": f"{data.train_interactions:,}",
        "test users": f"{data.test_users:,}",
        "lambda": f"{settings.regularization:g}",
        "alpha0": f"{settings.unobserved_weight:g}",
        "nu": f"{settings.exponent:g}",
        "sigma": f"{settings.init_stddev:g}",
        "T, epochs": f"{settings.epochs}",
        "hyperparameters from": settings.chosen_by,
        "order of iALS++": f"{settings.sweep} by {settings.sweep}",
    }


def _paper_facts(name: str) -> dict[str, str]:
    """List the paper's values for the data set of that name, or for the one whose shape was generated."""
    known = canonical(name.removeprefix(SYNTHETIC))
    if known not in PAPER_COUNTS:
        return {}
    users, items, interactions = PAPER_COUNTS[known]
    return {
        "data": PAPER_NAMES[known],
        "evaluation": PROTOCOL_LABELS["strong"],
        "scale": "1",
        "|U|": f"{users:,}",
        "|I|": f"{items:,}",
        "|S|": f"{interactions / 1e6:.1f}M",
        "lambda": f"{HYPERPARAMETERS[known].regularization:g}",
        "alpha0": f"{HYPERPARAMETERS[known].unobserved_weight:g}",
        "nu": "1",
        "sigma": "0.1",
        "T, epochs": f"{HYPERPARAMETERS[known].epochs}",
        "order of iALS++": "block by block",
    }


def formulas_table() -> Table:
    """List the formulas of the paper's Table 1, and that of SpectralCG."""
    rows = [
        (
            solver_label(name, None).removesuffix(" (None)"),
            f.runtime,
            f.memory,
            "yes" if f.vector_instructions else "no",
        )
        for name, f in FORMULAS.items()
    ]
    columns = ("solver", "runtime of an epoch", "memory", "vector instructions")
    return Table("By the formulas", columns, tuple(rows), "|π| is the block size.", columns)


def exponents_table(run: Run) -> Table:
    """List how the seconds of an epoch grow, as measured and by the formulas."""
    rows = [
        (
            _exponent_name(e),
            e.variable,
            f"{e.measured:.2f}",
            f"{e.formula:.2f}",
            str(len(e.points)),
            _range(e),
        )
        for e in exponents(run)
    ]
    return Table(
        "Exponents",
        ("solver", "seconds grow with", "measured", "formula", "points", "range"),
        tuple(rows),
        "Slopes of least squares through the logarithms. The formula's slope is fitted to its values at the same "
        "points, with |U|, |I| and |S| of the training data. Over block sizes: from the fastest block on.",
        ("solver", "seconds grow with"),
    )


def _exponent_name(exponent: Exponent) -> str:
    block = f" ({exponent.block})" if exponent.block is not None else ""
    return f"{exponent.solver}{block}" + (f", d = {exponent.dim}" if exponent.dim is not None else "")


def _range(exponent: Exponent) -> str:
    first, last = exponent.points[0][0], exponent.points[-1][0]
    return f"{first:,.0f} to {last:,.0f}" if exponent.variable == INTERACTIONS else f"{first:g} to {last:g}"


# Times and quality


def times_table(run: Run) -> Table:
    """List the seconds per epoch: a row for each d, a column for each block size."""
    names = {each.block_name for each in run.timed()}
    sizes = sorted((name for name in names if name.isdigit()), key=int)
    columns = [name for name in (ICD, *sizes, IALS, SPECTRAL) if name in names]
    rows = []
    for dim in run.timed_dims():
        blocks = run.over_blocks(dim)
        fastest = min(blocks, key=blocks.__getitem__, default=None)
        cells = {
            c.block_name: (Bold if c.block == fastest else str)(three_digits(run.known_seconds(c)))
            for c in run.timed()
            if c.dim == dim
        }
        rows.append((str(dim), *(cells.get(column, NOTHING) for column in columns)))
    note = f"The fastest block size at each d is bold; {ICD} has block size 1, {IALS} d. {SPECTRAL} has no blocks"
    title = "Seconds per epoch, by d and block size"
    return Table(title, ("d", *columns), tuple(rows), f"{note} and is not in the paper.")


def three_digits(seconds: float) -> str:
    """Write three digits, and all before the point."""
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:#.3g}".rstrip(".")


def quality_table(run: Run) -> Table:
    """List the quality after the last epoch: the mean over seeds and the spread."""
    metrics = run.settings.metrics
    rows = [
        (
            str(each.dim),
            each.block_name,
            str(len(run.trainings_of(each))),
            *(_mean_and_spread(run.final(metric, each)) for metric in metrics),
        )
        for each in run.trained()
    ]
    note = f"After {run.settings.epochs} epochs. ± is the standard deviation over seeds."
    columns = ("d", "block", "seeds", *map(metric_label, metrics))
    return Table("Final quality, by d and block size", columns, tuple(rows), note)


def _mean_and_spread(values: Sequence[float]) -> str:
    return f"{fmean(values):.4f}" + (f" ± {stdev(values):.4f}" if len(values) > 1 else "")


def published_table(run: Run) -> Table:
    """List our solvers as measured here, then what others report for this data; empty without either."""
    metrics, published = run.settings.metrics, published_for(run.data) if run.trainings else []
    own = [_own_row(run, each) for each in _bests(run, published)]
    other_data = (
        ""
        if is_same_data(run.data)
        else f" The published numbers are of other data: this has {run.data.interactions:,} interactions."
    )
    return Table(
        "Beside published numbers",
        ("system", "d", *map(metric_label, metrics), "source"),
        (*own, *(_published_row(each, metrics) for each in published)) if published else (),
        "Measured here: each solver at the published d, or else at its best, the mean over seeds. Block and "
        f"d are those with the best {metric_label(run.main_metric)} on the test users.{other_data}",
        ("system", "source"),
    )


def _published_row(published: Published, metrics: Sequence[str]) -> tuple[str, ...]:
    """Write three digits, or four where any of the values has them."""
    digits = 3 if all(round(value, 3) == value for value in published.metrics.values()) else 4
    found = [published.metrics.get(metric) for metric in metrics]
    values = [NOTHING if value is None else f"{value:.{digits}f}" for value in found]
    dim = NOTHING if published.dim is None else str(published.dim)
    return (published.system, dim, *values, f"published: {published.source}")


def _bests(run: Run, published: Sequence[Published]) -> list[Configuration]:
    """Choose each solver's best at each published d; if it was trained at none of them, its best of all."""
    dims = sorted({each.dim for each in published if each.dim is not None})
    bests: list[Configuration] = []
    for solver in (ICD, IALS, IALSPP, SPECTRAL):
        own = [each for each in run.trained() if each.solver == solver]
        at_dims = [[each for each in own if each.dim == dim] for dim in dims]
        choices = [choice for choice in at_dims if choice] or [own]
        bests += [
            max(choice, key=lambda each: fmean(run.final(run.main_metric, each)))
            for choice in choices
            if choice
        ]
    return bests


def _own_row(run: Run, own: Configuration) -> tuple[str, ...]:
    means = (f"{fmean(run.final(metric, own)):.4f}" for metric in run.settings.metrics)
    return tuple(map(Bold, (solver_label(own.solver, own.block), str(own.dim), *means, "measured here")))


# The machine


def machine_table(run: Run) -> Table:
    """List where, with what and when the run was made."""
    machine = run.machine
    rows = (
        ("processor", machine.cpu),
        ("threads", str(machine.threads)),
        ("instruction set", machine.isa),
        ("version of ialspp", machine.version),
        ("begun", run.date),
    )
    return Table("Where and when", ("", "here"), rows, words=("", "here"))
