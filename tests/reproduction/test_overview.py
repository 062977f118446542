"""The table over all runs: which run decides a claim, and that the page in the docs has it."""

import re
from pathlib import Path

import pytest

from reproduction.claims.findings import Finding
from reproduction.claims.table import CLAIMS
from reproduction.overview import (
    BEGIN,
    COLUMNS,
    DEPENDS,
    END,
    FAILS,
    HOLDS,
    OPEN,
    Decision,
    decide,
    decisions,
    with_table,
)

PAPER = Path(__file__).parents[2] / "docs/paper"
RUNS = ["ml20m", "ml20m-twentieth", "ncf-ml1m", "gowalla", "msd-times"]

yes = Finding("12x", True)
no = Finding("8x", False, "8x is less than 10x. It takes 1 s")
unknown = Finding("", None, "needs more d")


@pytest.mark.parametrize(
    ("findings", "verdict", "deciding"),
    [
        ({"a": unknown, "b": yes, "c": yes}, HOLDS, ["b"]),
        ({"a": no, "b": unknown, "c": no}, FAILS, ["a"]),
        ({"a": no, "b": yes, "c": no}, DEPENDS, ["a", "b"]),
        ({"a": unknown, "b": unknown}, OPEN, ["a"]),
    ],
)
def test_the_first_run_that_can_judge_decides(findings, verdict, deciding):
    decision = Decision(CLAIMS[0], decide(findings))
    assert decision.verdict == verdict
    assert list(decision.findings) == deciding


def test_a_row_names_the_run_and_the_first_reason():
    row = Decision(CLAIMS[2], decide({"here": no})).row()
    assert row[0] == "3"
    assert row[3:] == (FAILS, "8x", "[here](here/report.html)", "8x is less than 10x")


def test_a_claim_that_no_run_could_judge_says_what_is_missing():
    row = Decision(CLAIMS[2], decide({"here": unknown})).row()
    assert row[3:] == (OPEN, "", "", "needs more d")


def test_the_docs_have_the_table_of_the_measurements_beside_it():
    page = (PAPER / "index.md").read_text(encoding="utf-8")
    assert with_table(page, decisions([PAPER / name for name in RUNS])) == page


def test_narrow_windows_show_the_names_of_the_columns():
    style = (PAPER.parent / "stylesheets/extra.css").read_text(encoding="utf-8")
    names = re.findall(r'td:nth-child\((\d)\)::before {\s+content: "(.*)";', style)
    assert names == [(str(place), name) for place, name in enumerate(COLUMNS, 1)]
    page = (PAPER / "index.md").read_text(encoding="utf-8")
    assert "\n## Every claim, and the run that decides it\n" in page
    assert "#every-claim-and-the-run-that-decides-it" in style


@pytest.mark.parametrize("page", ["no marks", BEGIN, f"{BEGIN}{END}{BEGIN}{END}"])
def test_a_page_without_the_marks_is_refused(page):
    with pytest.raises(SystemExit, match="each once"):
        with_table(page, [])
