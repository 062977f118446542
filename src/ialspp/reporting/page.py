"""The report as one HTML file, which loads nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from ..errors import InvalidTypeError, NotFittedError
from ..explorer.writing import asset, source_hash
from ..files.atomic import whole_file
from ..model.model import ImplicitMF
from ..system.checks import checked_integer
from . import sections
from .charts import text
from .findings import exposure_of, map_of, neighbourhoods_of, spectrum_of

MARKER = "ialspp report"  # by which the command line recognises its own files


def write_report(model: ImplicitMF, path: str | Path, *, k: int = 10, title: str | None = None) -> None:
    """Write a page that shows what a model learned.

    It has the loss and its parts, popularity beside recommendations, coverage, the spectrum of the scores,
    neighbours of well-known items, and a map of the items. It needs no server and no network.

    Parameters
    ----------
    model
        A fitted model. Its file may lack the interactions; items that users have seen are then recommended,
        too.
    path
        The file to write, atomically.
    k
        How many items each user is recommended, to count them.
    title
        The heading of the page. None: the name of the file.

    Examples
    --------
    >>> write_report(model, "report.html", title="Groceries")
    >>> page = Path("report.html").read_text(encoding="utf-8")
    >>> "<title>Groceries</title>" in page
    True
    """
    if not isinstance(model, ImplicitMF):
        raise InvalidTypeError(f"an ImplicitMF is required, got {type(model).__name__}")
    if model.fitted_solver is None:
        raise NotFittedError("the model is not fitted; call fit(data) first")
    kept = copy(model)  # the state of one moment: an update may replace it meanwhile
    page = _page(kept, title or Path(path).stem, checked_integer("k", k, 1))
    with whole_file(Path(path)) as file:
        file.write(page.encode("utf-8"))


def _page(model: ImplicitMF, title: str, k: int) -> str:
    style = asset("colours.css") + (files(__package__) / "report.css").read_text(encoding="utf-8")
    policy = f"default-src 'none'; style-src '{source_hash(style)}'; img-src data:; base-uri 'none'"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="generator" content="{MARKER}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{text(title)}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{text(title)}</h1><p>{text(_facts(model))}</p></header>
<main>{"".join(_sections(model, k))}</main>
<footer>Written by ialspp {version("ialspp")}</footer>
</body>
</html>
"""


def _facts(model: ImplicitMF) -> str:
    data = model.trained_on if model.keeps_interactions else None
    pairs = "" if data is None else f", {len(data):,} interactions"
    return (
        f"{len(model.users):,} users, {len(model.items):,} items{pairs}. "
        f"{model.dim} dimensions, {model.fitted_solver}, {model.objective}."
    )


def _sections(model: ImplicitMF, k: int) -> Iterator[str]:
    if model.history:
        yield sections.of_training(model.history)
    exposure = exposure_of(model, min(k, len(model.items)))
    if exposure is None:
        words = "The model's file does not say how many users each item has."
        yield sections.section("Popularity", "", words)
    else:
        yield sections.of_exposure(exposure, model.items)
        yield sections.of_coverage(exposure)
    yield sections.of_spectrum(spectrum_of(model))
    yield sections.of_neighbours(neighbourhoods_of(model))
    yield sections.of_map(map_of(model), model.items)
