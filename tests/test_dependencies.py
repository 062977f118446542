"""ARCHITECTURE.md says what each dependency is for; `all` has every extra that users may want."""

import re
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
FOR_DEVELOPERS = {"test", "docs", "dev", "peers", "reproduce", "all"}

project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]


def names(requirements):
    """Return the packages that are required, without extras of our own."""
    found = [re.match(r"[\w.-]+", requirement).group() for requirement in requirements]
    return [name for name in found if name != "ialspp"]


@pytest.mark.parametrize("extra", [None, *sorted(extras.keys() - FOR_DEVELOPERS)])
def test_every_dependency_of_users_has_its_line(extra):
    section = (ROOT / "ARCHITECTURE.md").read_text().split("## Dependencies\n")[1].split("\n## ")[0]
    for name in names(project["dependencies"] if extra is None else extras[extra]):
        assert re.search(rf"\b{re.escape(name)}\b", section), f"{name} ({extra or 'always'})"


def test_all_has_every_extra_for_users():
    [everything] = extras["all"]
    assert set(re.search(r"\[(.*)\]", everything).group(1).split(",")) == extras.keys() - FOR_DEVELOPERS
