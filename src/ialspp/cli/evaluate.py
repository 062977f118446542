"""ialspp evaluate: split, train, and say how good it is."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..baselines import MostPopular, Random
from ..evaluation import Evaluation, Recommender
from ..evaluation import evaluate as measured
from ..model import ImplicitMF
from ..objective import Objective
from ..solvers import IALS, ICD, IALSpp, SpectralCG
from ..split import Split
from .data import JsonOption, described
from .protocols import PROTOCOLS, split_of
from .source import Source

SOLVERS = {"spectral": SpectralCG, "ials++": IALSpp, "ials": IALS, "icd": ICD}
DEFAULT = Objective()


def evaluate(
    source: Source,
    protocol: Annotated[
        str | None, typer.Option(help=f"{', '.join(PROTOCOLS)}. Published splits bring their own.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help='Such as "ndcg@100"; again for more. Default: the protocol\'s.')
    ] = None,
    validation: Annotated[bool, typer.Option(help="Ask the validation users, not the test ones.")] = False,
    held_out: Annotated[int | None, typer.Option(help="strong: test users, and validation users.")] = None,
    test_share: Annotated[float | None, typer.Option(help="strong, random: what is asked for.")] = None,
    days: Annotated[float | None, typer.Option(help="last-days: how many.")] = None,
    negatives: Annotated[int | None, typer.Option(help="leave-one-out: items to rank with.")] = None,
    min_user: Annotated[int | None, typer.Option(help="Leave out users with fewer items.")] = None,
    min_item: Annotated[int | None, typer.Option(help="Leave out items with fewer users.")] = None,
    split_seed: Annotated[int | None, typer.Option(help="Of the split. Default: the published one.")] = None,
    dim: Annotated[int, typer.Option(help="d, the length of the vectors.")] = 64,
    solver: Annotated[str, typer.Option(help=f"{', '.join(SOLVERS)}.")] = "spectral",
    unobserved_weight: Annotated[float, typer.Option(help="alpha0.")] = DEFAULT.unobserved_weight,
    regularization: Annotated[float, typer.Option(help="lambda.")] = DEFAULT.regularization,
    exponent: Annotated[float, typer.Option(help="nu.")] = DEFAULT.exponent,
    epochs: Annotated[int, typer.Option(help="Passes over the data.")] = 16,
    seed: Annotated[int, typer.Option(help="Of the initial factors.")] = 0,
    threads: Annotated[int | None, typer.Option(help="Default: all CPUs this process may use.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Split data, train on one part, and ask for the other; the most popular items and random ones beside it.

    Example: ialspp evaluate ratings.csv --user userId --item movieId --protocol strong --dim 128
    """
    if solver not in SOLVERS:
        raise ValueError(f"--solver must be one of {', '.join(SOLVERS)}, got {solver!r}")
    objective = Objective(
        unobserved_weight=unobserved_weight, regularization=regularization, exponent=exponent
    )
    model = ImplicitMF(
        dim, solver=SOLVERS[solver](), objective=objective, epochs=epochs, seed=seed, threads=threads
    )
    said = {
        "held_out": held_out,
        "test_share": test_share,
        "days": days,
        "negatives": negatives,
        "min_user": min_user,
        "min_item": min_item,
        "seed": split_seed,
    }
    options = {name: value for name, value in said.items() if value is not None}
    parts = split_of(source, protocol, dict(options))
    on: Literal["test", "validation"] = "validation" if validation else "test"
    start = time.perf_counter()
    systems: dict[str, Recommender] = {"model": model, "most popular": MostPopular(), "random": Random()}
    results = {
        name: measured(system, parts, metrics=metric, on=on, threads=threads)
        for name, system in systems.items()
    }
    fit = sum(record.seconds for record in model.history)
    seconds = {"fit": fit, "evaluate": time.perf_counter() - start - fit}
    if as_json:
        settings = {"dim": dim, "solver": str(model.fitted_solver), "epochs": epochs, "seed": seed}
        asked = {"protocol": parts.protocol, "on": on, **options}
        print_json(source, parts, asked, {**settings, **asdict(objective)}, results, seconds)
    else:
        show(source, parts, results, seconds)


def print_json(
    source: Source,
    parts: Split,
    asked: dict[str, Any],
    settings: dict[str, Any],
    results: dict[str, Evaluation],
    seconds: dict[str, float],
) -> None:
    """Everything that was asked and answered."""
    answers = {name: result.as_dict()["metrics"] for name, result in results.items()}
    print(
        json.dumps(
            {
                "source": source.said(),
                "data": described(parts),
                "split": asked,
                "settings": settings,
                "users": results["model"].users,
                "results": answers,
                "seconds": seconds,
            }
        )
    )


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
