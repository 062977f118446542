"""The report of a run: the paper's evaluation in its order, as report.html, and a summary as report.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...files.atomic import whole_file
from ..claims import THRESHOLDS, Verdict, claims
from ..figures import pictures
from ..run import Run
from .document import Commands, Document, Items, Part, Section, Table
from .remarks import claims_summary, claims_table, left_out, machine_table, what_a_second_counts
from .render import html, markdown
from .results import published_table, quality_table, times_table
from .tables import data_table, exponents_table, formulas_table

HTML, MARKDOWN = "report.html", "report.md"
PAPER = (
    "Steffen Rendle, Walid Krichene, Li Zhang and Yehuda Koren, iALS++: Speeding up Matrix Factorization "
    "with Subspace Optimization, https://arxiv.org/abs/2110.14044"
)
# Of the sections, in the order of the Markdown summary.
SUMMARY = ("differences", "claims", "data", "time", "quality", "left-out", "measured")


def write_report(run: Run, folder: Path) -> None:
    """Write report.html and report.md, both or neither; the folder is made where there is none."""
    verdicts = claims(run)
    title = f"The iALS++ paper's evaluation on {run.data.name}"
    about = (
        f"{run.date}, ialspp {run.machine.version}, {run.machine.threads} threads of {run.machine.cpu}; "
        f"{run.data.train_interactions:,} interactions trained on.",
        f"The paper: {PAPER}.",
    )
    sections = report_sections(run, verdicts)
    write_pair(Document(title, (claims_summary(verdicts), *about), sections), folder)


def write_pair(document: Document, folder: Path) -> None:
    """All of it as HTML, the sections of the summary as Markdown."""
    by_anchor = {section.anchor: section for section in document.sections}
    summary = Document(
        document.title,
        (*document.summary, f"The figures and all tables are in {HTML}, beside this file."),
        tuple(by_anchor[anchor] for anchor in SUMMARY if anchor in by_anchor),
    )
    folder.mkdir(parents=True, exist_ok=True)
    # Neither gets its name before both are open: where one cannot be written, the other stays as it was.
    with whole_file(folder / HTML) as page, whole_file(folder / MARKDOWN) as text:
        page.write(html(document).encode())
        text.write(markdown(summary).encode())


def report_sections(run: Run, verdicts: Sequence[Verdict]) -> tuple[Section, ...]:
    """In the paper's order."""
    drawn = pictures([run])
    over_dims, over_blocks = drawn.get("figure-1a"), drawn.get("figure-1b")
    return (
        section("data", "Data (the paper's Table 2)", data_table(run)),
        section("complexity", "Complexity (Table 1)", formulas_table(), exponents_table(run)),
        section("time", "Seconds per epoch (Figure 1)", over_dims, over_blocks, times_table(run)),
        section(
            "quality",
            "Final quality (Figure 2)",
            drawn.get("figure-2"),
            quality_table(run),
            published_table(run),
        ),
        section("epochs", "Convergence over epochs (Figure 3)", drawn.get("figure-3")),
        section("wall-time", "Convergence over wall time (Figure 4)", drawn.get("figure-4")),
        claims_section(verdicts),
        left_out_section(run),
        section("measured", "How it was measured", *measured_parts(run)),
    )


def section(anchor: str, title: str, *parts: Part | None) -> Section:
    """Of the parts that have something to show; where there is none, it says so."""
    shown = tuple(part for part in parts if part and not (isinstance(part, Table) and not part.rows))
    return Section(anchor, title, shown or ("Nothing was measured for this.",))


def claims_section(verdicts: Sequence[Verdict]) -> Section:
    """The claims, and what counts as holding."""
    thresholds = Items("What counts", tuple(THRESHOLDS))
    return section("claims", "Claims", claims_summary(verdicts), claims_table(verdicts), thresholds)


def left_out_section(run: Run) -> Section:
    """A list, or that there is nothing on it."""
    lines = left_out(run)
    listed = Items("Asked for and not measured:", lines) if lines else "Everything asked for was measured."
    return section("left-out", "What was left out", listed)


def measured_parts(run: Run) -> tuple[Part, ...]:
    """Machine, method and commands."""
    return (machine_table(run), what_a_second_counts([run]), "To repeat it:", Commands(run.commands))
