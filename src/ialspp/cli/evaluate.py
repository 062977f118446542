"""ialspp evaluate: split data, train, and measure the quality of the ranking."""

from __future__ import annotations

import time
from functools import partial
from typing import Annotated, Any, Literal

import typer

from ..baselines import MostPopular, Random
from ..errors import InvalidValueError
from ..evaluation import Evaluation, checked_question
from ..evaluation import evaluate as measured
from ..model.model import ImplicitMF
from ..model.side_features import SideFeatures
from ..split import Split
from .cluster import ClusterOptions, sharing_workers
from .data import data_facts, least_and_most_ranked, users_in
from .features import FeatureOptions, feature_facts
from .model import ModelOptions
from .options import given
from .ours import require_data
from .output import JsonOption, show_json, show_line, show_table
from .protocols import Splitting
from .runs import RunsOption, checked_runs, record_run
from .source import Source
from .stopping import Stopping, as_sentence, found_by
from .weighting import WeightingOptions


def evaluate(
    source: Source,
    weights: WeightingOptions,
    splitting: Splitting,
    features: FeatureOptions,
    settings: ModelOptions,
    stopping: Stopping,
    place: ClusterOptions,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC", help='Such as "ndcg@100"; repeatable. Default: those of the protocol.'
        ),
    ] = None,
    validation: Annotated[
        bool, typer.Option("--validation", help="Evaluate on the validation users instead of the test users.")
    ] = False,
    runs: RunsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train on part of the data, test on the rest, and compare with popularity and random baselines.

    --early-stop finds the best number of epochs on the validation users, which --protocol strong has.

    Features are those of the training part's users and items, and of held-out users. Items that only a file
    of features has are left out, as they have no test pairs.

    --ray ranks on a cluster. The training runs here, because it is on a part of the data in memory.

    Example: ialspp evaluate ratings.csv --user userId --item movieId --protocol strong --dim 128
    """
    model = settings.make()
    weights.make()
    stopping.check(settings.epochs)
    features.check()
    cluster = place.make(settings.threads)
    checked_runs(runs)
    require_data(source.source, "evaluate")
    parts = weights.on_split(splitting.split(source))
    source.remark_on_weights(parts.train)
    on: Literal["test", "validation"] = "validation" if validation else "test"
    described = features.read()
    checked_question(parts, metric, on)
    start = time.perf_counter()
    found = _trained(model, parts, described, stopping)
    fit = time.perf_counter() - start
    asked = partial(measured, metrics=metric, on=on, threads=settings.threads, cluster=cluster)
    with sharing_workers(cluster):
        results = {
            "model": asked(model, parts, user_features=described.users),
            "most popular": asked(MostPopular(), parts),
            "random": asked(Random(), parts),
        }
    seconds = {"fit": fit, "evaluate": time.perf_counter() - start - fit}
    answer: dict[str, Any] = {
        "source": {**given(source), **given(weights)},
        "data": data_facts(parts),
        "split": {**given(splitting), "protocol": parts.protocol, "on": on},
        "features": feature_facts(model, parts.train.n_users, parts.train.n_items),
        "settings": settings.settings(model),
        **({} if found is None else {"early_stopping": found}),
        "users": results["model"].users,
        "results": {name: result.as_dict()["metrics"] for name, result in results.items()},
        "seconds": seconds,
    }
    if as_json:
        show_json(answer)
    else:
        show_evaluation(source, parts, results, seconds)
        for side, facts in answer["features"].items():
            show_line(f"With {facts['features']:,} features of {side}.")
        if found is not None:
            show_line(f"Stopped early: {as_sentence(found, settings.epochs)}.")
    record_run(runs, "evaluate", answer)


def _trained(
    model: ImplicitMF, parts: Split, features: SideFeatures, stopping: Stopping
) -> dict[str, Any] | None:
    """Train. With --early-stop, train for the best number of epochs, and say how it was found."""
    users, items = features.known_to(parts.train)
    if stopping.early_stop is None:
        model.fit(parts.train, user_features=users, item_features=items)
        return None
    if parts.validation is None:
        raise InvalidValueError(
            f"--early-stop needs validation users, which --protocol strong has, got {parts.protocol}"
        )
    callback = stopping.on(parts.validation, features.users)
    model.fit(parts.train, user_features=users, item_features=items, callbacks=[callback])
    return found_by(callback)


def show_evaluation(
    source: Source, parts: Split, results: dict[str, Evaluation], seconds: dict[str, float]
) -> None:
    """Print the metrics of all systems as a table, and the times."""
    metrics = list(results["model"].scores)
    title = f"{source.source}, {parts.protocol}, {results['model'].users:,} users"
    rows = [[name, *(result[metric] for metric in metrics)] for name, result in results.items()]
    show_table(title, ["", *metrics], rows, words=[""])
    show_line(f"Held out: {_held_out(parts)}.")
    if source.weighting is not None:
        show_line(f"Weighted by {source.weighting}.")
    show_line(
        f"Trained on {parts.train!r} in {seconds['fit']:.1f} s, evaluated in {seconds['evaluate']:.1f} s; "
        "means and standard errors over users."
    )


def _held_out(parts: Split) -> str:
    users = f"{users_in(parts.test):,} users"
    if not parts.test.unseen:
        held_out = f"{len(parts.test.wanted):,} pairs of {users}"
        if parts.test.candidates is None:
            return held_out
        ranked = least_and_most_ranked(parts.test.candidates)
        least, most = ranked["least"], ranked["most"]
        among = f"{most:,}" if least == most else f"{least:,} to {most:,}"
        return f"{held_out}, each ranked among {among} items"
    validation = "" if parts.validation is None else f", {users_in(parts.validation):,} for validation"
    return f"{users} for the test{validation}"
