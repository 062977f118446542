"""ialspp update: add new interactions to a model without training it again."""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import WeightWarning
from ..files.version import FileChangedError
from ..model.model import ImplicitMF
from ..model.updating import Update
from ..system.checks import checked_integer
from .failures import telling_of
from .features import FeatureFiles
from .names import NameOptions, named_facts, remark_on_few, shown_names
from .options import given
from .ours import MODEL, ForceOption, require_data
from .output import JsonOption, checked_target, remark, show_facts, show_json, size
from .queries import ModelArgument, ThreadsOption, opened, require_histories
from .runs import RunsOption, checked_runs, record_run
from .source import Source


def update(
    model: ModelArgument,
    source: Source,
    names: NameOptions,
    features: FeatureFiles,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="The file of the new model. Default: replace MODEL.")
    ] = None,
    epochs: Annotated[
        int, typer.Option(help="How often the users and items of the new data are solved.")
    ] = 1,
    threads: ThreadsOption = None,
    force: ForceOption = False,
    runs: RunsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add new interactions to a model: their users and items are solved again, all others stay as they are.

    Features of new items or users are for a model that was trained with some. Their weights stay as they are.

    If another process replaces the file meanwhile, the update is repeated on the new one.

    Example: ialspp update films.ialspp today.csv --user userId --item movieId
    """
    checked_integer("epochs", epochs, 1)
    names.check()
    features.check()
    require_data(source.source, "update")
    target = model if out is None else out
    source.refuse_target(target)
    checked_target(target, kind=None if out is None else MODEL, force=force)
    checked_runs(runs)
    loaded = _opened(model, threads)
    start = time.perf_counter()
    data, tables, (users, items) = source.interactions("update"), names.tables(), features.read()
    read = time.perf_counter()
    while True:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", WeightWarning)
            done = loaded.update(data, user_features=users, item_features=items, epochs=epochs)
        names.set_for(loaded, tables)
        updated = time.perf_counter()
        try:
            loaded.save(target, progress=None, force=force)
            break
        except FileChangedError:
            remark(f"another process has replaced {target}; the update is repeated on the new file")
            loaded = _opened(model, threads)
    counts = {name: value for name, value in asdict(done).items() if name != "seconds"}
    answer: dict[str, Any] = {
        "model": str(model),
        "source": given(source),
        "settings": {"epochs": epochs},
        "data": {"users": len(loaded.users), "items": len(loaded.items)},
        "update": counts,
        "names": named_facts(loaded.users, loaded.items),
        "seconds": {"read": read - start, "update": updated - read, "save": time.perf_counter() - updated},
        "file": str(target),
        "bytes": target.stat().st_size,
    }
    with telling_of(target):
        for warning in caught:
            remark(f"Warning: {warning.message}")
        if as_json:
            show_json(answer)
        else:
            show_update(source, done, answer)
            remark_on_few(answer["names"], names)
        record_run(runs, "update", answer)


def _opened(model: Path, threads: int | None) -> ImplicitMF:
    loaded = opened(model, threads)
    require_histories(loaded, model, "an update needs the interactions that the model was trained on")
    return loaded


def show_update(source: Source, done: Update, answer: dict[str, Any]) -> None:
    """Print what was updated as a table."""
    facts = {
        "users updated": f"{done.users:,}, of them new {done.new_users:,}",
        "items updated": f"{done.items:,}, of them new {done.new_items:,}",
        "pairs": f"{done.pairs:,}, of them new {done.new_pairs:,}",
        **shown_names(answer["names"]),
        "seconds": answer["seconds"],
        "file": f"{answer['file']}, {size(answer['bytes'])}",
    }
    show_facts(source.source, facts)
