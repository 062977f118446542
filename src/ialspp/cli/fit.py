"""ialspp fit: train on interactions, and save the model."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ..model.checkpoint import Checkpoint
from ..model.model import ImplicitMF
from ..system.checks import checked_share
from .checkpoints import (
    CheckpointOption,
    EveryOption,
    ResumeOption,
    checked_checkpoint,
    kept_options,
    remove,
    telling_how_to_resume,
)
from .cluster import TrainingCluster, shown_cluster, shown_nodes
from .failures import telling_of
from .features import FeatureOptions, feature_facts, shown_features
from .model import ModelOptions
from .names import NameOptions, named_facts, remark_on_few, shown_names
from .options import given
from .ours import MODEL, ForceOption, require_data
from .output import JsonOption, checked_target, show_facts, show_json, shown_loss, size
from .runs import RunsOption, checked_runs, record_run
from .source import MinItemOption, MinUserOption, Source
from .stopping import Stopping, as_sentence
from .training import Training
from .weighting import WeightingOptions


def fit(
    context: typer.Context,
    source: Source,
    weights: WeightingOptions,
    names: NameOptions,
    features: FeatureOptions,
    settings: ModelOptions,
    stopping: Stopping,
    place: TrainingCluster,
    out: Annotated[Path, typer.Option("-o", "--out", help="The file of the model, such as films.ialspp.")],
    min_user: MinUserOption = 0,
    min_item: MinItemOption = 0,
    until: Annotated[
        float | None,
        typer.Option(
            help="Stop once the loss falls by less than this share in an epoch, such as 0.001.",
            rich_help_panel=Stopping.panel,
        ),
    ] = None,
    checkpoint: CheckpointOption = None,
    every: EveryOption = None,
    resume: ResumeOption = None,
    no_interactions: Annotated[
        bool,
        typer.Option(
            "--no-interactions", help="Save the vectors only: a smaller file that cannot explain or update."
        ),
    ] = False,
    force: ForceOption = False,
    runs: RunsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a model on all interactions, and save it to a file.

    --early-stop holds out a tenth of the pairs, drawn at random, to find the best number of epochs. Then the
    model is trained on all pairs for that many.

    After a kill, a fit with --checkpoint goes on where it was: `ialspp fit --resume PATH` needs nothing else.

    Example: ialspp fit ratings.csv --user userId --item movieId --min-rating 4 --dim 128 -o films.ialspp
    """
    model = settings.make()
    weights.make()
    if until is not None:
        checked_share("until", until)
    stopping.check(settings.epochs)
    cluster = place.for_training(source, model.threads)
    names.check()
    features.check()
    options = kept_options(context)
    keeping = checked_checkpoint(checkpoint, every, model.solver, resume, out, options)
    require_data(source.source, "fit")
    source.refuse_target(out)
    checked_target(out, kind=MODEL, force=force)
    checked_runs(runs)
    with telling_how_to_resume(keeping, resume), ExitStack() as until_saved:
        start = time.perf_counter()
        kept = source.interactions("fit").core(min_user, min_item)
        source.require_some(kept, min_user, min_item)
        made = names.attached(weights.on(kept))
        data = until_saved.enter_context(place.readable(made, source))
        source.remark_on_weights(data)
        described = features.read()
        read = time.perf_counter()
        begun = None if resume is None else Checkpoint.read(resume)
        training = Training(model, data, until, keeping, every, options, begun, described, cluster)
        model, found = training.run(stopping)
        trained = time.perf_counter()
        model.save(out, interactions=not no_interactions, progress=None, force=force)
    if keeping is not None:
        remove(keeping)
    answer: dict[str, Any] = {
        "source": {**given(source), **given(weights)},
        "data": {**data.statistics(), "min_user": min_user, "min_item": min_item},
        "names": named_facts(data.users, data.items),
        "features": feature_facts(model, data.n_users, data.n_items),
        "settings": {**settings.settings(model), **({} if until is None else {"until": until})},
        **({} if found is None else {"early_stopping": found}),
        **({} if cluster is None else {"cluster": cluster.facts()}),
        "history": [asdict(record) for record in model.history],
        "seconds": {"read": read - start, "fit": trained - read, "save": time.perf_counter() - trained},
        "file": str(out),
        "bytes": out.stat().st_size,
        "interactions": not no_interactions,
    }
    with telling_of(out):
        if as_json:
            show_json(answer)
        else:
            show_fit(source, model, answer, settings.epochs)
            remark_on_few(answer["names"], names)
        record_run(runs, "fit", answer)


def show_fit(source: Source, model: ImplicitMF, answer: dict[str, Any], epochs: int) -> None:
    """Print settings, losses and times as a table."""
    objective, history, data = model.objective, model.history, answer["data"]
    facts = {
        "data": f"{data['users']:,} users, {data['items']:,} items, {data['pairs']:,} pairs",
        **shown_names(answer["names"]),
        **shown_features(answer["features"]),
        "dim": model.dim,
        "solver": answer["settings"]["solver"],
        "unobserved weight": objective.unobserved_weight,
        "regularization": objective.regularization,
        "exponent": objective.exponent,
        "seed": str(model.seed),
        "epochs": len(history),
    }
    if "early_stopping" in answer:
        facts["early stop"] = f"{as_sentence(answer['early_stopping'], epochs)}; then trained on all pairs"
    if "cluster" in answer:
        facts["cluster"] = shown_cluster(answer["cluster"])
        facts |= shown_nodes(answer["cluster"]["nodes"])
    if history:
        facts["loss, first epoch"] = shown_loss(history[0].loss)
        facts["loss, last epoch"] = shown_loss(history[-1].loss)
    facts["seconds"] = {name: round(seconds, 2) for name, seconds in answer["seconds"].items()}
    facts["file"] = f"{answer['file']}, {size(answer['bytes'])}"
    show_facts(source.source, facts)
