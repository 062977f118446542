"""The page as a file: its modules in order, its policy, and nothing from elsewhere."""

import base64
import hashlib
import re
from pathlib import Path

import ialspp.explorer
from ialspp.explorer import served_page
from ialspp.explorer.writing import IMPORT, MODULES, STYLES

FOLDER = Path(ialspp.explorer.__file__).parent / "page"
SOURCES = {name: (FOLDER / name).read_text() for name in MODULES}


def test_every_module_comes_after_those_that_it_imports():
    for place, name in enumerate(MODULES):
        imported = [found[1] for found in IMPORT.findall(SOURCES[name])]
        assert set(imported) <= set(MODULES[:place]), name


def test_every_file_is_in_the_page():
    assert {path.name for path in FOLDER.iterdir()} == {*MODULES, *STYLES, "index.html"}


def test_every_import_names_an_export():
    for name, source in SOURCES.items():
        for names, module in IMPORT.findall(source):
            for wanted in re.findall(r"\w+", names):
                pattern = rf"^export (?:async )?(?:function|const|class) {wanted}\b"
                assert re.search(pattern, SOURCES[module], re.MULTILINE), f"{name}: {wanted} of {module}"


def test_no_module_makes_elements_of_markup():
    for name, source in SOURCES.items():
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|console\.", source
        ), name


def test_the_policy_allows_this_script_and_this_style_alone():
    page = served_page()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    for tag, element in (
        ("script", r'<script type="module">(.*?)</script>'),
        ("style", "<style>(.*?)</style>"),
    ):
        [text] = re.findall(element, page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}';" in policy
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


def test_the_page_loads_nothing_from_elsewhere():
    assert not re.search(r"https?://|@import|url\(", served_page())
