"""Comparisons of made-up runs, read back."""

import re
from dataclasses import replace

import pytest
from support.pages import Page, markdown_tables
from support.reproductions import METRICS, ML20M, made_up, only, paper_quality, paper_seconds

from ialspp.reproduce.claims import claims
from ialspp.reproduce.report.compare import (
    claims_table,
    differences_section,
    quality_table,
    times_table,
    with_own_names,
    write_comparison,
)
from ialspp.reproduce.report.results import three_digits

BLOCKS = (1, 32, 0)


def compared(runs, folder):
    """The page and the summary."""
    write_comparison(runs, folder)
    html, markdown = ((folder / name).read_text(encoding="utf-8") for name in ("report.html", "report.md"))
    return Page(html), markdown


def twice_as_fast(dim, block, share=1.0):
    return paper_seconds(dim, block, share) / 2


def better(dim, block, seed, epoch):
    return paper_quality(dim, block, 0, epoch) + 0.01 + 0.002 * seed


@pytest.fixture(scope="module")
def runs():
    """By different versions, with d = 128 in common."""
    old = made_up(dims=(64, 128), blocks=BLOCKS, name="old")
    new = made_up(twice_as_fast, better, dims=(128, 256), blocks=BLOCKS, name="new", seeds=2)
    return [old, replace(new, machine=replace(new.machine, version="9.9"))]


def test_a_comparison_has_every_part(tmp_path):
    runs = [made_up(dims=(64,), blocks=BLOCKS, metrics=METRICS[-1:], name=name) for name in ("old", "new")]
    page, summary = compared(runs, tmp_path)
    assert page.headings == [
        "What differs",
        "Seconds per epoch (Figure 1)",
        "Final quality (Figure 2)",
        "Convergence over epochs (Figure 3)",
        "Convergence over wall time (Figure 4)",
        "Claims",
        "How it was measured",
    ]
    assert page.count("svg") == 5
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert re.findall(r"^## (\w+ \w+|\w+)", summary, flags=re.MULTILINE) == [
        "What differs",
        "Claims",
        "Seconds per",
        "Final quality",
        "How it",
    ]
    assert all(len({len(row) for row in table}) == 1 for table in markdown_tables(summary))
    for name in ("old", "new"):
        assert re.search(f"{name}: [0-9]+ of [0-9]+ claims measured here hold", summary)


def test_times_are_side_by_side_with_their_ratio(runs):
    table = times_table(runs)
    assert table.columns == ("d", "block", "old", "new", "new / old")
    rows = {row[:2]: row[2:] for row in table.rows}
    assert rows["64", "iCD"] == (three_digits(paper_seconds(64, 1)), "—", "—")
    assert rows["128", "iCD"] == ("24.0", "12.0", "0.50")
    assert rows["256", "SpectralCG"] == ("—", three_digits(paper_seconds(256, None) / 2), "—")
    assert [int(row[0]) for row in table.rows] == sorted(int(row[0]) for row in table.rows)


def test_quality_is_side_by_side_with_its_difference(runs):
    table = quality_table(runs, "ndcg@100")
    assert table.columns == ("d", "block", "old", "new", "new - old")
    rows = {row[:2]: row[2:] for row in table.rows}
    assert rows["128", "iALS"] == ("0.3880", "0.3990 ± 0.0014", "+0.0110")
    assert rows["64", "iALS"][1:] == ("—", "—")


def test_claims_are_side_by_side():
    all_timed = made_up(quality=None, dims=(64, 128))
    ials = made_up(only(paper_seconds, solvers=("iALS",)), None, dims=(64, 128))
    slow = made_up(lambda _, block, share: share * (1 if block == 1 else 2), None, dims=(64, 128))
    table = claims_table({"all": claims(all_timed), "iALS": claims(ials), "slow": claims(slow)})
    assert table.columns[-3:] == ("all", "iALS", "slow")
    assert len(table.rows) == len(claims(all_timed))
    kinds = {tuple(cell.kind for cell in row[-3:]) for row in table.rows}
    assert ("holds", "unmeasured", "fails") in kinds
    for row, verdict in zip(table.rows, claims(all_timed), strict=True):
        assert row[-3].detail == ("" if verdict.holds is None else verdict.ours)


