"""Reports of made-up runs, read back."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from support.made_up_runs import METRICS, ML20M, made_up, paper_seconds
from support.pages import Page, markdown_tables

from reproduction.claims.table import judge_claims
from reproduction.claims.thresholds import THRESHOLDS
from reproduction.journal import read_run
from reproduction.report.writing import render_summary, write_report

DIMS = (64, 128, 256)
EMPTY = "Nothing was measured for this."
HEADINGS = [
    "Claims",
    "Data (the paper's Table 2)",
    "Complexity (Table 1)",
    "Seconds per epoch (Figure 1)",
    "Final quality (Figure 2)",
    "Convergence over epochs (Figure 3)",
    "Convergence over wall time (Figure 4)",
    "How claims are judged",
    "What was left out",
    "How it was measured",
]
PAPER = Path(__file__).resolve().parents[2] / "docs" / "paper"


@pytest.fixture(scope="module")
def run():
    """The paper's times, but iCD three times as fast, so that some claims fail."""

    def seconds(dim, block, share=1.0):
        return paper_seconds(dim, block, share) / (3 if block == 1 else 1)

    return made_up(seconds, dims=DIMS, seeds=2, rounds=2)


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report") / "made" / "here"
    write_report(run, folder)
    return folder


@pytest.fixture(scope="module")
def source(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(source):
    return Page(source)


@pytest.fixture(scope="module")
def summary(folder):
    return (folder / "report.md").read_text(encoding="utf-8")


def reported(run, folder):
    """The page and the summary of a run."""
    write_report(run, folder)
    html, markdown = ((folder / name).read_text(encoding="utf-8") for name in ("report.html", "report.md"))
    return Page(html), markdown


# All of it


def test_the_report_has_the_claims_first_and_then_every_part_in_the_papers_order(page):
    assert page.headings == HEADINGS
    assert page.count("img") == page.count("figure") == page.count("figcaption") == 5
    assert page.count("table") == 10
    assert EMPTY not in page.text


def test_both_open_with_what_does_not_hold_and_why(run, source, summary):
    verdicts = judge_claims(run)
    numbers = [[v.claim.number for v in verdicts if v.finding.holds is x] for x in (False, True, None)]
    assert all(numbers)
    tables = [rows for rows in markdown_tables(summary) if rows[0][0] == "no."]
    assert [rows[0][-1] for rows in tables] == ["why", "here", "what is missing"]
    assert [[int(row[0]) for row in rows[2:]] for rows in tables] == numbers
    for text in (source, summary):
        places = [text.index(title) for title in ("✗ Does not hold", "✓ Holds", "— Not measured")]
        assert places == sorted(places)
        assert places[-1] < text.index("Data and hyperparameters")


def test_every_claim_is_in_both_files(run, page, summary):
    plain = unescape(summary.replace("\\", ""))
    for each in judge_claims(run):
        row = f"{each.claim.number} {each.claim.where} {each.claim.sentence} {each.claim.paper}"
        assert row in page.text
        for words in (each.claim.sentence, each.finding.ours, each.finding.why):
            assert words in page.text
            assert words in plain
    assert all(threshold in page.text and threshold in plain for threshold in THRESHOLDS)


def test_both_say_how_many_claims_hold(run, page, summary):
    found = [each.finding.holds for each in judge_claims(run)]
    holding, failing, unmeasured = found.count(True), found.count(False), found.count(None)
    said = f"{holding} of the {holding + failing} claims measured here hold, {failing} do not."
    for text in (page.text, summary):
        assert f"{said} {unmeasured} were not measured." in text


def test_rounds_are_those_that_were_measured(page, tmp_path):
    assert "was timed in up to 2 interleaved rounds" in page.text
    assert "was timed once" in reported(nothing(), tmp_path)[1]


def test_the_page_is_well_formed_and_its_links_lead_somewhere(page):
    assert len(page.ids) == len(set(page.ids))
    inside = [link[1:] for link in page.links if link.startswith("#")]
    assert len(inside) == len(HEADINGS)
    assert set(inside) <= set(page.ids)
    assert dict(page.elements)["html"] == {"lang": "en"}


def test_the_page_needs_nothing_beside_it(page, source):
    assert {"script", "link", "iframe", "object", "embed"}.isdisjoint(tag for tag, _ in page.elements)
    for tag, attributes in page.elements:
        assert attributes.get("src", "data:").startswith("data:image/svg+xml;base64,") or tag != "img"
        assert "src" not in attributes or tag == "img"
        assert "href" not in attributes or tag == "a"
    assert "@import" not in source
    assert "url(" not in source


def test_every_picture_has_its_title_in_words(page):
    titles = [attributes["alt"] for tag, attributes in page.elements if tag == "img"]
    assert [title.partition(".")[0].split()[1] for title in titles] == ["1a", "1b", "2", "3", "4"]


def test_tables_are_equally_wide_in_every_row(source, summary):
    tables = markdown_tables(summary)
    assert len(tables) == 8
    assert all(len({len(row) for row in table}) == 1 for table in tables)
    for table in re.findall(r"<table.*?</table>", source, flags=re.DOTALL):
        rows = re.findall(r"<tr.*?</tr>", table, flags=re.DOTALL)
        assert len({len(re.findall("<t[hd]", row)) for row in rows}) == 1


def test_the_summary_points_to_the_page(summary):
    headings = re.findall(r"^## (\w+)", summary, flags=re.MULTILINE)
    assert headings == ["Claims", "Data", "Seconds", "Final", "How", "What", "How"]
    assert "report.html" in summary
    assert "data:" not in summary


def test_the_same_run_gives_the_same_bytes(tmp_path):
    write_report(nothing(), tmp_path / "first")
    write_report(nothing(), tmp_path / "second")
    for name in ("report.html", "report.md"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


# Hardly anything measured


def one_timing():
    run = made_up(dims=(64,), quality=None)
    return replace(run, timings=run.timings[:1])


def one_training():
    run = made_up(None, dims=(64,), metrics=METRICS[-1:])
    return replace(run, trainings=run.trainings[-1:])


def one_share():
    run = made_up(dims=(64,), quality=None)
    return replace(run, timings=tuple(t for t in run.timings if t.task.share == 0.5)[:1])


def nothing():
    return made_up(None, None, dims=(64,))


@pytest.mark.parametrize(
    ("sparse", "pictures", "empty"),
    [(one_timing, 2, 3), (one_training, 3, 1), (one_share, 0, 4), (nothing, 0, 4)],
)
def test_a_report_of_next_to_nothing_comes_out(sparse, pictures, empty, tmp_path):
    page, summary = reported(sparse(), tmp_path)
    assert page.headings == HEADINGS
    assert page.count("img") == pictures
    assert page.text.count(EMPTY) == empty
    assert "Requested and not measured" in summary


def test_nothing_left_out_is_said(tmp_path):
    run = nothing()
    page, summary = reported(replace(run, grids=()), tmp_path)
    assert "Everything requested was measured." in page.text
    assert "Everything requested was measured." in summary


# Odd names


def test_names_are_words_and_nothing_else(tmp_path):
    odd = '<script>alert("1")</script> | a & b `c` *d* \n\x1b[31m \udcff é $x$'
    run = replace(nothing(), data=replace(ML20M, name=odd), commands=(f"make reproduce ARGS='{odd}'",))
    run = replace(run, machine=replace(run.machine, cpu=odd), settings=replace(run.settings, chosen_by=odd))
    page, summary = reported(run, tmp_path)
    assert page.count("script") == 0
    assert page.text.count('<script>alert("1")</script> | a & b `c` *d* \\n\\x1b[31m \\udcff é $x$') == 7
    assert all(len({len(row) for row in table}) == 1 for table in markdown_tables(summary))
    said = "\n".join(
        line for line in summary.splitlines() if not line.startswith("    ")
    )  # commands are code
    assert not re.search(r"(?<!\\)[<`$](?!https://)", said)


# Where it cannot be written


@pytest.mark.parametrize(("taken", "other"), [("report.html", "report.md"), ("report.md", "report.html")])
def test_a_folder_in_the_place_of_either_file_leaves_the_other_as_it_was(taken, other, tmp_path):
    (tmp_path / taken).mkdir()
    (tmp_path / other).write_text("old")
    with pytest.raises(IsADirectoryError) as caught:
        write_report(nothing(), tmp_path)
    assert caught.value.filename == str(tmp_path / taken)
    assert (tmp_path / other).read_text() == "old"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["report.html", "report.md"]


def test_a_file_in_the_place_of_the_folder_is_an_error_that_names_it(tmp_path):
    (tmp_path / "report").write_text("old")
    with pytest.raises(FileExistsError) as caught:
        write_report(nothing(), tmp_path / "report")
    assert caught.value.filename == str(tmp_path / "report")
    assert (tmp_path / "report").read_text() == "old"


# The committed reports


@pytest.mark.parametrize("name", ["gowalla", "ml20m", "ml20m-twentieth", "msd-times", "ncf-ml1m"])
def test_the_committed_reports_are_those_of_the_committed_measurements(name):
    run = read_run(PAPER / name)
    assert (PAPER / name / "report.md").read_text(encoding="utf-8") == render_summary(run)
    page = Page((PAPER / name / "report.html").read_text(encoding="utf-8"))
    assert page.headings == HEADINGS
    assert page.count("img") == 2 * bool(run.timed()) + 3 * bool(run.trained())
    for each in judge_claims(run):
        assert f"{each.claim.sentence} {each.claim.paper} {each.finding.ours}".strip() in page.text
