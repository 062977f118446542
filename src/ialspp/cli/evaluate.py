"""ialspp evaluate: split, train, and say how good it is."""

from __future__ import annotations

import json
import time
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..baselines import MostPopular, Random
from ..evaluation import Evaluation, Recommender
from ..evaluation import evaluate as measured
from ..split import Split
from .data import JsonOption, described
from .model import ModelOptions
from .options import given
from .protocols import Splitting
from .source import Source


def evaluate(
    source: Source,
    splitting: Splitting,
    settings: ModelOptions,
    metric: Annotated[
        list[str] | None, typer.Option(help='Such as "ndcg@100"; again for more. Default: the protocol\'s.')
    ] = None,
    validation: Annotated[bool, typer.Option(help="Ask the validation users, not the test ones.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Split data, train on one part, and ask for the other; the most popular items and random ones beside it.

    Example: ialspp evaluate ratings.csv --user userId --item movieId --protocol strong --dim 128
    """
    model = settings.make()
    parts = splitting.split(source)
    on: Literal["test", "validation"] = "validation" if validation else "test"
    start = time.perf_counter()
    systems: dict[str, Recommender] = {"model": model, "most popular": MostPopular(), "random": Random()}
    results = {
        name: measured(system, parts, metrics=metric, on=on, threads=settings.threads)
        for name, system in systems.items()
    }
    fit = sum(record.seconds for record in model.history)
    seconds = {"fit": fit, "evaluate": time.perf_counter() - start - fit}
    if not as_json:
        show(source, parts, results, seconds)
        return
    answer = {
        "source": given(source),
        "data": described(parts),
        "split": {**given(splitting), "protocol": parts.protocol, "on": on},
        "settings": {**given(settings), "solver": str(model.fitted_solver)},
        "users": results["model"].users,
        "results": {name: result.as_dict()["metrics"] for name, result in results.items()},
        "seconds": seconds,
    }
    print(json.dumps(answer, default=str))  # a path becomes its name


def show(source: Source, parts: Split, results: dict[str, Evaluation], seconds: dict[str, float]) -> None:
    """A table."""
    metrics = list(results["model"].scores)
    title = f"{source.source}, {parts.protocol}, {results['model'].users:,} users"
    table = Table("", title=Text(title))
    for metric in metrics:
        table.add_column(metric, justify="right")
    for name, result in results.items():
        table.add_row(name, *(str(result[metric]) for metric in metrics))
    console = Console()
    console.print(table)
    console.print(
        f"Trained on {parts.train!r} in {seconds['fit']:.1f} s, evaluated in {seconds['evaluate']:.1f} s; "
        "means and standard errors over users.",
        highlight=False,
        soft_wrap=True,
    )