def test_what_differs_is_said_and_what_does_not_is_not(runs):
    (table,) = differences_section(runs).parts
    assert table.columns == ("", "old", "new")
    assert table.rows == (("version of ialspp", "0.0.1", "9.9"),)


def test_runs_that_agree_in_all_but_the_date_are_said_to(runs):
    same = with_own_names([runs[0], replace(runs[0], date="2030-01-02")])
    assert differences_section(same).parts == ("The runs agree in data, settings, machine and version.",)


def test_other_data_of_the_same_counts_differs():
    first = made_up(None, None, dims=(64,))
    other = replace(first, data=replace(first.data, fingerprint="another"))
    table, remark = differences_section(with_own_names([first, other])).parts
    assert table.rows == (("data's digest", ML20M.fingerprint, "another"),)
    assert remark.endswith("Quality cannot be, since these differ: data's digest.")


def test_runs_of_one_name_are_numbered():
    run = made_up(None, None, dims=(64,), name="same")
    named = with_own_names([run, replace(run, name="same (2)"), run, run])
    assert [each.name for each in named] == ["same", "same (2)", "same (3)", "same (4)"]


@pytest.mark.parametrize(
    ("changes", "differing"),
    [
        ({"data": replace(ML20M, fingerprint="another")}, "data's digest"),
        ({"data": replace(ML20M, protocol="weak")}, "evaluation"),
        ({"metrics": METRICS[1:]}, "metrics"),
    ],
)
def test_quality_is_not_compared_where_something_else_was_asked(changes, differing, tmp_path):
    small = {"dims": (64,), "blocks": (0,), "epochs": 1}
    page, summary = compared([made_up(**small), made_up(**small, **changes)], tmp_path)
    assert page.count("svg") == 2
    remark = f"Only times are compared. Quality cannot be, since these differ: {differing}."
    assert remark in page.text
    assert remark in summary
    assert not any("quality" in heading for heading in page.headings)
    assert "after the last epoch" not in page.text + summary
    assert "Seconds per epoch, side by side" in page.text


def test_three_runs_without_anything_in_common_come_out(tmp_path):
    times, quality, neither = (paper_seconds, None), (None, paper_quality), (None, None)
    dims = {4: times, 8: quality, 16: neither}
    runs = [made_up(*own, dims=(dim,), metrics=METRICS[-1:], epochs=2) for dim, own in dims.items()]
    page, _ = compared(runs, tmp_path)
    assert page.count("svg") == 5
    assert len(page.ids) == len(set(page.ids))


def test_runs_in_which_nothing_was_measured_come_out(tmp_path):
    odd = '<script>alert("1")</script> | \udcff'
    run = made_up(None, None, dims=(64,), name=odd)
    page, summary = compared([run, run], tmp_path)
    assert page.count("script") == page.count("svg") == 0
    assert page.text.count("Nothing was measured for this.") == 4
    assert '<script>alert("1")</script> | \\udcff (2)' in page.text
    assert all(len({len(row) for row in table}) == 1 for table in markdown_tables(summary))


def test_a_name_of_any_kind_can_be_drawn(tmp_path):
    odd = '<script>alert("1")</script> $x$ & \udcff'
    runs = [made_up(quality=None, dims=(4,), name=name) for name in (odd, "plain")]
    page, _ = compared(runs, tmp_path)
    assert page.count("svg") == 2
    assert page.count("script") == 0


def test_one_run_cannot_be_compared(tmp_path):
    with pytest.raises(ValueError, match="two runs or more, got 1"):
        write_comparison([made_up(None, None, dims=(64,))], tmp_path / "report")
    assert not (tmp_path / "report").exists()
