"""The paper's two tables: data and hyperparameters as found, and complexity beside measured exponents."""

from __future__ import annotations

from ..benchmark import HYPERPARAMETERS, SYNTHETIC, canonical
from ..complexity import FORMULAS, INTERACTIONS, Exponent, exponents
from ..published import PAPER_COUNTS
from ..run import Run
from .document import Cell, Table

PROTOCOLS = {
    "strong": "strong generalisation",
    "weak": "weak generalisation",
    "leave-one-out": "leave one out",
}
PAPER_NAMES = {"ml-20m": "ML20M", "msd": "MSD"}


# Data


def data_table(run: Run) -> Table:
    """The paper's Table 2: what was trained on, and with which hyperparameters; the paper's beside it."""
    here, paper = facts(run), paper_facts(run.data.name)
    rows = [(name, value, *([paper.get(name, "")] if paper else [])) for name, value in here.items()]
    columns = ("", "here", *(["the paper"] if paper else []))
    return Table("Data and hyperparameters", columns, tuple(rows), words=columns)


def facts(run: Run) -> dict[str, str]:
    """Of the data and the settings, by name."""
    data, settings = run.data, run.settings
    return {
        "data": data.name,
        "evaluation": PROTOCOLS.get(data.protocol, data.protocol),
        "scale": f"{data.scale:g}",
        "|U|": f"{data.users:,}",
        "|I|": f"{data.items:,}",
        "|S|": f"{data.interactions:,}",
        "|U|, trained on": f"{data.train_users:,}",
        "|I|, trained on": f"{data.train_items:,}",
        "|S|, trained on": f"{data.train_interactions:,}",
        "users asked": f"{data.test_users:,}",
        "lambda": f"{settings.regularization:g}",
        "alpha0": f"{settings.unobserved_weight:g}",
        "nu": f"{settings.exponent:g}",
        "sigma": f"{settings.init_stddev:g}",
        "T, epochs": f"{settings.epochs}",
        "hyperparameters from": settings.chosen_by,
        "order of iALS++": f"{settings.sweep} by {settings.sweep}",
    }


def paper_facts(name: str) -> dict[str, str]:
    """What the paper says of the data set of that name, or of the one whose shape was generated."""
    known = canonical(name.removeprefix(SYNTHETIC))
    if known not in PAPER_COUNTS:
        return {}
    users, items, interactions = PAPER_COUNTS[known]
    hyperparameters = HYPERPARAMETERS[known]
    return {
        "data": PAPER_NAMES[known],
        "evaluation": PROTOCOLS["strong"],
        "scale": "1",
        "|U|": f"{users:,}",
        "|I|": f"{items:,}",
        "|S|": f"{interactions / 1e6:.1f}M",
        "lambda": f"{hyperparameters.regularization:g}",
        "alpha0": f"{hyperparameters.unobserved_weight:g}",
        "nu": "1",
        "sigma": "0.1",
        "T, epochs": f"{hyperparameters.epochs}",
        "order of iALS++": "block by block",
    }


# Complexity


def formulas_table() -> Table:
    """The paper's Table 1, and our own solver below it."""
    rows = [
        (
            name if formula.in_paper else f"{name} (not in the paper)",
            Cell(formula.runtime, "formula"),
            Cell(formula.memory, "formula"),
            "yes" if formula.vector_instructions else "no",
        )
        for name, formula in FORMULAS.items()
    ]
    columns = ("solver", "runtime of an epoch", "memory", "vector instructions")
    return Table("By the formulas", columns, tuple(rows), words=columns, note="|π| is the block size.")


def exponents_table(run: Run) -> Table:
    """How the seconds of an epoch grow, as measured and by the formulas."""
    rows = [
        (
            _label(each),
            each.variable,
            f"{each.measured:.2f}",
            f"{each.formula:.2f}",
            f"{len(each.points)}",
            _range(each),
        )
        for each in exponents(run)
    ]
    return Table(
        "Exponents",
        ("solver", "seconds grow with", "measured", "formula", "points", "range"),
        tuple(rows),
        words=("solver", "seconds grow with"),
        note="Slopes of least squares through the logarithms. The formula's is fitted to its value at the "
        "same points, with |U|, |I| and |S| of the data trained on. Over block sizes: from the fastest on.",
    )


def _label(exponent: Exponent) -> str:
    block = f" ({exponent.block})" if exponent.block is not None else ""
    return f"{exponent.solver}{block}" + (f", d = {exponent.dim}" if exponent.dim is not None else "")


def _range(exponent: Exponent) -> str:
    first, last = exponent.points[0][0], exponent.points[-1][0]
    return f"{first:,.0f} to {last:,.0f}" if exponent.variable == INTERACTIONS else f"{first:g} to {last:g}"
