"""ialspp explore: the page, what it replaces, and its limits."""

import json

import pytest
from support.commands import COLUMNS, QUICK, answer, ialspp, refuses, write_log


@pytest.fixture
def model(tmp_path):
    file = tmp_path / "log.ialspp"
    assert ialspp("fit", write_log(tmp_path / "log.csv"), *COLUMNS, *QUICK, "-o", file).returncode == 0
    return file


def content_of(page):
    return json.loads(page.read_text().partition('type="application/json">')[2].partition("</script>")[0])


def test_the_page_is_written_and_said_so(model, tmp_path):
    page = tmp_path / "log.html"
    done = ialspp("explore", model, "-o", page)
    assert (done.returncode, done.stdout) == (0, "")
    assert f"The page is in {page}, " in done.stderr
    assert "open it in a browser" in done.stderr
    found = content_of(page)
    assert found["title"] == "log"
    assert len(found["ids"]) == 40
    assert len(found["people"]) == 60


def test_options_reach_the_page(model, tmp_path):
    page = tmp_path / "page.html"
    options = ["--top", 12, "--users", 5, "--title", "<b>Things</b>"]
    assert answer("explore", model, "-o", page, *options) == {"file": str(page), "bytes": page.stat().st_size}
    found = content_of(page)
    assert (found["title"], len(found["ids"]), len(found["people"])) == ("<b>Things</b>", 12, 5)


def test_only_a_page_of_ours_is_replaced(model, tmp_path):
    page = tmp_path / "page.html"
    for _ in range(2):
        assert ialspp("explore", model, "-o", page).returncode == 0
    page.write_text("<html>my own</html>")
    refuses("exists and is not a page of ialspp", "--force")(ialspp("explore", model, "-o", page))
    assert page.read_text() == "<html>my own</html>"
    assert ialspp("explore", model, "-o", page, "--force").returncode == 0


def test_mistakes_are_refused(model, tmp_path):
    page = tmp_path / "page.html"
    refuses("the name must end with .html")(ialspp("explore", model, "-o", tmp_path / "page.txt"))
    refuses("--top must be at least 1, got 0")(ialspp("explore", model, "-o", page, "--top", 0))
    refuses("--users must be at least 0, got -2")(ialspp("explore", model, "-o", page, "--users", -2))
    assert not page.exists()
