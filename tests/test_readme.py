"""The README's code runs, and says what its comments say."""

import re
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_code_in_the_readme_does_what_it_says():
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    names = {}
    exec(code, names)
    model = names["model"]
    assert model.recommend("cyd", k=2) == ["milk"]
    assert model.recommend_for([["rice", "milk"]], k=1) == [["tea"]]
    assert len(model.similar_items("tea", k=2)) == 2


def test_the_readme_shows_the_two_commands():
    text = README.read_text()
    assert "make demo" in text
    assert "make test" in text
