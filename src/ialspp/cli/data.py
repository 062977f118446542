"""ialspp data: list known data sets, describe one or a file."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..data.csr import Csr
from ..data.interactions import Interactions
from ..datasets import KNOWN, DataSet
from ..split import HeldOut, Split
from .columns import show_columns
from .options import given
from .ours import require_data
from .output import JsonOption, show_facts, show_json, show_table
from .source import Source

SHAPE = {"source", "format", "separator", "header"}  # the options that show the columns of a file


def show_data(source: Source, as_json: JsonOption = False) -> None:
    """Describe a file or a known data set, which is downloaded if needed: counts and ranges.

    Of a file without --user and --item: its columns, their types and their first values.

    Example: ialspp data show ratings.csv --user userId --item movieId --time timestamp
    """
    require_data(source.source, "data show")
    is_there = os.path.lexists(source.source) or any(sign in source.source for sign in "*?[")
    if is_there and not source.is_known and not source.is_prepared and given(source).keys() <= SHAPE:
        show_columns(source, as_json=as_json)
        return
    weighting = {} if source.weighting is None else {"weighted_by": source.weighting}
    loaded = source.load()
    facts = {**data_facts(loaded), **weighting}
    if isinstance(loaded, Interactions):
        source.remark_on_weights(loaded)
    if as_json:
        show_json({"source": given(source), **facts})
    else:
        show_facts(source.source, facts)


def list_known(as_json: JsonOption = False) -> None:
    """List the data sets that are known by name, and where they come from.

    Example: ialspp data list
    """
    if as_json:
        facts = {
            name: {
                "description": known.description,
                "weighted_by": known.weight,
                "url": known.remote.url if known.remote else None,
                "files": known.files,
                "home": known.home,
                "terms": known.terms,
            }
            for name, known in KNOWN.items()
        }
        show_json(facts)
        return
    columns = ["name", "what", "comes from"]
    rows = [[name, _described(known), _place(known)] for name, known in KNOWN.items()]
    show_table("Known data sets; their terms are at their home pages", columns, rows, words=columns)


def _described(known: DataSet) -> str:
    return known.description + ("" if known.weight is None else f"; weighted by {known.weight}")


def _place(known: DataSet) -> str:
    if known.remote:
        return "a download"
    return f"--path to {known.files}" if known.files else "generated"


def data_facts(loaded: Interactions | Split) -> dict[str, Any]:
    """Count users, items and pairs, with ranges; for a split, of its training data."""
    if isinstance(loaded, Interactions):
        return loaded.statistics()
    parts: dict[str, Any] = {
        "test_users": users_in(loaded.test),
        "test_pairs": len(loaded.test.wanted),
        **({} if loaded.validation is None else {"validation_users": users_in(loaded.validation)}),
        "left_out": loaded.left_out,
    }
    if loaded.test.candidates is not None:
        parts["ranked_items"] = least_and_most_ranked(loaded.test.candidates)
    return {"protocol": loaded.protocol, **loaded.train.statistics(), **parts}


def least_and_most_ranked(candidates: Csr) -> dict[str, int]:
    """Count the items that are ranked for a test user, the wanted one among them: the range over users."""
    counts = candidates.counts[candidates.counts > 0]
    return {"least": int(counts.min()), "most": int(counts.max())}


def users_in(part: HeldOut) -> int:
    """Count the users who are evaluated."""
    return int(np.count_nonzero(part.wanted.by_user.counts))
