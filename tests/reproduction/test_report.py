"""Reports of made-up runs, read back."""

import os
import re
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from ialspp.reproduce.claims import THRESHOLDS, claims
from ialspp.reproduce.report import write_report
from support.pages import Page, markdown_tables
from support.reproductions import METRICS, ML20M, made_up

DIMS = (64, 128, 256)
EMPTY = "Nothing was measured for this."
HEADINGS = [
    "Data (the paper's Table 2)",
    "Complexity (Table 1)",
    "Seconds per epoch (Figure 1)",
    "Final quality (Figure 2)",
    "Convergence over epochs (Figure 3)",
    "Convergence over wall time (Figure 4)",
    "Claims",
    "What was left out",
    "How it was measured",
]


@pytest.fixture(scope="module")
def run():
    return made_up(dims=DIMS, seeds=2, rounds=2)


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


def test_the_report_has_every_part_in_the_papers_order(page):
    assert page.headings == HEADINGS
    assert page.count("svg") == page.count("figure") == page.count("figcaption") == 5
    assert page.count("table") == 8
    assert EMPTY not in page.text


def test_every_claim_is_in_both_files(run, page, summary):
    verdicts = claims(run)
    assert len(verdicts) > 10
    (table,) = [rows for rows in markdown_tables(summary) if rows[0][0] == "no."]
    assert [row[0] for row in table[2:]] == [str(each.claim.number) for each in verdicts]
    for each in verdicts:
        assert f"{each.claim.number} {each.claim.where} {each.claim.sentence}" in page.text
        assert each.why in page.text
    assert all(threshold in page.text for threshold in THRESHOLDS)


def test_a_verdict_is_a_word_and_a_sign_too(run, source):
    words = {True: "✓ holds", False: "✗ does not hold", None: "— not measured"}
    found = re.findall(r'<span class="(?:holds|fails|unmeasured)">(.*?)</span>', source)
    assert found == [words[each.holds] for each in claims(run)]


def test_both_say_how_many_claims_hold(run, page, summary):
    verdicts = claims(run)
    measured = [each for each in verdicts if each.holds is not None]
    said = (
        f"{sum(each.holds for each in measured)} of {len(measured)} claims measured here hold. "
        f"Not measured: {len(verdicts) - len(measured)}."
    )
    assert 0 < len(measured) < len(verdicts)
    assert said in page.text
    assert said in summary


def test_the_page_is_well_formed_and_its_links_lead_somewhere(page):
    assert len(page.ids) == len(set(page.ids))
    inside = [link[1:] for link in page.links if link.startswith("#")]
    assert len(inside) == len(HEADINGS)
    assert set(inside) <= set(page.ids)
    assert dict(page.elements)["html"] == {"lang": "en"}


def test_the_page_needs_nothing_beside_it(page, source):
    assert {"script", "link", "img", "iframe", "object", "embed"}.isdisjoint(tag for tag, _ in page.elements)
    for tag, attributes in page.elements:
        assert "src" not in attributes
        fetched = [value for name, value in attributes.items() if name.endswith("href") and tag != "a"]
        assert all(value.startswith("#") for value in fetched)
    assert "@import" not in source
    assert set(re.findall(r"url\((.)", source)) == {"#"}


def test_tables_are_equally_wide_in_every_row(source, summary):
    tables = markdown_tables(summary)
    assert len(tables) == 6
    assert all(len({len(row) for row in table}) == 1 for table in tables)
    for table in re.findall(r"<table.*?</table>", source, flags=re.DOTALL):
        rows = re.findall(r"<tr.*?</tr>", table, flags=re.DOTALL)
        assert len({len(re.findall("<t[hd]", row)) for row in rows}) == 1


def test_the_summary_begins_with_the_claims_and_points_to_the_page(summary):
    headings = re.findall(r"^## (\w+)", summary, flags=re.MULTILINE)
    assert headings == ["Claims", "Data", "Seconds", "Final", "What", "How"]
    assert "report.html" in summary
    assert "<svg" not in summary


def test_the_same_run_gives_the_same_bytes(tmp_path):
    run = made_up(quality=None, dims=(64,))
    write_report(run, tmp_path / "first")
    write_report(run, tmp_path / "second")
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
    assert page.count("svg") == pictures
    assert page.text.count(EMPTY) == empty
    assert "Asked for and not measured" in summary


def test_nothing_left_out_is_said(tmp_path):
    run = nothing()
    page, summary = reported(replace(run, grids=()), tmp_path)
    assert "Everything asked for was measured." in page.text
    assert "Everything asked for was measured." in summary


# Odd names


def test_names_are_words_and_nothing_else(tmp_path):
    odd = '<script>alert("1")</script> | a & b `c` *d* \n\x1b[31m \udcff é $x$'
    run = replace(nothing(), data=replace(ML20M, name=odd), commands=(f"ialspp reproduce --data '{odd}'",))
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


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_a_folder_that_may_not_be_written_to_stays_empty():
    code = """
    import os, sys
    from pathlib import Path
    from ialspp.reproduce.report.document import Document
    from ialspp.reproduce.report.single import write_pair
    if os.getuid() == 0:
        os.setuid(65534)  # for root nothing is forbidden
    try:
        write_pair(Document("a title", (), ()), Path(sys.argv[1]))
    except PermissionError as error:
        print(error.filename)
    """
    with tempfile.TemporaryDirectory() as name:  # pytest's own are closed to other users
        folder = Path(name)
        folder.chmod(0o555)
        command = [sys.executable, "-c", textwrap.dedent(code), name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        folder.chmod(0o700)
        assert done.stdout.strip() == str(folder / "report.html")
        assert list(folder.iterdir()) == []
