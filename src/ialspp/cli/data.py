"""ialspp data: what there is, and what is in it."""

from __future__ import annotations

import json
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..datasets import KNOWN
from ..interactions import Interactions
from ..split import Split
from .options import given
from .source import Source

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def look_into(source: Source, as_json: JsonOption = False) -> None:
    """Fetch a known data set, or read a file, and say what is in it.

    Example: ialspp data show ratings.csv --user userId --item movieId --time timestamp
    """
    facts = described(source.load())
    if as_json:
        print(json.dumps({"source": given(source), **facts}, default=str))  # a path becomes its name
        return
    table = Table(title=Text(source.source), show_header=False)
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), _shown(value))
    Console().print(table)


def list_known(as_json: JsonOption = False) -> None:
    """List the data sets that are known by name.

    Example: ialspp data list
    """
    if as_json:
        facts = {
            name: {
                "description": known.description,
                "url": known.remote.url if known.remote else None,
                "files": known.files,
                "home": known.home,
                "terms": known.terms,
            }
            for name, known in KNOWN.items()
        }
        print(json.dumps(facts))
        return
    table = Table("name", "what", "comes from", title="Known data sets; their terms are at their home pages")
    for name, known in KNOWN.items():
        place = "a download" if known.remote else f"--path to {known.files}" if known.files else "generated"
        table.add_row(name, known.description, place)
    Console().print(table)


def described(loaded: Interactions | Split) -> dict[str, Any]:
    """Counts and ranges, of a split those of its training data."""
    if isinstance(loaded, Split):
        asked = np.count_nonzero(loaded.test.wanted.by_user.counts)
        parts = {"test_users": int(asked), "test_pairs": len(loaded.test.wanted), "left_out": loaded.left_out}
        return {"protocol": loaded.protocol, **described(loaded.train), **parts}
    facts: dict[str, Any] = {"users": loaded.n_users, "items": loaded.n_items, "pairs": len(loaded)}
    if len(loaded) == 0:
        return facts
    facts["density"] = len(loaded) / loaded.n_users / loaded.n_items
    for name, rows in (("user", loaded.by_user), ("item", loaded.by_item)):
        least, median, most = np.quantile(rows.counts, [0, 0.5, 1], method="lower").astype(int).tolist()
        facts[f"pairs_per_{name}"] = {"least": least, "median": median, "most": most}
    for name, values in (("label", loaded.by_user.labels), ("weight", loaded.by_user.weights)):
        if values is not None:
            facts[name] = {"least": float(values.min()), "most": float(values.max())}
    if loaded.times is not None:
        facts["time"] = {"first": _date(loaded.times.min()), "last": _date(loaded.times.max())}
    return facts


def _date(seconds: float) -> str:
    return f"{np.datetime64(int(seconds), 's')}Z"  # of any year, unlike datetime


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(part)}" for name, part in value.items())
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
