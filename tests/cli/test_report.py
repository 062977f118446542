"""ialspp report: the page, and what it replaces."""

import pytest
from support.commands import COLUMNS, QUICK, answer, ialspp, refuses, write_log


@pytest.fixture
def model(tmp_path):
    file = tmp_path / "log.ialspp"
    assert ialspp("fit", write_log(tmp_path / "log.csv"), *COLUMNS, *QUICK, "-o", file).returncode == 0
    return file


def test_the_report_is_written_and_replaced_only_by_another(model, tmp_path):
    page = tmp_path / "report.html"
    assert answer("report", model, "-o", page) == {"file": str(page), "bytes": page.stat().st_size}
    done = ialspp("report", model, "-o", page, "-k", 3, "--title", "Things")
    assert (done.returncode, done.stdout) == (0, "")
    assert f"The report is in {page}, " in done.stderr
    assert "<h1>Things</h1>" in page.read_text()
    page.write_text("<html>my own</html>")
    refuses("exists and is not a report of ialspp", "--force")(ialspp("report", model, "-o", page))
    assert page.read_text() == "<html>my own</html>"


def test_mistakes_are_refused(model, tmp_path):
    refuses("the name must end with .html")(ialspp("report", model, "-o", tmp_path / "page.txt"))
    refuses("k must be at least 1, got 0")(ialspp("report", model, "-o", tmp_path / "a.html", "-k", 0))
