"""The code and the commands in README and docs run and print what the pages say; the site builds."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from support.commands import ialspp as run_ialspp
from support.processes import PATIENCE

import ialspp
import ialspp.export

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
FENCED = re.compile(r'^```(\w+)(?: title="(.+?)")?\n(.*?)^```$', flags=re.DOTALL | re.MULTILINE)
SHOWN = re.compile(r"^ *print\(.*\n((?:# .*\n)+)", flags=re.MULTILINE)  # comments right below a print


def commands_of(kind, text):
    """(command, what it is said to print) of each line with ialspp; only a console has prompts and output."""
    if kind not in ("bash", "console"):
        return []
    prompt = "$ " if kind == "console" else ""
    found = []
    for line in text.replace("\\\n", "").splitlines():
        if line.startswith(f"{prompt}ialspp "):
            found.append((line.removeprefix(prompt), []))
        elif prompt and found:
            found[-1][1].append(line)
    return found


def runs(page):
    """Whether there is anything to run; indented blocks, such as `make demo`, are for the reader."""
    blocks = FENCED.findall(page.read_text())
    return any(kind == "python" or commands_of(kind, text) for kind, _, text in blocks)


def name_of(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if runs(page)], ids=name_of)
def test_a_page_runs_from_top_to_bottom_and_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for kind, title, text in FENCED.findall(page.read_text()):
        if title:  # a file
            Path(title).write_text(text)
        elif kind == "python":
            run_python(text, names)
        for command, output in commands_of(kind, text):
            run_command(command, output)
    if name_of(page) in CHECKS:
        CHECKS[name_of(page)](names)


def run_python(code, names):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    left = words(printed.getvalue())
    for comment in SHOWN.findall(code):
        for part in pieces(comment.replace("\n# ", "\n")[2:]):
            assert part in left, f"{part!r} was not printed; there was {left!r}"
            left = left.partition(part)[2]


def run_command(command, output):
    done = run_ialspp(*shlex.split(command, comments=True)[1:], COLUMNS="100")
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    for line in output:
        for part in pieces(line):
            assert part in words(done.stdout), f"{command} did not print {line!r}, but {done.stdout}"


def words(text):
    """Without the width of columns and the end of lines."""
    return " ".join(text.split())


def pieces(text):
    """What must be printed; "..." stands for anything."""
    return [words(piece) for piece in text.split("...") if words(piece)]


def check_readme(names):
    model = names["model"]
    assert model.recommend("cyd", k=2) == ["milk"]
    assert model.recommend_for([["rice", "milk"]], k=1) == [["tea"]]
    assert len(model.similar_items("tea", k=2)) == 2


def check_data(names):
    assert repr(names["data"]) == "Interactions(3 users x 2 items, 4 pairs, with times)"


def check_loss(names):
    last, parts = names["last"], names["parts"]
    assert last.loss == pytest.approx(last.observed + last.unobserved + last.regularization)
    assert parts.total == pytest.approx(last.loss, rel=1e-5)


def check_solvers(names):
    losses = names["losses"]
    assert len(losses) == 5
    assert max(losses.values()) < 1.02 * min(losses.values())


CHECKS = {
    "README.md": check_readme,
    "docs/data.md": check_data,
    "docs/understanding/loss.md": check_loss,
    "docs/understanding/solvers.md": check_solvers,
}


# The site


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built pages; a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def nav_pages(entries):
    for entry in entries:
        value = next(iter(entry.values())) if isinstance(entry, dict) else entry
        yield from [value] if isinstance(value, str) else nav_pages(value)


def test_every_page_is_in_the_navigation_and_in_the_site(site):
    listed = list(nav_pages(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    reports = set(DOCS.glob("paper/*/report.md"))  # the site has report.html
    pages = set(DOCS.rglob("*.md")) - reports
    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in pages)
    for page in listed:
        assert (site / page).with_suffix(".html").is_file(), page


def test_the_menu_of_every_page_leads_to_every_page(site):
    listed = list(nav_pages(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    for page in ("index.html", "tutorial.html"):
        links = re.findall(r'<a href="?([^" >]+)"? class="md-nav__link', (site / page).read_text())
        missing = {Path(name).with_suffix(".html").as_posix() for name in listed} - set(links) - {page}
        assert not missing, f"{page} has no link to {missing}"


def test_the_search_works_from_the_file_system(site):
    """Where browsers fetch no JSON and start no worker: the index is a script, and the worker is a frame."""
    assert (site / "search" / "search_index.js").read_text().startswith("var __index = {")
    page = (site / "how-to" / "epochs.html").read_text()
    place = re.search(r'<script src="?([^" >]*iframe-worker.js)', page)[1]
    assert "window.Worker = " in (site / "how-to" / place).read_text()


def test_every_public_name_is_in_the_reference(site):
    pages = "".join(page.read_text() for page in (site / "reference").glob("*.html"))
    described = re.findall(r'id="ialspp\.([\w.]+)"', pages)
    assert set(ialspp.__all__) - {anchor.split(".")[0] for anchor in described} == set()
    modules = [ialspp.datasets, ialspp.export, ialspp.split, ialspp.store]
    inside = {(m.__name__, name) for m in modules for name in m.__all__ if callable(getattr(m, name))}
    found = {(f"ialspp.{anchor.split('.')[0]}", anchor.split(".")[-1]) for anchor in described}
    assert inside - found == set()


def test_every_method_of_the_model_is_in_the_reference(site):
    page = (site / "reference" / "model.html").read_text()
    methods = {name for name in dir(ialspp.ImplicitMF) if not name.startswith("_")}
    assert methods - set(re.findall(r'id="ialspp\.ImplicitMF\.(\w+)"', page)) == set()


def test_pages_load_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text()
        assert not re.findall(r'<(?:script|img|iframe)[^>]*src="?(?:https?:)?//[^>]*>', text), page
        assert not re.findall(r'<link[^>]*rel="?(?:stylesheet|preconnect)[^>]*href="?(?:https?:)?//', text), (
            page
        )


# The tags of articles. Text that looks like another tag, such as <x, y> outside code, is not shown.
TAGS = """
    a article b blockquote br button code details div em form h1 h2 h3 h4 h5 h6 hr img input kbd label li nav
    ol p path pre progress s small span strong style sub summary sup svg table tbody td th thead tr ul
"""


class Tags(HTMLParser):
    """The tags inside the articles of a page."""

    def __init__(self, source):
        super().__init__()
        self.found, self._depth = set(), 0
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        del attrs
        self._depth += tag == "article"
        if self._depth:
            self.found.add(tag)

    def handle_endtag(self, tag):
        self._depth -= tag == "article"


def test_no_text_of_a_page_is_taken_for_a_tag(site):
    pages = sorted(site.rglob("*.html"))
    odd = {page.name: Tags(page.read_text()).found - set(TAGS.split()) for page in pages}
    assert {page: tags for page, tags in odd.items() if tags} == {}
    assert Tags("<nav><x, y></nav><article>A score is <x, y>.</article>").found == {"article", "x,"}


# Links


def test_every_link_of_a_page_leads_somewhere():
    for page in (*PAGES, ROOT / "ARCHITECTURE.md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_readme_shows_the_two_commands():
    text = (ROOT / "README.md").read_text()
    assert "make demo" in text
    assert "make test" in text
