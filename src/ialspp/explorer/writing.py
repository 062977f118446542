"""The page: one HTML file with its style, its modules and its data inside."""

from __future__ import annotations

import base64
import hashlib
import re
from copy import copy
from importlib.resources import files
from pathlib import Path

from ..errors import InvalidStateError, InvalidTypeError
from ..files.atomic import whole_file
from ..model.model import ImplicitMF
from ..system.checks import checked_integer
from .content import as_json, content_of

HISTORIES = 100
# Each module after those that it imports. A page from the file system cannot import modules, so they stand
# in the page one after the other, each in a function of its own.
MODULES = (
    "dom.js",
    "words.js",
    "matrix.js",
    "fold-in.js",
    "search.js",
    "content.js",
    "engine-local.js",
    "key.js",
    "engine-remote.js",
    "picks.js",
    "combobox.js",
    "bars.js",
    "view-picks.js",
    "view-results.js",
    "camera.js",
    "labels.js",
    "map.js",
    "view-map.js",
    "main.js",
)
STYLES = ("colours.css", "parts.css", "style.css")  # the page's rules for less room come last
IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./([\w-]+\.js)";$', flags=re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", flags=re.MULTILINE)
MARKER = "ialspp explorer"  # by which the command line recognises its own files


def write_page(
    model: ImplicitMF,
    path: str | Path,
    *,
    top: int | None = None,
    users: int = HISTORIES,
    title: str | None = None,
) -> None:
    """Write one file that explores a model in a browser, without a server or a network.

    Parameters
    ----------
    model
        A fitted model. Its file may lack the interactions; the page then knows no users.
    path
        The file to write, atomically.
    top
        Keep only the items with the most users. None: all items, up to 50,000.
    users
        Of how many users to keep the history, to start from. 0 keeps none.
    title
        The heading of the page. None: the name of the file.

    Examples
    --------
    >>> write_page(model, "groceries.html", title="Groceries")
    >>> page = Path("groceries.html").read_text(encoding="utf-8")
    >>> page[:15]
    '<!doctype html>'
    """
    if not isinstance(model, ImplicitMF):
        raise InvalidTypeError(f"an ImplicitMF is required, got {type(model).__name__}")
    kept = copy(model)  # the state of one moment: an update may replace it meanwhile
    content = content_of(kept, title or Path(path).stem, top, checked_integer("users", users, 0))
    with whole_file(Path(path)) as file:
        file.write(_page(as_json(content), connect="'none'").encode("ascii"))


def served_page() -> str:
    """Return the page of the service: the same one, which asks `/v1/...` for everything.

    Examples
    --------
    >>> page = served_page()
    >>> page[:15]
    '<!doctype html>'
    """
    return _page("null", connect="'self'")


def _page(content: str, connect: str) -> str:
    style, script = "".join(map(asset, STYLES)), inlined()
    policy = (
        f"default-src 'none'; script-src '{source_hash(script)}'; style-src '{source_hash(style)}'; "
        f"connect-src {connect}; img-src data:; base-uri 'none'; form-action 'none'"
    )
    parts = {"POLICY": policy, "MARKER": MARKER, "STYLE": style, "CONTENT": content, "SCRIPT": script}
    return re.sub(r"\{\{([A-Z]+)\}\}", lambda match: parts[match[1]], asset("index.html"))


def inlined() -> str:
    """Join the modules: each becomes a function that is called at once and returns what it exports."""
    return "".join(_wrapped(name, asset(name)) for name in MODULES)


def _wrapped(name: str, source: str) -> str:
    exported = ", ".join(EXPORT.findall(source))
    body = IMPORT.sub(lambda match: f'const {match[1]} = modules["{match[2]}"];', source)
    body = EXPORT.sub("", body)
    if re.search(r"^(?:import|export)\b", body, flags=re.MULTILINE):
        raise InvalidStateError(f"{name}: the writer of the page does not know this form of import or export")
    start = "const modules = {};\n" if name == MODULES[0] else ""
    return f'{start}\nmodules["{name}"] = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();\n'


def asset(name: str) -> str:
    """Return the text of a file of the page."""
    return (files(__package__) / "page" / name).read_text(encoding="utf-8")


def source_hash(text: str) -> str:
    """Return what a page's policy calls a script or a style that may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
