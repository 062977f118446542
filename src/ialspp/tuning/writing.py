"""The TOML file of a tuning."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..files.atomic import whole_file
from .result import Tuning

MARK = "# Settings found by ialspp tune"


def write_toml(
    tuned: Tuning,
    path: str | Path,
    *,
    shared: Mapping[str, Any] | None = None,
    evaluate: Mapping[str, Any] | None = None,
) -> None:
    """Write the settings to a TOML file that `ialspp fit --config` and `evaluate --config` take.

    Comments say how they were found.

    Parameters
    ----------
    tuned
        What was found.
    path
        The file, written atomically.
    shared
        More options of `fit` and `evaluate`, such as the columns of the data.
    evaluate
        Options of `evaluate` alone, such as the protocol.

    Examples
    --------
    >>> write_toml(tuned, "tuned.toml")
    >>> print(Path("tuned.toml").read_text())
    # Settings found by ialspp tune
    # ndcg@20 0... on ...
    ...
    dim = 8
    epochs = ...
    unobserved_weight = ...
    """
    lines = [MARK, f"# {tuned.metric} {tuned.score:.4f} on {tuned.validation}"]
    if tuned.test is not None:
        lines.append("# test: " + ", ".join(f"{name} {value:.4f}" for name, value in tuned.test.items()))
    lines += [f"# {remark}" for remark in tuned.remarks()]
    lines += _entries({**(shared or {}), **tuned.options()})
    if evaluate:
        lines += ["", "[evaluate]", *_entries(evaluate)]
    with whole_file(Path(path)) as file:
        file.write(("\n".join(lines) + "\n").encode())


def _entries(values: Mapping[str, Any]) -> list[str]:
    """Write keys and values; JSON's texts, numbers and lists are TOML's, too."""
    return [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
