"""ialspp demo: train on a year of real groceries, evaluate the model, show what it recommends."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..evaluation import Evaluation
from ..model.model import ImplicitMF
from ..split import Split
from ..system.progress import reporting
from . import groceries
from .data import data_facts
from .output import JsonOption, checked_target, remark, show_json, show_line, show_table

PRODUCTS = 8  # in a table
Names = dict[int, str]


def demo(
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Save the model to this file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Train on 1.47M real purchases, evaluate on unseen households, and show recommendations.

    Example: ialspp demo -o groceries.ialspp
    """
    if out is not None:
        checked_target(out)
    start = time.perf_counter()
    with reporting("reading"):
        parts = groceries.make_split()
    model = groceries.make_model().fit(parts.train)
    results = groceries.compare(model, parts)
    if out is not None:
        model.save(out)
        remark(f"The model is in {out}")
    if as_json:
        show_json(
            {
                "data": data_facts(parts),
                "settings": {"dim": model.dim, "objective": asdict(model.objective)},
                "history": [asdict(record) for record in model.history],
                "results": {name: result.as_dict()["metrics"] for name, result in results.items()},
                "file": out,
                "seconds": time.perf_counter() - start,
            }
        )
        return
    show_demo(model, parts, results)
    show_line(f"{time.perf_counter() - start:.1f} seconds in total")


def show_demo(model: ImplicitMF, parts: Split, results: dict[str, Evaluation]) -> None:
    """Print all tables."""
    show_line(f"{parts}\n")
    show_losses(model)
    show_quality(results)
    names = groceries.product_names()
    show_households(model, parts, names)
    show_reasons(model, names)


def show_losses(model: ImplicitMF) -> None:
    """Print the loss after each epoch."""
    columns = ["epoch", "loss", "observed", "unobserved", "regularization", "seconds"]
    rows = [
        [
            r.epoch,
            *(f"{part:,.0f}" for part in (r.loss, r.observed, r.unobserved, r.regularization)),
            r.seconds,
        ]
        for r in model.history
    ]
    show_table("Training", columns, rows)


def show_quality(results: dict[str, Evaluation]) -> None:
    """Print the metrics of the model beside those of the baselines."""
    metrics = list(results["ialspp"].scores)
    title = f"Predicting a fifth of the products of {results['ialspp'].users} unseen households"
    rows = [[label, *(result[metric] for metric in metrics)] for label, result in results.items()]
    show_table(title, ["", *metrics], rows, words=[""])


def show_households(model: ImplicitMF, parts: Split, names: Names, count: int = 3) -> None:
    """Print what some unseen households buy, and what the model recommends to them."""
    given = parts.test.given
    columns = ["buys most often", "might like, never bought"]
    for row in groceries.average_rows(given.by_user, count):
        products, baskets = groceries.baskets(given.by_user, row)
        bought = given.items.named(products)
        [ranking] = model.recommend_for([bought], PRODUCTS, weights=[baskets])
        rows = [
            [_name_of(old, names), _name_of(new, names)] for old, new in zip(bought, ranking, strict=False)
        ]
        show_table(f"Unseen household {given.users[row]}", columns, rows, words=columns)


def show_reasons(model: ImplicitMF, names: Names) -> None:
    """Explain the first recommendation of a household, and list products similar to it."""
    assert model.trained_on is not None
    [row] = groceries.average_rows(model.trained_on.by_user, 1)
    household = model.users[row]
    [product] = model.recommend(household, 1)
    reasons = model.explain(household, product)
    columns = ["because of", "adds to the score"]
    rows = [[_name_of(past, names), f"{part:.4f}"] for past, part in reasons[:PRODUCTS]]
    others = reasons[PRODUCTS:]
    rows.append([f"{len(others)} other products", f"{sum(part for _, part in others):.4f}"])
    rows.append(["remainder: training stopped before convergence", f"{reasons.rest:.4f}"])
    title = f"Why household {household} gets {_name_of(product, names)}, score {reasons.score:.4f}"
    show_table(title, columns, rows, words=columns[:1])
    similar = model.similar_items(product, PRODUCTS)
    rows = [[_name_of(p, names), f"{s:.4f}"] for p, s in zip(similar, similar.scores, strict=True)]
    show_table(f"Similar to {_name_of(product, names)}", ["product", "cosine"], rows, words=["product"])


def _name_of(product: int, names: Names) -> str:
    return names.get(product, f"product {product}")
