"""Write report.html and report.md from the templates."""

import re
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ialspp.files.atomic import whole_file
from ialspp.system.printable import printable

from ..claims.table import judge_claims
from ..claims.thresholds import THRESHOLDS
from ..figures.drawing import pictures
from ..run import Run
from ..schedule import LONG
from . import tables
from .missing import left_out_lines

HTML, MARKDOWN = "report.html", "report.md"
HEADINGS = {
    "claims": "Claims", "data": "Data (the paper's Table 2)", "complexity": "Complexity (Table 1)",
    "time": "Seconds per epoch (Figure 1)", "quality": "Final quality (Figure 2)",
    "epochs": "Convergence over epochs (Figure 3)", "wall-time": "Convergence over wall time (Figure 4)",
    "thresholds": "How claims are judged", "left-out": "What was left out", "measured": "How it was measured",
}  # fmt: skip
MEANS_SOMETHING = re.compile(r"([\\`*_|~\[\]$#])")  # to Markdown, or to GitHub's


def write_report(run: Run, folder: Path) -> None:
    """Write report.html and report.md, both or neither; the folder is made where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    # Neither file gets its name before both are open: if one cannot be written, the other is unchanged.
    with whole_file(folder / HTML) as page, whole_file(folder / MARKDOWN) as summary:
        page.write(_rendered("report.html.jinja", {**_content(run), "pictures": pictures(run)}).encode())
        summary.write(render_summary(run).encode())


def render_summary(run: Run) -> str:
    """Write the run as Markdown, which has no pictures."""
    return _rendered("report.md.jinja", _content(run))


def _content(run: Run) -> dict[str, Any]:
    """Collect what the templates show, besides the tables that they make from the run."""
    verdicts = judge_claims(run)
    fails, holds, unmeasured = ([v for v in verdicts if v.finding.holds is x] for x in (False, True, None))
    return {
        "run": run,
        "tables": tables,
        "title": f"The iALS++ paper's evaluation on {run.data.name}",
        "summary": _summary(len(fails), len(holds), len(unmeasured)),
        "claims": {
            "fails": tables.claims_table("✗ Does not hold here", fails, "why"),
            "holds": tables.claims_table("✓ Holds here", holds),
            "unmeasured": tables.claims_table("— Not measured here", unmeasured, "what is missing"),
        },
        "headings": HEADINGS,
        "thresholds": THRESHOLDS,
        "left_out": left_out_lines(run),
        "method": _method(run),
    }


def _summary(failing: int, holding: int, unmeasured: int) -> str:
    if failing + holding == 0:
        return f"None of the paper's {unmeasured} claims could be measured here."
    counts = f"{holding} of the {failing + holding} claims measured here hold, {failing} do not."
    return counts + (f" {unmeasured} were not measured." if unmeasured else "")


def _method(run: Run) -> str:
    rounds = 1 + max((timing.task.round for timing in run.timings), default=0)
    several = f"in up to {rounds} interleaved rounds, and the fastest counts; beyond {LONG:g} s only once"
    return (
        "The seconds of an epoch include its updates of users and items and its exact loss, on all threads. "
        "They include neither reading the data nor evaluation. Each configuration was timed "
        f"{several if rounds > 1 else 'once'}. "
        "Convergence over wall time adds up the epochs of the trainings themselves."
    )


def _rendered(name: str, content: dict[str, Any]) -> str:
    is_html = name.endswith(".html.jinja")
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=is_html,
        finalize=_printable if is_html else None,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"plain": plain, "printable": printable}
    environment.tests["bold"] = lambda cell: isinstance(cell, tables.Bold)
    return environment.get_template(name).render(content)


def _printable(value: Any) -> Any:
    """Escape control characters in text, and keep "d = 64" on one line."""
    is_text = isinstance(value, str) and not isinstance(value, Markup)
    return printable(value).replace("d = ", "d\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}") if is_text else value


def plain(text: str) -> str:
    """Escape what would mean something to Markdown; not every Markdown takes a backslash before < and &."""
    return MEANS_SOMETHING.sub(r"\\\1", escape(printable(text), quote=False))
