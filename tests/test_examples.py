"""Every function and method of the reference that users call has an example, which gives what it says.

The first Python code of a page makes what its examples use. It runs anew for each of them.
"""

import doctest
import functools
import importlib
import importlib.util
import inspect
import re
from pathlib import Path

import pytest
import yaml

PAGES = sorted((Path(__file__).parents[1] / "docs" / "reference").glob("*.md"))
OBJECT = re.compile(r"^::: (\S+)\n((?:    .*\n)*)", flags=re.MULTILINE)
CODE = re.compile(r"^```python\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
INSIDE = {  # what users see in results or solvers use; they do not call it
    "ialspp.data.csr.Csr",
    "ialspp.data.names.Names",
    "ialspp.datasets.Remote",
    "ialspp.datasets.Shape",
    "ialspp.evaluation.Recommender",
    "ialspp.model.feature_map.FeatureMap",
    "ialspp.model.skipped.Skipped",
    "ialspp.model.skipped.SkippedIds",
    "ialspp.solvers.Problem",
    "ialspp.solvers.Side",
    "ialspp.solvers.Solver",
}


def resolved(path):
    """Find an object by the module that it is in, as the site's generator does."""
    parts, depth = path.split("."), 1
    module = importlib.import_module(parts[0])
    while depth < len(parts) and hasattr(module, "__path__"):
        name = ".".join(parts[: depth + 1])
        if importlib.util.find_spec(name) is None:
            break
        module, depth = importlib.import_module(name), depth + 1
    return functools.reduce(getattr, parts[depth:], module)


def functions_of(path, options):
    """The names and functions that a page shows for one of its objects."""
    found = resolved(path)
    if inspect.isfunction(found):
        return {path: found}
    if path in INSIDE or (inspect.isclass(found) and issubclass(found, (Exception, Warning))):
        return {}
    names = options.get("members")
    if names is None:
        everything = dir(found) if options.get("inherited_members") else vars(found)
        names = [name for name in everything if not name.startswith("_")]
    shown = {}
    for name in names or ():  # False: none of them
        member = inspect.getattr_static(found, name, None)
        member = getattr(member, "__func__", member)
        if inspect.ismodule(found) and not belongs(member, name, found):
            continue
        if inspect.isfunction(member) and member.__doc__:
            shown[f"{path}.{name}"] = member
        elif inspect.isclass(member) and inspect.ismodule(found):
            shown |= functions_of(f"{path}.{name}", {})
    return shown


def belongs(member, name, module):
    """Pages leave out what a module has only imported."""
    where = getattr(member, "__module__", None) or ""
    return name in getattr(module, "__all__", ()) or where.startswith(module.__name__)


def documented(page):
    found = {}
    for path, options in OBJECT.findall(page.read_text()):
        found |= functions_of(path, (yaml.safe_load(options) or {}).get("options", {}))
    return found


def described(page):
    """The classes of a page that have an example of their own."""
    found = {path: resolved(path) for path, _ in OBJECT.findall(page.read_text())}
    return {path: one for path, one in found.items() if inspect.isclass(one) and ">>>" in (one.__doc__ or "")}


EXAMPLES = [
    pytest.param(page, one, id=name)
    for page in PAGES
    for name, one in (documented(page) | described(page)).items()
]


@pytest.mark.parametrize(("page", "one"), EXAMPLES)
def test_the_example_gives_what_it_says(page, one, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in CODE.findall(page.read_text())[:1]:
        exec(code, names)
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(one), names, one.__qualname__, None, None)
    assert examples.examples, "there is none"
    said = []
    doctest.DocTestRunner(optionflags=FLAGS).run(examples, out=said.append)
    assert not said, "".join(said)
