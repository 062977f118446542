"""ialspp info: describe a model file, a checkpoint, prepared data, or a folder of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..data.prepared import PreparedFile, is_prepared
from ..model.checkpoint import Checkpoint, is_checkpoint
from ..system.progress import reporting
from .folder import show_folder
from .output import JsonOption, show_facts, show_json, show_table, shown, shown_loss, size


def info(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A model, a checkpoint, prepared data, or a folder.")
    ],
    verify: Annotated[
        bool, typer.Option("--verify", help="Read the whole file and check every checksum.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Describe a model file: settings, data, losses, arrays. Vectors and interactions are not read.

    Of a checkpoint: how far its fit has come, and its settings. Of prepared data: its statistics. Of a
    folder: its models, checkpoints and data, and files that killed processes left unfinished.

    Example: ialspp info films.ialspp --verify
    """
    from .. import store

    if model.is_dir():
        show_folder(model, as_json=as_json)
        return
    if is_checkpoint(model):
        found = Checkpoint.open(model)[0] if verify else Checkpoint.read(model)
        show_checkpoint(found, verified=verify, as_json=as_json)
        return
    facts: dict[str, Any] = {"file": str(model)}
    if is_prepared(model):
        data = PreparedFile.open(model)
        facts |= data.facts()
        check = data.verify
    else:
        facts |= store.info(model)
        check = partial(store.verify, model)
    if verify:
        with reporting("verifying"):
            check()
        facts["verified"] = True
    if as_json:
        show_json(facts)
    else:
        show_info(facts)


def show_checkpoint(found: Checkpoint, *, verified: bool, as_json: bool) -> None:
    """Print how far a fit has come, and its settings."""
    facts: dict[str, Any] = {
        "file": str(found.path),
        **found.info(),
        **({"verified": True} if verified else {}),
    }
    if as_json:
        show_json(facts)
        return
    data = ", ".join(f"{facts['data'][name]:,} {name}" for name in ("users", "items", "pairs"))
    training = _of_training({**facts, "dim": facts["settings"]["dim"], "fitted_solver": None})
    kept = {"checkpoint": found.progress, **_of_file(facts), "data": data, **training}
    show_facts(facts["file"], kept)


def show_info(facts: dict[str, Any]) -> None:
    """Print two tables: the model or the data, and the arrays in its file."""
    training = _of_training(facts) if "settings" in facts else {}
    show_facts(facts["file"], {**_of_file(facts), **_of_data(facts), **training})
    rows = [
        [name, array["dtype"], " x ".join(map(shown, array["shape"])), size(array["bytes"])]
        for name, array in facts["arrays"].items()
    ]
    show_table("Arrays", ["name", "dtype", "shape", "size"], rows, words=["name", "dtype"])


def _of_file(facts: dict[str, Any]) -> dict[str, Any]:
    found = {
        "size": size(facts["bytes"]),
        "format": f"{facts['format_version']}, written by {facts['written_by']}",
    }
    if "has_interactions" in facts:
        found["has interactions"] = facts["has_interactions"]
    return {**found, "verified": True} if facts.get("verified") else found


def _of_data(facts: dict[str, Any]) -> dict[str, Any]:
    """List the statistics of the data, but count users and items by the vectors."""
    ids = {f"ids of {name}s": kind for name, kind in facts["ids"].items()}
    ids |= {f"names of {name}s": there for name, there in facts["names"].items()}
    return {**(facts["statistics"] or {}), "users": facts["users"], "items": facts["items"], **ids}


def _of_training(facts: dict[str, Any]) -> dict[str, Any]:
    settings, history = dict(facts["settings"]), facts["history"]
    solver = facts["fitted_solver"] or settings["solver"]
    found = {"dim": facts["dim"], "solver": _as_call(solver), **settings.pop("objective")}
    found |= {name: str(value) for name, value in settings.items() if name not in found}
    if history:
        found["loss, first epoch"] = shown_loss(history[0]["loss"])
        found["loss, last epoch"] = f"{shown_loss(history[-1]['loss'])}, epoch {history[-1]['epoch']}"
        found["seconds of training"] = sum(epoch["seconds"] for epoch in history)
    return found


def _as_call(solver: dict[str, Any]) -> str:
    options = ", ".join(f"{name}={value!r}" for name, value in solver.items() if name != "name")
    return f"{solver['name']}({options})"
