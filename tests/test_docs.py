"""The code in README and docs runs, and does what its comments say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if "```python" in page.read_text()
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL):
        exec(code, names)
    if page.name == "README.md":
        model = names["model"]
        assert model.recommend("cyd", k=2) == ["milk"]
        assert model.recommend_for([["rice", "milk"]], k=1) == [["tea"]]
        assert len(model.similar_items("tea", k=2)) == 2
    if page.name == "data.md":
        assert repr(names["data"]) == "Interactions(3 users x 2 items, 4 pairs, with times)"


def test_every_link_of_a_page_leads_somewhere():
    for page in (ROOT / "README.md", ROOT / "ARCHITECTURE.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_readme_shows_the_two_commands():
    text = (ROOT / "README.md").read_text()
    assert "make demo" in text
    assert "make test" in text
